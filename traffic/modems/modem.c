/* SPDX-License-Identifier: BSD-3-Clause */
/* What each modem expects in a MAC header (MULPI, SEC). */
#include "modems/modem.h"

#include <stdio.h>
#include <stdlib.h>

#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#define ETHERNET_MIN 14

static uint64_t mac_key(const uint8_t *mac) {
	return (uint64_t)load_be16(mac) << 32 | load_be32(mac + 2);
}

static uint32_t mac_slot(const struct modems *t, uint64_t mac) {
	uint32_t slot = (uint32_t)((mac * 0x9e3779b97f4a7c15ull) >> 32) & (t->slots - 1);

	while (t->by_mac[slot] != 0 && t->all[t->by_mac[slot] - 1].mac != mac)
		slot = (slot + 1) & (t->slots - 1);
	return slot;
}

/* MULPI: frames of a flow with a DSID are numbered for resequencing; all tell their priority. */
static uint8_t expected_ehdr(const struct service_flow *f) {
	return f->has_dsid ? DS_EHDR_SEQUENCE : DS_EHDR_PRIORITY;
}

static void flows_fill(struct modems *t, const struct modem *m, uint32_t first) {
	for (size_t f = 0; f < m->service_flow_count; f++) {
		const struct service_flow *flow = &m->service_flows[f];

		t->flows[first + f] = (struct flow_state){
			.dsid = flow->dsid,
			.ds = expected_ehdr(flow),
			.priority = flow->priority,
		};
	}
}

static bool session_create(struct modems *t, struct modem_state *s, const uint8_t key[16]) {
	static const uint8_t no_key[16];

	if (s->encrypted) {
		s->session = crypto_session(t->crypto, CRYPTO_UPLINK, key);
	} else {
		if (t->clear_session == NULL)
			t->clear_session = crypto_session(t->crypto, CRYPTO_UPLINK, no_key);
		s->session = t->clear_session;
	}
	return s->session != NULL;
}

static void channels_add(struct modem_state *s, const struct bonding_group *group) {
	for (size_t c = 0; c < group->channel_count; c++)
		s->channels[group->channels[c] / 64] |= 1ull << group->channels[c] % 64;
}

static bool modem_create(struct modems *t, const struct service_group *sg, uint32_t index,
			 uint32_t first_stream) {
	const struct modem *m = &sg->modems[index];
	struct modem_state *s = &t->all[index];

	s->mac = mac_key(m->mac);
	s->first_stream = first_stream;
	s->flow_count = (uint8_t)m->service_flow_count;
	s->said = m->security.said;
	s->key_sequence = m->security.key_sequence;
	s->encrypted = m->security.cipher != CIPHER_NONE;
	memcpy(s->iv, m->security.iv, sizeof(s->iv));
	for (size_t f = 0; f < m->service_flow_count; f++)
		channels_add(s, &sg->bonding_groups[m->service_flows[f].bonding_group]);
	flows_fill(t, m, first_stream);
	t->by_mac[mac_slot(t, s->mac)] = index + 1;
	return session_create(t, s, m->security.key);
}

int modems_create(struct modems *t, const struct service_group *sg, const uint32_t *first_stream,
		  uint32_t stream_count, struct docsis_crypto *crypto) {
	bool good;

	*t = (struct modems){.crypto = crypto, .slots = 16};
	while (t->slots < 2 * sg->modem_count)
		t->slots *= 2;
	t->max_pdu = sg->max_frame;
	t->all = aligned_alloc(RTE_CACHE_LINE_SIZE, (sg->modem_count + 1) * sizeof(*t->all));
	t->flows = calloc(stream_count + 1, sizeof(*t->flows));
	t->by_mac = calloc(t->slots, sizeof(*t->by_mac));
	good = t->all != NULL && t->flows != NULL && t->by_mac != NULL;
	if (good)
		memset(t->all, 0, (sg->modem_count + 1) * sizeof(*t->all));
	for (; good && t->count < sg->modem_count; t->count++)
		good = modem_create(t, sg, t->count, first_stream[t->count]);
	if (good)
		return 0;
	fprintf(stderr, "traffic: no memory or crypto session for %zu modems\n", sg->modem_count);
	modems_free(t);
	return -1;
}

void modems_free(struct modems *t) {
	for (uint32_t i = 0; i < t->count; i++) {
		if (t->all[i].encrypted && t->all[i].session != NULL)
			crypto_session_free(t->crypto, t->all[i].session);
	}
	if (t->clear_session != NULL)
		crypto_session_free(t->crypto, t->clear_session);
	free(t->all);
	free(t->flows);
	free(t->by_mac);
	*t = (struct modems){0};
}

bool modems_have(const struct modems *t, const uint8_t mac[6]) {
	return t->by_mac[mac_slot(t, mac_key(mac))] != 0;
}

/* SEC: BP_DOWN names the SA and key; EN tells whether the PDU is encrypted. */
static bool privacy_good(const struct modem_state *s, const struct docsis_mac *mac) {
	if (mac->privacy == PRIVACY_NONE)
		return !s->encrypted;
	return mac->privacy == PRIVACY_BP_DOWN && mac->encrypted == s->encrypted &&
	       mac->privacy_version == DOCSIS_PRIVACY_VERSION && mac->said_or_sid == s->said &&
	       mac->key_sequence == s->key_sequence && mac->toggle == (s->key_sequence & 1);
}

/* Finds the flow by its DSID; where the header has none, the tag will name it. */
static enum corruption flow_check(const struct modems *t, const struct modem_state *s,
				  const struct docsis_mac *mac, struct frame_info *info) {
	info->stream = FRAME_NO_STREAM;
	info->ds = (uint8_t)mac->ds;
	info->priority = mac->priority;
	if (mac->ds != DS_EHDR_DSID && mac->ds != DS_EHDR_SEQUENCE)
		return CORRUPTION_NONE;
	for (uint32_t i = s->first_stream; i < s->first_stream + s->flow_count; i++) {
		const struct flow_state *f = &t->flows[i];

		if (f->ds < DS_EHDR_DSID || f->dsid != mac->dsid)
			continue;
		info->stream = i;
		info->number = mac->sequence;
		return f->ds == mac->ds && f->priority == mac->priority ? CORRUPTION_NONE
									: CORRUPTION_DS_EHDR;
	}
	return CORRUPTION_DSID;
}

static enum corruption mac_check(const struct modems *t, const uint8_t *frame, uint32_t size,
				 struct docsis_mac *mac) {
	switch (docsis_mac_parse(frame, size != 0 ? size : SIZE_MAX, mac)) {
	case DOCSIS_OK: break;
	case DOCSIS_BAD_HCS: return CORRUPTION_HCS;
	case DOCSIS_TRUNCATED:
	case DOCSIS_BAD_LENGTH: return CORRUPTION_LENGTH;
	case DOCSIS_BAD_EHDR:
	case DOCSIS_RESERVED: return CORRUPTION_HEADER;
	}
	if (size != 0 && mac->frame_size != size)
		return CORRUPTION_LENGTH;
	if (mac->kind == DOCSIS_KIND_PACKET &&
	    (mac->pdu_size < ETHERNET_MIN + ETHERNET_CRC_SIZE || mac->pdu_size > t->max_pdu))
		return CORRUPTION_LENGTH;
	return CORRUPTION_NONE;
}

enum modem_verdict modems_check(const struct modems *t, struct rte_mbuf *frame, uint32_t size,
				enum corruption *why) {
	struct frame_info *info = frame_info(frame);
	const struct modem_state *s;
	struct docsis_mac mac;
	uint32_t slot;

	*why = mac_check(t, rte_pktmbuf_mtod(frame, const uint8_t *), size, &mac);
	if (*why != CORRUPTION_NONE)
		return MODEM_REFUSES;
	if (mac.kind != DOCSIS_KIND_PACKET)
		return MODEM_IGNORES;
	info->header_size = mac.header_size;
	info->told_size = mac.frame_size;
	*why = CORRUPTION_DESTINATION;
	slot = mac_slot(t, mac_key(mac.pdu));
	if (t->by_mac[slot] == 0)
		return MODEM_REFUSES;
	info->modem = t->by_mac[slot] - 1;
	s = &t->all[info->modem];
	*why = CORRUPTION_CHANNEL;
	if (!(s->channels[info->channel / 64] >> info->channel % 64 & 1))
		return MODEM_REFUSES;
	*why = CORRUPTION_PRIVACY;
	if (!privacy_good(s, &mac))
		return MODEM_REFUSES;
	*why = flow_check(t, s, &mac, info);
	return *why == CORRUPTION_NONE ? MODEM_TAKES : MODEM_REFUSES;
}
