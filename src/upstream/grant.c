/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/grant.h"

#include <string.h>

#include "upstream/requests.h"

#define MAX_MAPS 256 /* per round; more are due only after a clock jump */

static const enum counter verdicts[MAPS_VERDICTS] = {
	[MAPS_ACCEPTED] = COUNTER_REQUESTS_TAKEN,
	[MAPS_CAPPED] = COUNTER_REQUESTS_CUT,
	[MAPS_NO_FLOW] = COUNTER_REQUESTS_NO_FLOW,
	[MAPS_NOTHING] = COUNTER_REQUESTS_NOTHING,
};

/* Returns the DOCSIS time. The clock starts with the first round. */
static uint64_t grant_time(struct us_grant *g) {
	if (unlikely(!g->began) && g->follow)
		docsis_clock_start(&g->clock, g->r->clock);
	g->began = true;
	return docsis_clock_time(&g->clock, g->r->clock->now);
}

/* The requested bytes. A request in minislots includes the overhead of a burst (MULPI 3.1,
 * 7.2.1.5). */
static uint32_t request_bytes(const struct us_grant *g, const struct us_request *r) {
	const struct us_grant_channel *c = &g->channels[r->channel];
	uint32_t minislots = r->size;

	if (r->n_bytes)
		return (uint32_t)r->size * g->units[r->flow];
	minislots -= RTE_MIN(minislots, (uint32_t)c->burst_minislots);
	return minislots * c->minislot_bytes;
}

/* The index of the SID cluster in its flow; UINT8_MAX if the flow has no cluster of this ID. */
static uint8_t cluster_index(const struct us_tables *t, const struct us_request *r) {
	const struct us_flow *f = &t->flows[r->flow];
	uint8_t c = 0;

	while (c < f->stream_count && t->streams[f->streams[c]].cluster != r->cluster)
		c++;
	return c < f->stream_count ? c : UINT8_MAX;
}

void us_grant_prefetch(const struct us_grant *g, const struct us_request *r) {
	rte_prefetch0(&g->tables->flows[r->flow]);
	maps_prefetch(g->maps, r->flow);
}

void us_grant_request(struct us_grant *g, const struct us_request *r) {
	const struct maps_request request = {
		.flow = r->flow,
		.cluster = cluster_index(g->tables, r),
		.channel = r->channel,
		.bytes = r->channel < g->channel_count ? request_bytes(g, r) : 0,
		.contended = r->contended,
	};

	count(g->counters, verdicts[maps_request(g->maps, &request, grant_time(g))], 1);
}

void us_grant_data(struct us_grant *g, uint32_t flow) {
	maps_data_received(g->maps, flow, grant_time(g));
}

static const struct maps_flow no_flow;

void us_grant_release_flow(struct us_grant *g, uint32_t flow) {
	maps_set_flow(g->maps, flow, &no_flow, grant_time(g));
}

/* Returns whether the flag changed. */
static bool mark_refused(struct us_grant *g, uint32_t flow, bool refused) {
	bool differs = g->refused[flow] != refused;

	g->refused[flow] = refused;
	if (differs)
		g->refused_count += refused ? 1u : -1u;
	return differs;
}

const char *us_grant_enter_flow(struct us_grant *g, uint32_t flow, const struct maps_flow *settings,
				uint64_t now) {
	const char *why = maps_set_flow(g->maps, flow, settings, now);

	g->watched[flow] = why == NULL && settings->type == MAPS_UNSOLICITED_ACTIVITY;
	return why;
}

void us_grant_set_flow(struct us_grant *g, uint32_t flow, const struct us_grant_flow *f,
		       uint8_t unit) {
	const struct maps_flow *settings = f != NULL ? &f->settings : &no_flow;
	bool refused = us_grant_enter_flow(g, flow, settings, grant_time(g)) != NULL;

	if (f != NULL)
		g->units[flow] = unit;
	if (refused)
		us_grant_release_flow(g, flow);
	if (mark_refused(g, flow, refused) && refused)
		count(g->counters, COUNTER_GRANTS_REFUSED, 1);
}

/* Sends a copy of a message to one of its streams. */
static bool message_send(struct us_grant *g, const uint8_t *bytes, size_t size, uint16_t stream,
			 uint64_t due, uint16_t slack) {
	struct rte_mbuf *m = rte_pktmbuf_alloc(g->r->frames);

	if (m == NULL)
		return false;
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), bytes, size);
	m->data_len = (uint16_t)size;
	m->pkt_len = (uint32_t)size;
	if (message_put(g->messages, m, stream, due, slack))
		return true;
	rte_pktmbuf_free(m);
	return false;
}

/* The first stream is that of the R-PHY device. */
static void frame_send(struct us_grant *g, const struct us_grant_channel *c, const uint8_t *frame,
		       size_t size, uint64_t due, uint16_t slack) {
	for (unsigned s = 0; s < c->stream_count; s++) {
		bool whole = s > 0;
		bool sent = message_send(g, frame + (whole ? 0 : DOCSIS_MAC_HEADER),
					 size - (whole ? 0 : MANAGEMENT_FRAME_EXTRA), c->streams[s],
					 due, slack);

		count(g->counters, sent ? COUNTER_MESSAGES_MADE : COUNTER_MESSAGES_UNSENT, 1);
	}
}

/* The body is written directly into the frame. */
static void map_send(struct us_grant *g, uint32_t channel, uint64_t due) {
	struct management m = {
		.version = g->map.version,
		.type = MANAGEMENT_MAP,
		.body = g->frame + DOCSIS_MAC_HEADER + MANAGEMENT_HEADER,
	};
	size_t size;

	memcpy(m.da, management_all_modems, sizeof(m.da));
	memcpy(m.sa, g->source, sizeof(m.sa));
	m.body_size =
		map_write(g->frame + DOCSIS_MAC_HEADER + MANAGEMENT_HEADER, MAP_BODY_MAX, &g->map);
	size = m.body_size > 0 ? management_frame_write(&m, g->frame, sizeof(g->frame)) : 0;
	count(g->counters, COUNTER_MAPS, 1);
	if (size > 0)
		frame_send(g, &g->channels[channel], g->frame, size, due, g->slack);
	else
		count(g->counters, COUNTER_MESSAGES_UNSENT, g->channels[channel].stream_count);
}

/* Sends all due MAPs. After a clock jump it asks the scheduler, as the due times have changed. */
static unsigned maps_send(struct us_grant *g, uint64_t time, bool jumped) {
	unsigned made = 0;

	while (made < MAX_MAPS) {
		uint32_t channel;

		if (maps_due(g->maps) > time && !jumped)
			break;
		channel = maps_make(g->maps, time, &g->map);
		if (channel == MAPS_NONE)
			break;
		map_send(g, channel, docsis_clock_when(&g->clock, maps_last_due(g->maps)));
		made++;
	}
	return made;
}

static unsigned ucds_send(struct us_grant *g, uint64_t now) {
	unsigned made = 0;

	if (likely(now < g->ucd_at))
		return 0;
	g->ucd_at = UINT64_MAX;
	for (uint32_t i = 0; i < g->channel_count; i++) {
		struct us_grant_channel *c = &g->channels[i];

		if (now >= c->ucd_at) {
			frame_send(g, c, c->ucd, c->ucd_size, c->ucd_at > 0 ? c->ucd_at : now,
				   MESSAGE_ANY_TIME);
			c->ucd_at = now + g->ucd_interval;
			made++;
		}
		g->ucd_at = RTE_MIN(g->ucd_at, c->ucd_at);
	}
	count(g->counters, COUNTER_UCDS, made);
	return made;
}

/* Whether DOCSIS time has jumped since the last round that granted. The clock also runs while
 * granting is stopped. */
static bool has_jumped(struct us_grant *g) {
	uint64_t jumps = g->jumps;

	if (unlikely(docsis_clock_sample_is_due(&g->clock, g->r->clock->now)))
		docsis_clock_sample(&g->clock, g->r->clock);
	if (g->stopped)
		return false;
	g->jumps = g->clock.jumps;
	count(g->counters, COUNTER_CLOCK_JUMPS, g->jumps - jumps);
	return g->jumps != jumps;
}

uint64_t us_grant_due(const struct us_grant *g) {
	if (g->maps == NULL || g->stopped)
		return UINT64_MAX;
	if (!g->began)
		return 0;
	return RTE_MIN(docsis_clock_when(&g->clock, maps_due(g->maps)), g->ucd_at);
}

/* The only stage of its list, it returns the number of messages. */
uint16_t us_grant(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_grant *g = ctx;
	bool jumped;

	(void)pkts;
	(void)n;
	if (g->maps == NULL)
		return 0;
	jumped = has_jumped(g);
	if (g->stopped)
		return 0;
	return (uint16_t)(ucds_send(g, g->r->clock->now) + maps_send(g, grant_time(g), jumped));
}
