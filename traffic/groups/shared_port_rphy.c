/* SPDX-License-Identifier: BSD-3-Clause */
/* The R-PHY devices of several service groups on one port. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "directions/traffic_parts.h"
#include "groups/shared_port_side.h"
#include "model/grants_times.h"
#include "wire/ip.h"
#include "wire/l2tpv3.h"

#define HEADERS 128 /* exceeds Ethernet to L2TPv3 session headers, as in rphy/receiver.c */
#define NAME_SIZE 32

/* Without padding, as the bytes are hashed. */
struct rphy_key {
	uint32_t session;
	uint32_t family; /* 4 or 6 */
	uint16_t vlan;
	uint8_t mac[6];
	uint8_t ip[16];
};
static_assert(sizeof(struct rphy_key) == 32, "no padding");

static void rphy_key(struct rphy_key *key, uint16_t vlan, const uint8_t *mac, uint8_t family,
		     const uint8_t *ip, uint32_t session) {
	*key = (struct rphy_key){.session = session, .family = family, .vlan = vlan};
	memcpy(key->mac, mac, sizeof(key->mac));
	memcpy(key->ip, ip, ip_address_size(family));
}

static uint16_t rphy_vlan(const struct service_group *sg) {
	return sg->rphy_port.vlan;
}

static size_t rphy_keys(const struct service_group *sg) {
	return sg->channel_count + (sg->upstream.scheduled ? sg->upstream_channel_count : 0);
}

/* Session IDs of downstream channels, then of MAP pseudowires. */
static uint32_t rphy_session(const struct service_group *sg, size_t i) {
	if (i < sg->channel_count)
		return sg->channels[i].session;
	return grants_map_session(&sg->upstream_channels[i - sg->channel_count]);
}

static int rphy_keys_name(const struct service_group *sg, shared_port_key_fn name, void *context) {
	const struct rphy_config *r = &sg->rphy;
	int ret = 0;

	for (size_t c = 0; c < rphy_keys(sg) && ret == 0; c++) {
		char what[NAME_SIZE];
		struct rphy_key key;

		rphy_key(&key, rphy_vlan(sg), r->rpd_mac, r->rpd_ip.family, r->rpd_ip.bytes,
			 rphy_session(sg, c));
		snprintf(what, sizeof(what), "session 0x%08" PRIx32, rphy_session(sg, c));
		ret = name(context, &key, what);
	}
	return ret;
}

/* The counter of a frame without session. */
static uint64_t *rphy_reason(struct shared_port_unmatched *unmatched, enum l2tp_verdict verdict) {
	switch (verdict) {
	case L2TP_CONTROL: return &unmatched->unexpected[UNEXPECTED_L2TP_CONTROL];
	case L2TP_IP_HEADER:
	case L2TP_IP_LENGTH:
	case L2TP_IP_CHECKSUM:
	case L2TP_FRAGMENT:
	case L2TP_VERSION:
	case L2TP_TRUNCATED: return &unmatched->violations[VIOLATION_IP];
	case L2TP_OK:
	case L2TP_RUNT:
	case L2TP_NOT_IP:
	case L2TP_NOT_L2TP: break;
	}
	return &unmatched->unexpected[UNEXPECTED_NOT_DEPI];
}

static bool rphy_key_read(const struct rte_mbuf *m, uint16_t vlan, void *key,
			  struct shared_port_unmatched *unmatched) {
	uint32_t size = rte_pktmbuf_pkt_len(m);
	struct l2tp_data l2tp;
	enum l2tp_verdict verdict;
	uint8_t copy[HEADERS];
	const uint8_t *frame = rte_pktmbuf_read(m, 0, RTE_MIN(size, (uint32_t)HEADERS), copy);

	verdict = l2tp_parse(frame, size, &l2tp);
	if (verdict == L2TP_OK)
		rphy_key(key, vlan, frame, l2tp.family, l2tp.destination_ip, l2tp.session);
	else
		++*rphy_reason(unmatched, verdict);
	return verdict == L2TP_OK;
}

static uint64_t *rphy_unmatched(struct shared_port_unmatched *unmatched) {
	return &unmatched->violations[VIOLATION_SESSION];
}

/* Finds the owner by session and address. A session of an own address may be about to be added. */
static enum shared_port_owner rphy_owner(const struct traffic *t, const struct rte_mbuf *m) {
	uint32_t size = rte_pktmbuf_pkt_len(m);
	struct l2tp_data l2tp;
	uint8_t copy[HEADERS];
	const uint8_t *frame = rte_pktmbuf_read(m, 0, RTE_MIN(size, (uint32_t)HEADERS), copy);

	if (l2tp_parse(frame, size, &l2tp) != L2TP_OK || l2tp.family != t->sg->rphy.rpd_ip.family ||
	    memcmp(frame, t->sg->rphy.rpd_mac, 6) != 0 ||
	    memcmp(l2tp.destination_ip, t->sg->rphy.rpd_ip.bytes, ip_address_size(l2tp.family)) !=
		    0)
		return OWNER_NOT;
	return t->downlink != NULL && receiver_has_session(t->downlink->receiver, l2tp.session)
		       ? OWNER_IS
		       : OWNER_MAY_BE;
}

const struct shared_port_side shared_port_rphy = {
	.name = "R-PHY",
	.evidence = EVIDENCE_RPHY,
	.key_size = sizeof(struct rphy_key),
	.vlan = rphy_vlan,
	.keys = rphy_keys,
	.keys_name = rphy_keys_name,
	.key_read = rphy_key_read,
	.owner = rphy_owner,
	.counter = rphy_unmatched,
	.process = traffic_process_rphy,
};
