/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which group a packet of a shared port is for: read-only once it is made, so that another one can take
 * its place while a worker reads.
 *
 * A VLAN is a room of its own: what is told apart in it need not differ from what is in another. Where a
 * single group has it, the VLAN tells the group. Else
 *
 *   from the R-PHY side   the L2TPv3 session does, and where sessions repeat, our MAC address with it;
 *   from the network      the destination MAC address of a group that has one does; else the address of
 *                         the subscriber: destination IP address, ARP target, or a modem's MAC address.
 *
 * Frames without a tag are in the room of VLAN 0.
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
#define SHARE_NOBODY UINT8_MAX
#define SHARE_SEVERAL \
	SHARE_MAX_GROUPS /* groups that have a MAC address each have this one address */
_Static_assert(SHARE_MAX_GROUPS <= 64, "a bit each");
#define SHARE_NO_VLAN UINT8_MAX

enum share_side { SHARE_NETWORK, SHARE_RPHY };

/* What a key holds. */
enum share_kind {
	SHARE_GROUP_MAC = 1, /* 6 bytes: of a group's network port */
	SHARE_IPV4, /* 4 bytes */
	SHARE_IPV6, /* 16 bytes */
	SHARE_MODEM_MAC, /* 6 bytes */
	SHARE_SESSION, /* 4 bytes in host order, 6 of our MAC address where sessions repeat */
};

/* What is looked up, all of it set; of a size that the hash compares fast. */
struct share_key {
	uint8_t value[16];
	uint8_t vlan; /* number in share_table.vlans */
	uint8_t kind;
	uint8_t zero[14];
} __rte_aligned(16);

struct share_vlan {
	uint8_t group; /* the only one, or SHARE_NOBODY where the hash is asked */
	bool by_mac; /* network: groups in it have a MAC address; R-PHY: sessions repeat */
};

struct share_table {
	bool tagged; /* groups have VLANs; else tags are nothing to us */
	uint8_t vlan_of[VLAN_ID + 1]; /* number in `vlans`, or SHARE_NO_VLAN */
	struct share_vlan vlans[SHARE_MAX_GROUPS];
	uint64_t with_mac; /* a bit each: groups whose network port has a MAC address; else 0 */
	struct rte_hash
		*groups; /* share_key -> a bit for each group that has it; NULL: no key is known */
	uint32_t entries; /* up to this count inserts into the hash cannot fail */
};

/* Whom a key is for that these groups have: the one without a MAC address of its own, of which there is one at
 * most; else the only one, or SHARE_SEVERAL. */
static inline uint64_t share_owner(const struct share_table *t, uint64_t groups) {
	uint64_t plain = groups & ~t->with_mac;

	if (plain != 0)
		return (uint64_t)__builtin_ctzll(plain);
	return (groups & (groups - 1)) == 0 ? (uint64_t)__builtin_ctzll(groups) : SHARE_SEVERAL;
}

/* VLAN of the group on that side; 0: none. */
static inline uint16_t share_vlan_of(const struct service_group *sg, enum share_side side) {
	return side == SHARE_RPHY ? sg->rphy_port.vlan : sg->network.vlan;
}

static inline void share_key_set(struct share_key *key, enum share_kind kind, uint8_t vlan,
				 const uint8_t *value, size_t size) {
	*key = (struct share_key){.vlan = vlan, .kind = (uint8_t)kind};
	memcpy(key->value, value, size);
}

/* The key of a session; `mac` is NULL where it does not count. */
static inline void share_key_set_session(struct share_key *key, uint8_t vlan, uint32_t session,
					 const uint8_t *mac) {
	share_key_set(key, SHARE_SESSION, vlan, (const uint8_t *)&session, sizeof(session));
	if (mac != NULL)
		memcpy(key->value + sizeof(session), mac, 6);
}
