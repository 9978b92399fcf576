/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checksums that a sender on this machine has left to hardware. A packet of the kernel that goes over a veth, a bridge or a tap never
 * passes such hardware: its TCP or UDP checksum is the sum of the pseudo-header alone. net_af_packet, net_af_xdp and net_pcap do not
 * report that. A callback of such ports recognises the packets by that sum and completes them. Other ports have no callback, and no
 * cost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

/*
 * Completes the checksum of an Ethernet frame whose TCP or UDP checksum is the sum of its pseudo-header, and wrong. Fragments and all
 * other packets stay as they are. Returns whether it did.
 */
bool checksum_complete(struct rte_mbuf *m);

/* Has the port complete the checksums of what it receives, where the driver of `device`, the text for EAL, is one of those above. It is set up. `role` is for messages. */
void checksums_watch(uint16_t id, const char *device, const char *role);

/* Writes a warning for each port that has completed a checksum, or received a packet that is cut off, once. By the control thread, now and then. */
void checksums_report(void);

/* Ends that: the port is stopped. */
void checksums_unwatch(uint16_t id);
