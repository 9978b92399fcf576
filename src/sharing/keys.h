/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table that finds the group of a packet of a shared port. The control thread builds it and may
 * replace it while workers read. In service only the port owner's worker writes it: the keys of
 * changes on the network side (change.c), and removals without memory for a new table (group_removal.c).
 *
 * Each VLAN has its own keys. If a VLAN has a single group, all of its packets are the group's.
 * Else the key is
 *
 *   from the R-PHY side  the L2TPv3 session, with our MAC address if sessions repeat;
 *   from the network     the destination MAC address, if it is that of a group, or the subscriber's
 *                        address: destination IP address, ARP target, or a modem's MAC address.
 *
 * Frames without a tag belong to VLAN 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_hash.h>

#include "model/live/live_group.h"
#include "model/server_config.h"
#include "wire/vlan.h"

#define SHARE_MAX_GROUPS SERVER_MAX_GROUPS
#define SHARE_NO_GROUP UINT8_MAX
#define SHARE_SEVERAL_GROUPS \
	SHARE_MAX_GROUPS /* several groups have the key, all with MAC addresses of their own */
_Static_assert(SHARE_MAX_GROUPS <= 64, "a bit each");
#define SHARE_NO_VLAN UINT8_MAX

enum share_side { SHARE_NETWORK, SHARE_RPHY };

/* Kind of a key's value. */
enum share_kind {
	SHARE_GROUP_MAC = 1, /* 6 bytes, of a group's network port */
	SHARE_IPV4, /* 4 bytes */
	SHARE_IPV6, /* 16 bytes */
	SHARE_MODEM_MAC, /* 6 bytes */
	SHARE_SESSION, /* 4 bytes in host order, then 6 of our MAC address if sessions repeat */
};

/* A key of the hash. Unused bytes are 0. The hash has a fast comparison for this size. */
struct share_key {
	uint8_t value[16];
	uint8_t vlan; /* index in share_table.vlans */
	uint8_t kind;
	uint8_t zero[14];
} __rte_aligned(16);

struct share_vlan {
	uint8_t group; /* the only one, or SHARE_NO_GROUP if a hash lookup is needed */
	bool by_mac; /* network: groups have MAC addresses; R-PHY: sessions repeat */
};

struct share_table {
	bool tagged; /* a group has a VLAN; else tags are ignored */
	uint8_t vlan_of[VLAN_ID + 1]; /* index in `vlans`, or SHARE_NO_VLAN */
	struct share_vlan vlans[SHARE_MAX_GROUPS];
	uint64_t with_mac; /* bit per group whose network port has a MAC address; else 0 */
	struct rte_hash *groups; /* share_key -> bit per group that has it; NULL: no keys */
	uint32_t entries; /* capacity of `groups`; inserts up to it cannot fail */
};

/*
 * The group to which a key belongs. `groups` has a bit per group with the key, at least one. The
 * group without a MAC address of its own precedes others; there is at most one. Else the result is
 * the only group, or SHARE_SEVERAL_GROUPS.
 */
static inline uint64_t share_owner(const struct share_table *t, uint64_t groups) {
	uint64_t plain = groups & ~t->with_mac;

	if (plain != 0)
		return (uint64_t)__builtin_ctzll(plain);
	return (groups & (groups - 1)) == 0 ? (uint64_t)__builtin_ctzll(groups)
					    : SHARE_SEVERAL_GROUPS;
}

/* VLAN of the group on this side; 0: none. */
static inline uint16_t share_vlan_of(const struct service_group *sg, enum share_side side) {
	return side == SHARE_RPHY ? sg->rphy_port.vlan : sg->network.vlan;
}

static inline void share_key_set(struct share_key *key, enum share_kind kind, uint8_t vlan,
				 const uint8_t *value, size_t size) {
	*key = (struct share_key){.vlan = vlan, .kind = (uint8_t)kind};
	memcpy(key->value, value, size);
}

/* The key of a session. `mac` is NULL unless sessions repeat. */
static inline void share_key_set_session(struct share_key *key, uint8_t vlan, uint32_t session,
					 const uint8_t *mac) {
	share_key_set(key, SHARE_SESSION, vlan, (const uint8_t *)&session, sizeof(session));
	if (mac != NULL)
		memcpy(key->value + sizeof(session), mac, 6);
}
