/* SPDX-License-Identifier: BSD-3-Clause */
#include "sharing/entries.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "model/live/live_group.h"
#include "model/units.h"
#include "wire/ip.h"

enum added {
	ADDED,
	ADDED_RESTART, /* sessions repeat: start again, with MAC addresses */
	NOT_ADDED, /* `why` has the reason */
};

/* Context for adding groups to a table. */
struct filler {
	struct share_table *t;
	const char *port;
	enum share_side side;
	const struct service_group *const *groups;
	unsigned count;
	char *why; /* LIVE_LINE bytes */
};

static size_t group_entries(const struct service_group *sg, enum share_side side) {
	size_t entries = 1 + sg->modem_count;

	if (side == SHARE_RPHY)
		return 3 * sg->upstream_channel_count;
	for (size_t m = 0; m < sg->modem_count; m++)
		entries += sg->modems[m].address_count;
	return entries;
}

size_t share_entries_count(enum share_side side, const struct service_group *const *groups,
			   unsigned count) {
	size_t entries = 0;

	for (unsigned g = 0; g < count; g++)
		entries += groups[g] != NULL ? group_entries(groups[g], side) : 0;
	return entries;
}

static uint8_t number_of(const struct filler *f, unsigned group) {
	return f->t->vlan_of[share_vlan_of(f->groups[group], f->side) & VLAN_ID];
}

void share_key_text(const struct share_key *key, char text[SHARE_KEY_TEXT]) {
	char address[INET6_ADDRSTRLEN], mac[UNITS_TEXT_SIZE];
	uint32_t session;

	switch ((enum share_kind)key->kind) {
	case SHARE_SESSION:
		memcpy(&session, key->value, sizeof(session));
		snprintf(text, SHARE_KEY_TEXT, "session 0x%08" PRIx32, session);
		return;
	case SHARE_IPV4:
	case SHARE_IPV6:
		inet_ntop(key->kind == SHARE_IPV4 ? AF_INET : AF_INET6, key->value, address,
			  sizeof(address));
		snprintf(text, SHARE_KEY_TEXT, "address %s", address);
		return;
	case SHARE_GROUP_MAC:
	case SHARE_MODEM_MAC: break;
	}
	units_format_mac(key->value, mac);
	snprintf(text, SHARE_KEY_TEXT, "MAC address %s", mac);
}

static enum added refuse(const struct filler *f, const struct share_key *key, unsigned group,
			 uint64_t other) {
	const char *side = f->side == SHARE_RPHY ? "rphy.core_mac" : "network.mac";
	char text[SHARE_KEY_TEXT];

	share_key_text(key, text);
	snprintf(f->why, LIVE_LINE,
		 "port %s: service groups %" PRIu32 " and %" PRIu32 " both have %s; "
		 "give them different VLANs%s%s",
		 f->port, f->groups[other]->id, f->groups[group]->id, text,
		 key->kind == SHARE_GROUP_MAC ? "" : ", or each its own ",
		 key->kind == SHARE_GROUP_MAC ? "" : side);
	return NOT_ADDED;
}

/* Stores the groups that have the key, as bits. */
static enum added put(const struct filler *f, const struct share_key *key, uint64_t groups) {
	/* The table stores a pointer; ours is a number of the same size. */
	if (rte_hash_add_key_data(f->t->groups, key, (void *)(uintptr_t)groups) == 0)
		return ADDED;
	snprintf(f->why, LIVE_LINE, "port %s: the table has no space for all addresses or sessions",
		 f->port);
	return NOT_ADDED;
}

static uint64_t groups_of(const struct filler *f, const struct share_key *key) {
	void *found = NULL;

	return rte_hash_lookup_data(f->t->groups, key, &found) < 0 ? 0 : (uintptr_t)found;
}

/* An address that two groups have belongs to the group without a MAC address of its own. If both
 * have one, it belongs to neither. */
static enum added put_address(const struct filler *f, const struct share_key *key, unsigned group) {
	uint64_t bit = UINT64_C(1) << group, others = groups_of(f, key) & ~bit;
	uint64_t plain = others & ~f->t->with_mac;

	if (plain != 0 && (f->t->with_mac & bit) == 0)
		return refuse(f, key, group, (uint64_t)__builtin_ctzll(plain));
	return put(f, key, others | bit);
}

static enum added put_network_mac(const struct filler *f, unsigned group) {
	struct share_key key;
	uint64_t others;

	share_key_set(&key, SHARE_GROUP_MAC, number_of(f, group), f->groups[group]->network.mac, 6);
	others = groups_of(f, &key);
	if (others != 0)
		return refuse(f, &key, group, (uint64_t)__builtin_ctzll(others));
	return put(f, &key, UINT64_C(1) << group);
}

size_t share_modem_keys(const struct modem *m, uint8_t vlan, struct share_key *keys) {
	size_t count = 0;

	share_key_set(&keys[count++], SHARE_MODEM_MAC, vlan, m->mac, sizeof(m->mac));
	for (size_t a = 0; a < m->address_count; a++) {
		const struct ip_address *ip = &m->addresses[a];

		share_key_set(&keys[count++], ip->family == 4 ? SHARE_IPV4 : SHARE_IPV6, vlan,
			      ip->bytes, ip_address_size(ip->family));
	}
	return count;
}

static enum added put_modem(const struct filler *f, const struct modem *m, unsigned group) {
	struct share_key keys[1 + SG_MAX_MODEM_ADDRESSES];
	size_t count = share_modem_keys(m, number_of(f, group), keys);

	for (size_t k = 0; k < count; k++) {
		if (put_address(f, &keys[k], group) != ADDED)
			return NOT_ADDED;
	}
	return ADDED;
}

static enum added put_subscribers(const struct filler *f, unsigned group) {
	const struct service_group *sg = f->groups[group];

	if (sg->network.has_mac && put_network_mac(f, group) != ADDED)
		return NOT_ADDED;
	for (size_t m = 0; m < sg->modem_count; m++) {
		if (modem_exists(&sg->modems[m]) && put_modem(f, &sg->modems[m], group) != ADDED)
			return NOT_ADDED;
	}
	return ADDED;
}

static enum added put_session(const struct filler *f, unsigned group, uint32_t session) {
	struct share_vlan *v = &f->t->vlans[number_of(f, group)];
	struct share_key key;
	uint64_t bit = UINT64_C(1) << group, others;

	if (session == 0) /* the channel has none of this kind */
		return ADDED;
	share_key_set_session(&key, number_of(f, group), session,
			      v->by_mac ? f->groups[group]->rphy.core_mac : NULL);
	others = groups_of(f, &key) & ~bit;
	if (others == 0)
		return put(f, &key, bit);
	if (v->by_mac)
		return refuse(f, &key, group, (uint64_t)__builtin_ctzll(others));
	v->by_mac = true;
	return ADDED_RESTART;
}

static enum added put_sessions(const struct filler *f, unsigned group) {
	const struct service_group *sg = f->groups[group];
	enum added added = ADDED;

	for (size_t c = 0; c < sg->upstream_channel_count && added == ADDED; c++) {
		const struct upstream_channel *u = &sg->upstream_channels[c];
		const uint32_t sessions[] = {u->session, u->request_session, u->ranging_session};

		for (unsigned s = 0; s < RTE_DIM(sessions) && added == ADDED; s++)
			added = put_session(f, group, sessions[s]);
	}
	return added;
}

static enum added put_groups(const struct filler *f) {
	enum added added = ADDED;

	for (unsigned g = 0; g < f->count && added == ADDED; g++) {
		if (f->groups[g] == NULL || f->t->vlans[number_of(f, g)].group != SHARE_NO_GROUP)
			continue;
		added = f->side == SHARE_RPHY ? put_sessions(f, g) : put_subscribers(f, g);
	}
	return added;
}

int share_entries_add(struct share_table *t, const char *port, enum share_side side,
		      const struct service_group *const *groups, unsigned count,
		      char why[LIVE_LINE]) {
	const struct filler f = {t, port, side, groups, count, why};
	enum added added;

	/* At most one restart per VLAN. */
	while ((added = put_groups(&f)) == ADDED_RESTART)
		rte_hash_reset(t->groups);
	return added == ADDED ? 0 : -1;
}
