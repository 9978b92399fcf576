/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain model for random changes: which modem has which SID and address. */
#pragma once

#include "us_change_kit.h"

#include "wire/ip.h"

#include "packets.h"

#define MODEMS 12
#define FLOWS 2 /* per modem */
#define CLUSTERS 2
#define SIDS 20 /* per channel, from FIRST_SID */
#define FIRST_SID 0x100
#define ADDRESSES 16
#define SESSIONS 2 /* session IDs that a channel can have */
#define PACKET 100

struct model_cluster {
	struct upstream_sid sid;
	uint8_t id;
	uint16_t next; /* segment number */
	enum model_pending { NOTHING, HALF, AHEAD } pending; /* half a frame; behind a gap */
	unsigned address; /* of the pending frame */
};

struct model_flow {
	uint32_t id;
	bool segment_header;
	unsigned cluster_count;
	struct model_cluster clusters[CLUSTERS];
};

struct model_modem {
	unsigned flow_count; /* 0: no such modem */
	struct model_flow flows[FLOWS];
	unsigned address;
};

struct model {
	struct model_modem modems[MODEMS];
	uint32_t channels[KIT_CHANNELS]; /* index of each one's session ID */
};

static struct model before, now, next;
static bool passing; /* a change is applied but not flushed: `before` counts, too */
static uint64_t expected_drops[DROP_REASONS], expected_frames;

/* The model as configuration of the upstream. */
static struct modem modems[MODEMS];
static struct upstream_service_flow flows[MODEMS][FLOWS];
static struct sid_cluster clusters[MODEMS][FLOWS][CLUSTERS];
static struct ip_address addresses[MODEMS];
static struct upstream_channel channels[KIT_CHANNELS];

static inline uint32_t session_of(const struct model *k, unsigned channel) {
	static const uint32_t ids[KIT_CHANNELS][SESSIONS] = {
		{KIT_SC_QAM, KIT_SC_QAM}, {KIT_OFDMA, 0x30002}, {KIT_OFDMA_2, 0x30003}};

	return ids[channel][k->channels[channel]];
}

/* A random number below `below`. */
static inline unsigned draw(unsigned below) {
	return (unsigned)random_below(&kit->random, below);
}

/* Finds modem, flow and cluster of a SID. Returns false if it is not in use. */
static inline bool find_sid(const struct model *k, unsigned channel, uint16_t sid, unsigned at[3]) {
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

static inline bool address_in_use(const struct model *k, unsigned address) {
	for (unsigned m = 0; m < MODEMS; m++) {
		if (k->modems[m].flow_count > 0 && k->modems[m].address == address)
			return true;
	}
	return false;
}

static inline struct upstream_sid draw_free_sid(const struct model *k) {
	for (;;) {
		unsigned at[3];
		struct upstream_sid s = {draw(KIT_CHANNELS), (uint16_t)(FIRST_SID + draw(SIDS))};

		if (!find_sid(k, s.channel, s.sid, at))
			return s;
	}
}

static inline void draw_flow(struct model *k, struct model_modem *m, uint32_t id) {
	struct model_flow *f = &m->flows[m->flow_count];

	*f = (struct model_flow){.id = id, .segment_header = draw(3) > 0};
	m->flow_count++;
	for (unsigned c = 0; c < (f->segment_header ? 1 + draw(CLUSTERS) : 1); c++) {
		f->clusters[c].id = f->segment_header ? (uint8_t)(draw(2) + 2 * c) : 0;
		f->clusters[c].sid = draw_free_sid(k);
		f->cluster_count++;
	}
}

/* The cluster that continues this one: same ID, in a flow of the same ID and headers; or NULL. */
static inline struct model_cluster *same_cluster(struct model_modem *m,
						 const struct model_flow *flow, uint8_t id) {
	for (unsigned f = 0; f < m->flow_count; f++) {
		struct model_flow *other = &m->flows[f];

		for (unsigned c = 0; c < other->cluster_count; c++) {
			if (other->id == flow->id &&
			    other->segment_header == flow->segment_header &&
			    other->clusters[c].id == id)
				return &other->clusters[c];
		}
	}
	return NULL;
}

/* Copies numbers and pending frames of clusters that continue. */
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

/* Draws the next state of a modem: absent, or with SIDs and an address that are free. */
static inline void draw_modem(unsigned slot) {
	struct model_modem *was = &now.modems[slot];
	struct model_modem *m = &next.modems[slot];

	*m = (struct model_modem){.flow_count = 0};
	if (was->flow_count > 0 && draw(2) == 0)
		return;
	do
		m->address = draw(ADDRESSES);
	while (address_in_use(&next, m->address));
	for (unsigned f = 0; f < FLOWS; f++) {
		if (f == 0 || draw(2) == 0)
			draw_flow(&next, m, 10 * slot + draw(2) + 2 * f);
	}
	for (unsigned f = 0; f < m->flow_count; f++)
		inherit(&m->flows[f], was);
}

/* The modem of the model as configuration. */
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

/* Writes a MAC frame with an Ethernet frame from the address. */
static inline size_t write_frame(unsigned address, uint8_t *out) {
	uint8_t ethernet[PACKET];

	packet_write_ipv4(ethernet, PACKET, 0, (const uint8_t[]){198, 51, 100, 1});
	memcpy(ethernet + ETHERNET_HEADER + 12, (uint8_t[]){10, 9, 0, (uint8_t)address}, 4);
	packet_update_ipv4_checksum(ethernet);
	return kit_write_clear_frame(2, DOCSIS_KIND_PACKET, ethernet, PACKET, out);
}

/* Writes the first or the last part of such a frame as a fragment. */
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

	return kit_write_frame(2, &h, part, size, out);
}
