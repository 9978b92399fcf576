/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the key of a frame and verifies only the fields of the key. The group's stages verify the
 * others and count their drops. */
#pragma once

#include <rte_mbuf.h>

#include "pipeline/counters.h"
#include "sharing/keys.h"

/* `frame` has at least an Ethernet header, and no tag unless the table is untagged. Each returns
 * DROP_NONE and sets the key, or returns the drop reason. */
enum drop_reason share_read_network(const uint8_t *frame, size_t length, uint8_t vlan,
				    struct share_key *key);
enum drop_reason share_read_rphy(const uint8_t *frame, size_t length, uint8_t vlan, bool by_mac,
				 struct share_key *key);

/*
 * Sets the index of the packet's VLAN in the table and removes the tag; `vlan_tci` keeps its ID.
 * The first buffer must hold an Ethernet header. Returns DROP_NONE, or the drop reason if the
 * table does not have the VLAN.
 */
enum drop_reason share_strip_vlan(const struct share_table *t, struct rte_mbuf *m, uint8_t *vlan);
