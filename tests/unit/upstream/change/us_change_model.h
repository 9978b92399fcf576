/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain model of what modems and channels have, for random changes: who has which SID and address. */
#pragma once

#include "us_change_kit.h"

#include "wire/ip.h"

#include "packets.h"

#define MODEMS 12
#define FLOWS 2 /* of a modem, at most */
#define CLUSTERS 2
#define SIDS 20 /* of a channel: 0x100, .. */
#define FIRST_SID 0x100
#define ADDRESSES 16
#define NOBODY UINT32_MAX
#define SESSIONS 2 /* between which a channel changes */
#define PACKET 100

struct model_cluster {
	struct upstream_sid sid;
	uint8_t id;
	uint16_t next; /* segment number */
	enum model_pending { NOTHING, HALF, AHEAD } pending; /* of a frame from this address: */
	unsigned address;
};

struct model_flow {
	uint32_t id;
	bool segment_header;
	unsigned cluster_count;
	struct model_cluster clusters[CLUSTERS];
};

struct model_modem {
	unsigned flow_count; /* 0: it is not there */
	struct model_flow flows[FLOWS];
	unsigned address;
};

struct model {
	struct model_modem modems[MODEMS];
	uint32_t channels[BENCH_CHANNELS]; /* which of its sessions each has */
};

static struct model before, now, next;
static bool passing; /* what was before counts, too */
static uint64_t expected_drops[DROP_REASONS], expected_frames;

/* As the upstream is told. */
static struct modem modems[MODEMS];
static struct upstream_service_flow flows[MODEMS][FLOWS];
static struct sid_cluster clusters[MODEMS][FLOWS][CLUSTERS];
static struct ip_address addresses[MODEMS];
static struct upstream_channel channels[BENCH_CHANNELS];

static inline uint32_t session_of(const struct model *k, unsigned channel) {
	static const uint32_t ids[BENCH_CHANNELS][SESSIONS] = {
		{BENCH_SC_QAM, BENCH_SC_QAM}, {BENCH_OFDMA, 0x30002}, {BENCH_OFDMA_ALONE, 0x30003}};

	return ids[channel][k->channels[channel]];
}

static inline unsigned any(unsigned below) {
	return (unsigned)random_below(&bench->random, below);
}

/* Who has the SID; false where nobody does. */
static inline bool sid_owner(const struct model *k, unsigned channel, uint16_t sid,
			     unsigned at[3]) {
	for (at[0] = 0; at[0] < MODEMS; at[0]++) {
		const struct model_modem *m = &k->modems[at[0]];

		for (at[1] = 0; at[1] < m->flow_count; at[1]++) {
			const struct model_flow *f = &m->flows[at[1]];

			for (at[2] = 0; at[2] < f->cluster_count; at[2]++) {
				const struct upstream_sid *s = &f->clusters[at[2]].sid;

				if (s->channel == channel && s->sid == sid)
					return true;
			}
		}
	}
	return false;
}

static inline bool address_is_had(const struct model *k, unsigned address) {
	for (unsigned m = 0; m < MODEMS; m++) {
		if (k->modems[m].flow_count > 0 && k->modems[m].address == address)
			return true;
	}
	return false;
}

static inline struct upstream_sid free_sid(const struct model *k) {
	for (;;) {
		unsigned at[3];
		struct upstream_sid s = {any(BENCH_CHANNELS), (uint16_t)(FIRST_SID + any(SIDS))};

		if (!sid_owner(k, s.channel, s.sid, at))
			return s;
	}
}

static inline void draw_flow(struct model *k, struct model_modem *m, uint32_t id) {
	struct model_flow *f = &m->flows[m->flow_count];

	*f = (struct model_flow){.id = id, .segment_header = any(3) > 0};
	m->flow_count++;
	for (unsigned c = 0; c < (f->segment_header ? 1 + any(CLUSTERS) : 1); c++) {
		f->clusters[c].id = f->segment_header ? (uint8_t)(any(2) + 2 * c) : 0;
		f->clusters[c].sid = free_sid(k);
		f->cluster_count++;
	}
}

/* The cluster of the modem that is this one: the same of a flow with the same ID and kind of headers; or NULL. */
static inline struct model_cluster *same_cluster(struct model_modem *m,
						 const struct model_flow *flow, uint8_t id) {
	for (unsigned f = 0; f < m->flow_count; f++) {
		struct model_flow *of = &m->flows[f];

		for (unsigned c = 0; c < of->cluster_count; c++) {
			if (of->id == flow->id && of->segment_header == flow->segment_header &&
			    of->clusters[c].id == id)
				return &of->clusters[c];
		}
	}
	return NULL;
}

/* Numbers and pending frames of clusters that live on. */
static inline void inherit(struct model_flow *f, struct model_modem *from) {
	for (unsigned c = 0; c < f->cluster_count; c++) {
		const struct model_cluster *was = same_cluster(from, f, f->clusters[c].id);

		if (was == NULL)
			continue;
		f->clusters[c].next = was->next;
		f->clusters[c].pending = was->pending;
		f->clusters[c].address = was->address;
	}
}

/* The modem comes, goes or is another one, with what others have given up. */
static inline void draw_modem(unsigned slot) {
	struct model_modem *was = &now.modems[slot];
	struct model_modem *m = &next.modems[slot];

	*m = (struct model_modem){.flow_count = 0};
	if (was->flow_count > 0 && any(2) == 0)
		return;
	do
		m->address = any(ADDRESSES);
	while (address_is_had(&next, m->address));
	for (unsigned f = 0; f < FLOWS; f++) {
		if (f == 0 || any(2) == 0)
			draw_flow(&next, m, 10 * slot + any(2) + 2 * f);
	}
	for (unsigned f = 0; f < m->flow_count; f++)
		inherit(&m->flows[f], was);
}

static inline const struct modem *modem_of(struct model *k, unsigned slot) {
	struct model_modem *m = &k->modems[slot];

	addresses[slot] = (struct ip_address){4, {10, 9, 0, (uint8_t)m->address}};
	modems[slot] = (struct modem){
		.mac = {2, 7, 0, 0, 0, (uint8_t)slot},
		.addresses = &addresses[slot],
		.address_count = 1,
		.upstream_flows = flows[slot],
		.upstream_flow_count = m->flow_count,
	};
	for (unsigned f = 0; f < m->flow_count; f++) {
		flows[slot][f] = (struct upstream_service_flow){
			m->flows[f].id, m->flows[f].segment_header, clusters[slot][f],
			m->flows[f].cluster_count};
		for (unsigned c = 0; c < m->flows[f].cluster_count; c++)
			clusters[slot][f][c] = (struct sid_cluster){
				m->flows[f].clusters[c].id, &m->flows[f].clusters[c].sid, 1};
	}
	return &modems[slot];
}

/* An Ethernet frame from the address, in a MAC frame. */
static inline size_t write_frame(unsigned address, uint8_t *out) {
	uint8_t ethernet[PACKET];

	packet_ipv4(ethernet, PACKET, 0, (const uint8_t[]){198, 51, 100, 1});
	memcpy(ethernet + ETHERNET_HEADER + 12, (uint8_t[]){10, 9, 0, (uint8_t)address}, 4);
	packet_ipv4_checksum(ethernet);
	return bench_clear(2, DOCSIS_KIND_PACKET, ethernet, PACKET, out);
}

/* A part of such a frame: the first or the last one. */
static inline size_t write_fragment(const struct model_cluster *c, bool last, const uint8_t *part,
				    size_t size, uint8_t *out) {
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_FRAGMENT,
		.privacy = PRIVACY_BP_UP,
		.sid = c->sid.sid,
		.fragment_first = !last,
		.fragment_last = last,
		.fragment_sequence = last,
	};

	return bench_frame(2, &h, part, size, out);
}
