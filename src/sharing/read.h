/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a frame tells of its group: the key to be looked up. No more of it is verified than is read for
 * that; the rest is the group's, which has names for all that may be wrong.
 */
#pragma once

#include <rte_mbuf.h>

#include "pipeline/counters.h"
#include "sharing/keys.h"

/* `frame` has at least an Ethernet header and no tag, but where `tagged` is not set in the table. Each returns
 * DROP_NONE with the key set, or why the frame has none. */
enum drop_reason share_read_network(const uint8_t *frame, size_t length, uint8_t vlan,
				    struct share_key *key);
enum drop_reason share_read_rphy(const uint8_t *frame, size_t length, uint8_t vlan, bool by_mac,
				 struct share_key *key);

/* The number of the packet's VLAN in the table, whose tag is taken off; what it was then stands in `vlan_tci`. The first
 * buffer holds at least an Ethernet header. Returns DROP_NONE, or why it has none of the table's. */
enum drop_reason share_take_vlan(const struct share_table *t, struct rte_mbuf *m, uint8_t *vlan);
