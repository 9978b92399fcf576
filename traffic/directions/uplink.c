/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends the upstream in rounds: assigns grants and fills them with frames, encrypts all of these
 * together, makes bursts of the grants and L2TPv3 packets of the bursts. */
#include "directions/uplink.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_errno.h>

#include "directions/uplink_parts.h"
#include "directions/uplink_scheduled.h"
#include "grants/grants.h"
#include "impairments/impair.h"
#include "modems/uplink_fill.h"
#include "proof/prefetch.h"
#include "refused/uplink_refused.h"
#include "wire/segment.h"

#define PACKETS 128 /* packets in a round after which no more grants are assigned */

/* Maximum buffers that a grant needs with this size and the smallest MTU, including its ranging
 * burst and request record. */
#define GRANT_BUFFERS 6
static_assert(UPLINK_GRANTS * GRANT_BUFFERS + UPLINK_SESSIONS_MAX / 2 <= UPLINK_STOCK,
	      "one round's buffers");
/* The shortest frame has 64 bytes plus MAC header and CRC. */
static_assert(UPLINK_GRANTS * (UPLINK_GRANT_MAX / 74 + 1) <= UPLINK_PIECES_MAX,
	      "one round's frames");

static bool buffers_create(struct uplink *u, unsigned group) {
	uint32_t capacity = RTE_PKTMBUF_HEADROOM + u->grant_max + UPLINK_GRANT_SLACK;
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "traffic_grants%u", group);
	u->buffers = rte_pktmbuf_pool_create(name, UPLINK_GRANTS, 0, 0, (uint16_t)capacity,
					     SOCKET_ID_ANY);
	if (u->buffers == NULL) {
		fprintf(stderr, "traffic: no memory for the grants of modems: %s\n",
			rte_strerror(rte_errno));
		return false;
	}
	for (unsigned i = 0; i < UPLINK_GRANTS; i++) {
		u->grants[i].buffer = rte_pktmbuf_alloc(u->buffers);
		u->grants[i].size = u->grant_size;
		rte_pktmbuf_append(u->grants[i].buffer,
				   (uint16_t)(capacity - RTE_PKTMBUF_HEADROOM));
	}
	return true;
}

static bool grant_size_set(struct uplink *u, const struct service_group *sg,
			   const struct uplink_options *o) {
	if (o->grant != 0 && (o->grant < UPLINK_GRANT_MIN || o->grant > UPLINK_GRANT_MAX)) {
		fprintf(stderr, "traffic: grants of %u bytes: allowed: %u..%u\n", o->grant,
			UPLINK_GRANT_MIN, UPLINK_GRANT_MAX);
		return false;
	}
	if (o->scheduled) {
		u->grant_max = SEGMENT_HEADER_SIZE + UPLINK_GRANT_LONGEST;
		return true;
	}
	u->grant_max = RTE_MAX(o->grant, (uint32_t)RTE_MAX(UPLINK_GRANT, UPLINK_GRANT_WHOLE));
	u->grant_size = o->grant != 0 ? o->grant : uplink_grant_size(sg, &o->mix, o->rate);
	u->lowest = (double)uplink_grant_lowest(sg, &o->mix, u->grant_size);
	return true;
}

static bool impair_setup(struct uplink *u, const struct service_group *sg,
			 const struct uplink_options *o) {
	if (!impair_any(&o->impair))
		return true;
	u->impair = impair_create(&o->impair, sg, &u->flows, &u->rphy, o->crypto, o->seed);
	u->frames.impair = u->impair;
	u->frames.impairer = &impair_frames;
	return u->impair != NULL;
}

/* The prediction for impairments does not know faulty frames, and scheduled modems request only
 * bytes of their queues. */
static bool refused_setup(struct uplink *u, const struct service_group *sg,
			  const struct uplink_options *o) {
	if (o->refuse_every == 0 || o->scheduled || impair_any(&o->impair))
		return true;
	u->refused =
		uplink_refused_create(sg, &u->flows, o->refuse_every, o->rphy_by_session, o->seed);
	u->frames.refused = u->rphy.output.refused = u->refused;
	u->frames.refuser = &uplink_refused_frames;
	u->rphy.output.make_faulty = uplink_refused_packet;
	return u->refused != NULL;
}

static bool grants_setup(struct uplink *u, const struct service_group *sg,
			 const struct uplink_options *o) {
	if (!o->scheduled)
		return impair_setup(u, sg, o);
	u->scheduled = grants_create(sg, &u->flows, &o->impair, o->seed);
	return u->scheduled != NULL;
}

static bool flows_plan(struct uplink *u, const struct service_group *sg, uint32_t capacity) {
	struct uplink_plan plan;

	if (uplink_plan_create(&plan, sg, NULL, u->follows, &u->keys) != 0) {
		uplink_plan_free(&plan);
		return false;
	}
	return uplink_flows_create(&u->flows, &plan, u->grant_max, capacity) == 0;
}

struct uplink *uplink_create(const struct service_group *sg, const struct uplink_options *o) {
	struct uplink *u = calloc(1, sizeof(*u));

	if (u == NULL) {
		fprintf(stderr, "traffic: no memory for the upstream\n");
		return NULL;
	}
	u->keys = (struct key_store){.crypto = o->crypto, .direction = CRYPTO_DOWNLINK};
	u->rate = o->rate;
	u->mix = o->mix;
	u->follows = o->streams > 0;
	memcpy(u->frames.cmts_mac, sg->rphy.core_mac, sizeof(u->frames.cmts_mac));
	pacing_start(&u->pacing, o->rate, rte_get_tsc_hz(), mix_mean(&o->mix), rte_rdtsc());
	pacing_shape(&u->pacing, o->shape, rte_rdtsc());
	if (uplink_encryptor_create(&u->frames.encryptor, o->crypto) && grant_size_set(u, sg, o) &&
	    flows_plan(u, sg, o->streams) &&
	    uplink_packets_create(&u->frames.packets, sg, &o->mix, o->seed) == 0 &&
	    uplink_plan_rewrites(&u->flows.plan, u->flows.stream_count, u->frames.packets.magic,
				 &u->frames.packets.rewrites) &&
	    buffers_create(u, o->group) &&
	    uplink_rphy_create(&u->rphy, sg, o->rphy_port, o->packets) == 0 &&
	    grants_setup(u, sg, o) && refused_setup(u, sg, o)) {
		u->rphy.output.witness = o->witness;
		u->rphy.output.random.state = o->seed;
		u->rphy.output.reorder_every = impair_any(&o->impair) ? 0 : o->reorder_every;
		return u;
	}
	uplink_free(u);
	return NULL;
}

void uplink_free(struct uplink *u) {
	if (u == NULL)
		return;
	uplink_encryptor_free(&u->frames.encryptor);
	impair_free(u->impair);
	uplink_refused_free(u->refused);
	grants_free(u->scheduled);
	uplink_rphy_free(&u->rphy);
	for (unsigned i = 0; i < UPLINK_GRANTS; i++)
		rte_pktmbuf_free(u->grants[i].buffer);
	rte_mempool_free(u->buffers);
	uplink_packets_free(&u->frames.packets);
	uplink_flows_free(&u->flows);
	free(u);
}

static bool mix_restart(struct uplink *u, const struct service_group *sg, const struct mix *mix,
			uint64_t rate, uint64_t now) {
	if (uplink_packets_restart(&u->frames.packets, sg, mix) != 0)
		return false;
	u->grant_size = uplink_grant_size(sg, mix, rate);
	u->lowest = (double)uplink_grant_lowest(sg, mix, u->grant_size);
	pacing_start(&u->pacing, rate, rte_get_tsc_hz(), mix_mean(mix), now);
	return true;
}

int uplink_restart(struct uplink *u, const struct service_group *sg, const struct mix *mix,
		   uint64_t rate, uint64_t now) {
	if (mix != NULL && !mix_restart(u, sg, mix, rate, now))
		return -1;
	u->frames.packets.magic++;
	uplink_flows_restart(&u->flows);
	uplink_frames_restart(&u->frames);
	uplink_rphy_restart(&u->rphy);
	uplink_refused_restart(u->refused);
	u->stopping = mix == NULL;
	return 0;
}

void uplink_wire(struct uplink *u, const struct shape *shape, bool drop, uint64_t now) {
	pacing_shape(&u->pacing, shape, now);
	u->rphy.output.drop = drop;
}

bool uplink_has_made(const struct uplink *u, const struct packet_tag *tag) {
	return uplink_packets_sources(&u->frames.packets, tag->magic) != NULL;
}

bool uplink_is_earlier(const struct uplink *u, const struct packet_tag *tag) {
	const struct uplink_packets *p = &u->frames.packets;

	return tag->magic - p->first_magic < p->magic - p->first_magic &&
	       uplink_packets_sources(p, tag->magic) == NULL;
}

bool uplink_made_earlier(const struct uplink *u, const struct packet_tag *tag) {
	return tag->magic != u->frames.packets.magic;
}

/* Whether the upstream only completes the frames that it has begun. */
static bool finishing(const struct uplink *u) {
	return u->stopping && u->grants_before_end == 0;
}

/* The rate is so low that a grant in the next round would complete a frame too late. */
static bool is_slow(const struct uplink *u) {
	return u->pacing.rate > 0 && pacing_rate(&u->pacing) < u->lowest;
}

/* Assigns grants until `packets` are made. At the end, or at a low rate, then assigns grants that
 * complete unfinished frames. At a low rate, frames that exceed one grant are not begun. */
static void grants_assign(struct uplink *u, unsigned packets, uint64_t now) {
	struct uplink_made made = {.tsc = now};
	bool slow = is_slow(u);
	/* The next segment uses another channel and must not overtake, so it waits until all
	 * packets are sent. */
	bool finish = finishing(u) || (slow && u->rphy.output.open_count == 0);

	if (u->flows.plan.count == 0)
		return; /* no sending modem is left */
	while (u->grant_count < UPLINK_GRANTS) {
		bool more = !finishing(u) && made.packets < packets;
		struct uplink_grant *g = &u->grants[u->grant_count];

		if (!more && !(finish && u->flows.unfinished > 0))
			break;
		u->grant_count++;
		g->whole = slow;
		g->size = slow ? UPLINK_GRANT_WHOLE : u->grant_size;
		uplink_flows_grant(&u->flows, !more, g);
		uplink_grant_fill(g, &u->flows, &u->frames, !more, &made);
		u->grants_before_end -= u->grants_before_end > 0;
	}
	pacing_spend(&u->pacing, made.bytes);
}

/* Whether the packets contain the last bytes of all frames. */
static bool is_done(const struct uplink *u) {
	return finishing(u) && u->grant_count == 0 && u->flows.unfinished == 0;
}

static void bursts_send(struct uplink *u, uint64_t now) {
	if (u->grant_count > 0) {
		uplink_encrypt(&u->frames.encryptor);
		for (unsigned i = 0; i < u->grant_count; i++)
			uplink_grant_send(u, &u->grants[i], now);
		u->grant_count = 0;
	}
	/* At a low rate, the packets would not fill soon. */
	uplink_sessions_flush(&u->rphy.output, now, is_done(u) || is_slow(u));
	if (u->impair != NULL)
		impair_release(u->impair, now, is_done(u));
}

void uplink_begin(struct uplink *u, uint64_t now) {
	pacing_restart(&u->pacing, now);
}

unsigned uplink_send(struct uplink *u, uint64_t now) {
	bool ready;
	unsigned packets;

	if (u->scheduled != NULL)
		return uplink_scheduled_send(u, now);
	ready = uplink_output_ready(&u->rphy.output);
	packets = pacing_round(&u->pacing, now, ready && u->grant_count == 0 ? PACKETS : 0);

	/* The last grants after impairments need not keep the rate. */
	if (u->stopping && is_slow(u))
		packets = PACKETS;
	if (ready) {
		if (u->grant_count == 0)
			grants_assign(u, packets, now);
		bursts_send(u, now);
	}
	return uplink_transmit(u);
}

void uplink_stop(struct uplink *u) {
	if (!u->stopping && u->impair != NULL)
		u->grants_before_end = impair_stop(u->impair);
	u->stopping = true;
}

bool uplink_empty(const struct uplink *u) {
	const struct uplink_output *o = &u->rphy.output;

	if (u->scheduled != NULL)
		return uplink_scheduled_empty(u);
	return is_done(u) && o->open_count == 0 && o->pending_count == 0 &&
	       (u->impair == NULL || u->impair->delayed == 0);
}

uint32_t uplink_stream_count(const struct uplink *u) {
	return u->flows.stream_count;
}

uint32_t uplink_made(const struct uplink *u, uint32_t stream) {
	return u->flows.streams[stream].made;
}

uint32_t uplink_ended(const struct uplink *u, uint32_t stream) {
	return u->flows.streams[stream].ended;
}

uint64_t uplink_sent(const struct uplink *u) {
	return u->flows.sent;
}

struct refused_counts uplink_refused_sent(const struct uplink *u) {
	return uplink_refused_counts(u->refused);
}

uint64_t uplink_sent_bytes(const struct uplink *u) {
	return u->flows.sent_bytes;
}

bool uplink_matches(const struct uplink *u, const struct packet_tag *tag, const uint8_t *frame,
		    uint32_t size) {
	const struct uplink_stream *s = &u->flows.streams[tag->target];

	return tag->target < u->flows.stream_count && tag->sequence < s->made &&
	       uplink_packet_is(&u->frames.packets, s->owner, tag, frame, size);
}

void uplink_prefetch(const struct uplink *u, const struct packet_tag *tag) {
	const struct uplink_stream *s = &u->flows.streams[tag->target];

	if (tag->target >= u->flows.stream_count)
		return;
	prefetch_record(s, offsetof(struct uplink_stream, sent_at));
	rte_prefetch0(&s->sent_at[tag->sequence % UPLINK_REMEMBERED]);
	pattern_prefetch(&u->frames.packets.pattern, pattern_start(tag->target, tag->sequence),
			 uplink_packet_size(&u->frames.packets, tag->target, tag->sequence));
}

uint64_t uplink_sent_at(const struct uplink *u, uint32_t stream, uint32_t sequence) {
	const struct uplink_stream *s = &u->flows.streams[stream];

	/* The difference is large for a number that was not made yet. */
	if (s->made - 1 - sequence >= UPLINK_REMEMBERED)
		return 0;
	return s->sent_at[sequence % UPLINK_REMEMBERED];
}

bool uplink_scheduled(const struct uplink *u) {
	return u->scheduled != NULL;
}

unsigned uplink_receive_maps(struct uplink *u, struct rte_mbuf **frames, unsigned n) {
	return u->scheduled != NULL ? grants_receive_maps(u->scheduled, frames, n) : n;
}

void uplink_grants(const struct uplink *u, struct grants_result *out) {
	grants_result(u->scheduled, out);
}

bool uplink_impaired(const struct uplink *u) {
	return u->impair != NULL;
}

const uint64_t *uplink_hits(const struct uplink *u) {
	return u->impair->hits;
}

const struct expected *uplink_expected(const struct uplink *u) {
	return u->impair->shadow.failed ? NULL : &u->impair->shadow.expected;
}

bool uplink_delivers(const struct uplink *u, uint32_t stream, uint32_t sequence) {
	return u->impair == NULL || shadow_delivers(&u->impair->shadow, stream, sequence);
}

void uplink_counts(const struct uplink *u, struct uplink_counts *out) {
	*out = (struct uplink_counts){
		.configured_bps = pacing_configured(&u->pacing),
		.packets = u->rphy.output.packets,
		.bytes = u->rphy.output.bytes,
		.reordered = u->rphy.output.reordered,
		.psp_segments = u->rphy.output.segments,
		.bursts = u->rphy.bursts,
		.segments = u->rphy.segments,
		.request_records = u->rphy.request_records,
		.requests = u->frames.requests,
		.management = u->frames.management,
		.fragments = u->frames.fragments,
		.concatenations = u->frames.concatenations,
		.backpressure = u->rphy.output.backpressure,
		.crypto_errors = u->frames.encryptor.errors,
		.descheduled = u->pacing.descheduled,
		.descheduled_longest_us = pacing_longest_us(&u->pacing),
	};
}
