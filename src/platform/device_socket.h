/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unix sockets that drivers bind (net_memif, net_vhost, net_virtio_user). The drivers refuse existing names,
 * even those left by a crashed process. So names are claimed before the driver creates the device.
 */
#pragma once

/*
 * Claims the socket that the driver of `device`, the text for EAL, binds. Devices of this process may share a
 * socket, such as memifs with different ids. Does nothing if the driver binds none. Returns 0, or -1 after a
 * message.
 */
int device_socket_claim(const char *device);

/* Releases the device's claim after its driver closed the socket. Does nothing without a claim. */
void device_socket_release(const char *device);

/* Releases the claims of all devices. */
void device_sockets_release(void);
