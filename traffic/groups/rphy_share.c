/* SPDX-License-Identifier: BSD-3-Clause */
#include "groups/rphy_share.h"

#include <stdio.h>
#include <string.h>

#include "wire/l2tpv3.h"

#define HEADERS 128 /* Ethernet to L2TPv3 session are shorter, as in rphy/receiver.c */

/* Without padding: it is hashed as it stands. */
struct rphy_key {
	uint32_t session;
	uint32_t family; /* 4 or 6 */
	uint16_t vlan;
	uint8_t mac[6];
	uint8_t ip[16];
};
static_assert(sizeof(struct rphy_key) == 32, "no padding");

static struct rphy_key rphy_key(uint16_t vlan, const uint8_t *mac, uint8_t family,
				const uint8_t *ip, uint32_t session) {
	struct rphy_key key = {.session = session, .family = family, .vlan = vlan};

	memcpy(key.mac, mac, sizeof(key.mac));
	memcpy(key.ip, ip, family == 4 ? 4 : 16);
	return key;
}

void rphy_share_add(struct rphy_share *s, unsigned group, const struct service_group *sg) {
	share_add(&s->share, group, sg->rphy_port.vlan);
	s->keys += sg->channel_count;
}

static int sessions_add(struct rphy_share *s, unsigned group, const struct service_group *all) {
	const struct service_group *sg = &all[group];

	for (size_t c = 0; c < sg->channel_count; c++) {
		uint32_t session = sg->channels[c].session;
		struct rphy_key key =
			rphy_key(sg->rphy_port.vlan, sg->rphy.rpd_mac, sg->rphy.rpd_ip.family,
				 sg->rphy.rpd_ip.bytes, session);
		unsigned other = 0;
		int ret = share_key_add(&s->share, &key, group, &other);

		if (ret > 0)
			fprintf(stderr,
				"traffic: service groups %u and %u: found session 0x%08x at one "
				"R-PHY port and address, allowed: another session, address or "
				"VLAN\n",
				all[other].id, sg->id, session);
		if (ret != 0)
			return -1;
	}
	return 0;
}

int rphy_share_tell(struct rphy_share *s, const struct service_group *all, unsigned count,
		    const bool *at) {
	if (share_table_create(&s->share, "sessions", s->keys, sizeof(struct rphy_key)) != 0)
		return -1;
	for (unsigned g = 0; g < count; g++) {
		if (at[g] && s->share.by_vlan[all[g].rphy_port.vlan] == SHARE_SEVERAL &&
		    sessions_add(s, g, all) != 0)
			return -1;
	}
	return 0;
}

/* A frame that is nobody's, by why. */
static void rphy_unknown(struct rphy_share *s, const struct rte_mbuf *m, uint64_t *count) {
	s->frames++;
	s->bytes += rte_pktmbuf_pkt_len(m);
	++*count;
}

/* What counts of a frame that has no session. */
static uint64_t *rphy_reason(struct rphy_share *s, enum l2tp_verdict verdict) {
	switch (verdict) {
	case L2TP_CONTROL: return &s->unexpected[UNEXPECTED_L2TP_CONTROL];
	case L2TP_IP_HEADER:
	case L2TP_IP_LENGTH:
	case L2TP_IP_CHECKSUM:
	case L2TP_FRAGMENT:
	case L2TP_VERSION:
	case L2TP_TRUNCATED: return &s->violations[VIOLATION_IP];
	default: return &s->unexpected[UNEXPECTED_NOT_DEPI];
	}
}

/* Returns whether the frame has a key. */
static bool rphy_key_read(struct rphy_share *s, const struct rte_mbuf *m, uint16_t vlan,
			  struct rphy_key *key) {
	uint32_t size = rte_pktmbuf_pkt_len(m);
	struct l2tp_data l2tp;
	enum l2tp_verdict verdict;
	uint8_t room[HEADERS];
	const uint8_t *frame = rte_pktmbuf_read(m, 0, RTE_MIN(size, (uint32_t)HEADERS), room);

	verdict = l2tp_parse(frame, size, &l2tp);
	if (verdict == L2TP_OK)
		*key = rphy_key(vlan, frame, l2tp.family, l2tp.destination_ip, l2tp.session);
	else
		rphy_unknown(s, m, rphy_reason(s, verdict));
	return verdict == L2TP_OK;
}

unsigned rphy_share_poll(struct rphy_share *s, struct traffic *const *all) {
	struct rphy_key keys[SHARE_BURST];
	const void *asked_keys[SHARE_BURST];
	uint8_t asked[SHARE_BURST];
	struct share_frames f;
	unsigned n = 0;

	share_receive(&s->share, &f);
	for (unsigned i = 0; i < f.count; i++) {
		if (f.groups[i] == SHARE_NOBODY)
			rphy_unknown(s, f.frames[i], &s->unexpected[UNEXPECTED_NO_GROUP]);
		if (f.groups[i] != SHARE_SEVERAL ||
		    !rphy_key_read(s, f.frames[i], f.vlans[i], &keys[n]))
			continue;
		asked_keys[n] = &keys[n];
		asked[n++] = (uint8_t)i;
	}
	share_ask(&s->share, &f, asked_keys, asked, n);
	for (unsigned i = 0; i < n; i++) {
		if (f.groups[asked[i]] == SHARE_NOBODY)
			rphy_unknown(s, f.frames[asked[i]], &s->violations[VIOLATION_SESSION]);
	}
	share_hand_out(&s->share, &f, all, traffic_take_rphy);
	return f.count;
}
