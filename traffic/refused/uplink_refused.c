/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds upstream frames and packets that vcmtsd must drop, each with one fault, among valid ones. */
#include "refused/uplink_refused.h"

#include <stdlib.h>

#include "model/group/security.h"
#include "modems/uplink_frames.h"
#include "modems/uplink_grant.h"
#include "random/random.h"
#include "wire/bytes.h"
#include "wire/docsis_mac.h"
#include "wire/hcs.h"
#include "wire/ip.h"

#define FRAME_KINDS (REFUSED_SOURCE - REFUSED_CLEAR + 1)
#define PACKET_KINDS (REFUSED_OUTER_CHECKSUM - REFUSED_DEVICE + 1)
#define NO_SID 0x3fff /* all ones: not a SID of a service flow */
#define TOGGLE_AT (DOCSIS_EHDR_OFFSET + 2) /* offset after type, length, key sequence and version */
#define TOGGLE 0x40
#define SESSION_ID 4 /* bytes */

struct uplink_refused {
	uint32_t every, frames_until, packets_until;
	bool shared;
	bool verifies_source;
	const struct uplink_flows *flows;
	struct random random;
	struct refused_counts counts;
};

struct uplink_refused *uplink_refused_create(const struct service_group *sg,
					     const struct uplink_flows *flows, uint32_t every,
					     bool shared, uint64_t seed) {
	struct uplink_refused *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->every = r->frames_until = r->packets_until = every;
	r->shared = shared;
	r->verifies_source = sg->upstream.verify_source;
	r->flows = flows;
	r->random.state = seed;
	return r;
}

void uplink_refused_free(struct uplink_refused *r) {
	free(r);
}

/* Adds a fault to a valid frame. Returns whether that is possible for this modem. */
static bool frame_spoil(struct uplink_refused *r, const struct uplink_modem *m,
			struct uplink_frame *f) {
	if (f->mark == REFUSED_SOURCE) {
		if (!r->verifies_source || r->flows->plan.modem_count < 2)
			return false;
		f->modem = uplink_flows_other_modem(r->flows, &r->random, m->index);
		return true;
	}
	if (f->key == NULL)
		return false;
	switch (f->mark) {
	case REFUSED_CLEAR: /* with a privacy element that says so, or with none */
		f->key = NULL;
		uplink_key_name(&f->h, NULL);
		if (random_below(&r->random, 2) == 0)
			f->h.privacy = PRIVACY_NONE;
		return true;
	case REFUSED_KEY:
		f->h.key_sequence = (uint8_t)((f->key->sequence + ASSOCIATION_SEQUENCES / 2) %
					      ASSOCIATION_SEQUENCES);
		return true;
	case REFUSED_SID: f->h.sid = NO_SID; return true;
	default: return f->mark == REFUSED_TOGGLE;
	}
}

static bool is_due(uint32_t *until, uint32_t every) {
	if (--*until > 0)
		return false;
	*until = every;
	return true;
}

static bool frame_choose(struct uplink_refused *r, const struct uplink_grant *g,
			 struct uplink_frame *f, struct packet_tag *tag) {
	struct uplink_modem *m = g->stream->modem;

	if (!is_due(&r->frames_until, r->every))
		return false;
	*f = (struct uplink_frame){
		.mark = REFUSED_CLEAR + random_below(&r->random, FRAME_KINDS),
		.h.kind = DOCSIS_KIND_PACKET,
		.h.sid = g->sid->sid,
		.key = uplink_key_next(m),
		.modem = m->index,
	};
	*tag = (struct packet_tag){
		.target = g->stream->index,
		.sequence = (uint32_t)random_next(&r->random),
	};
	f->h.privacy = f->key != NULL ? PRIVACY_BP_UP2 : PRIVACY_NONE;
	uplink_key_name(&f->h, f->key);
	if (!frame_spoil(r, m, f))
		return false;
	r->frames_until++; /* this call adds no packet */
	return true;
}

static void frame_written(struct uplink_refused *r, const struct uplink_frame *f, uint8_t *frame,
			  uint32_t size) {
	size_t header = docsis_up_header_size(&f->h);

	refused_count(&r->counts, (enum refused_kind)f->mark, r->shared, size);
	if (f->mark != REFUSED_TOGGLE)
		return;
	frame[TOGGLE_AT] ^= TOGGLE;
	docsis_hcs_write(frame, header - DOCSIS_HCS_SIZE);
}

const struct frame_refuser uplink_refused_frames = {
	.choose = frame_choose,
	.written = frame_written,
};

/* Adds a fault to the packet of a valid frame. Returns whether that is possible. */
static bool packet_spoil(uint8_t *frame, uint32_t headers, enum refused_kind kind) {
	uint8_t *ip = frame + ETHERNET_HEADER, *session = frame + headers - SESSION_ID;
	bool ipv4 = load_be16(frame + 12) == ETHERTYPE_IPV4;

	switch (kind) {
	case REFUSED_DEVICE:
		ip[ipv4 ? 15 : 23] ^= 1;
		if (ipv4)
			store_be16(ip + 10, ipv4_checksum(ip, IPV4_HEADER));
		return true;
	case REFUSED_SESSION: store_be32(session, ~load_be32(session)); return true;
	case REFUSED_CONTROL: store_be32(session, 0); return true;
	case REFUSED_OUTER_CHECKSUM: ip[10] ^= 1; return ipv4;
	default: return false;
	}
}

struct rte_mbuf *uplink_refused_packet(struct uplink_refused *r, struct rte_mbuf *m,
				       uint32_t headers, struct rte_mempool *pool) {
	enum refused_kind kind;
	struct rte_mbuf *copy;

	if (!is_due(&r->packets_until, r->every))
		return NULL;
	copy = rte_pktmbuf_copy(m, pool, 0, UINT32_MAX);
	if (copy == NULL)
		return NULL;
	kind = (enum refused_kind)(REFUSED_DEVICE + random_below(&r->random, PACKET_KINDS));
	if (packet_spoil(rte_pktmbuf_mtod(copy, uint8_t *), headers, kind)) {
		refused_count(&r->counts, kind, r->shared, rte_pktmbuf_pkt_len(copy));
		return copy;
	}
	rte_pktmbuf_free(copy);
	return NULL;
}

void uplink_refused_restart(struct uplink_refused *r) {
	if (r != NULL)
		r->counts = (struct refused_counts){0};
}

struct refused_counts uplink_refused_counts(const struct uplink_refused *r) {
	return r == NULL ? (struct refused_counts){0} : r->counts;
}
