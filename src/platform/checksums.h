/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completes checksums that a sender on this machine left to hardware. A packet of the kernel that crosses a
 * veth, bridge or tap never passes such hardware: its TCP or UDP checksum is the sum of the pseudo-header
 * alone. net_af_packet, net_af_xdp and net_pcap do not report that. A receive callback on their ports
 * recognises such packets and completes them. Other ports have no callback, and no cost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

/* Completes a TCP or UDP checksum that is only the sum of the pseudo-header. Fragments and all
 * other packets stay unchanged. Returns whether it changed the frame. */
bool checksum_complete(struct rte_mbuf *m);

/* Adds the callback to a configured port, if `device`, the text for EAL, has one of the drivers above. `role`
 * is for messages. */
void checksums_watch(uint16_t id, const char *device, const char *role);

/* Logs a warning, once per port, if the port completed a checksum or received a truncated packet. The control
 * thread calls it from time to time. */
void checksums_report(void);

/* Removes the callback; the port is stopped. */
void checksums_unwatch(uint16_t id);
