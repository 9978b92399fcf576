/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unix sockets that drivers bind (net_memif, net_vhost, net_virtio_user). The drivers refuse a name that exists, also one that a
 * crashed process left: the names are claimed before the driver sees the device.
 */
#pragma once

/*
 * Claims the socket that the driver of `device`, the text for EAL, binds. Several devices of this process may have one socket, as
 * memifs with different ids. Harmless where the driver binds none. Returns 0, or -1 after a message.
 */
int device_socket_claim(const char *device);

/* Releases what was claimed for the device: its driver has closed the socket. Harmless where that was nothing. */
void device_socket_release(const char *device);

/* The same for all devices. */
void device_sockets_release(void);
