/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates the channels, modems and flows of a configuration, and selects the misbehaving modems. */
#include "grants/grants_modems.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/grants_times.h"
#include "wire/segment.h"

#define DISTANCES 16 /* number of distinct distances of modems, up to the farthest */
#define OUTSTANDING 4 /* limit of unanswered requests */
#define BEYOND_MINISLOTS 4 /* by which a misbehaving modem exceeds its grant */
#define ENDLESS_BYTES 16384 /* of each request of a modem that requests endlessly */

void grants_counts_add(struct access_counts *sum, const struct access_counts *part) {
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)part;

	static_assert(sizeof(*sum) % sizeof(*to) == 0, "all of them are counts");
	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

/* Samples between filling and sending a burst: an OFDMA frame and a symbol. MAPs of SC-QAM channels
 * come too late for that, so groups with such channels use a shorter time. */
static uint32_t burst_processing(const struct service_group *sg) {
	uint32_t min = UINT32_MAX;

	for (size_t c = 0; c < sg->upstream_channel_count; c++) {
		const struct upstream_channel *channel = &sg->upstream_channels[c];
		struct grants_times t = grants_times_of(&sg->upstream.scheduler, channel);
		uint32_t frame = t.frame + t.frame / channel->grants.physical.frame_symbols;

		if (channel->type != UPSTREAM_OFDMA)
			return 0;
		min = frame < min ? frame : min;
	}
	return min;
}

static bool access_create_for(struct grants *g) {
	const struct service_group *sg = g->sg;
	struct access_channel channels[SG_MAX_UPSTREAM_CHANNELS];
	struct access_config config = {
		.channels = channels,
		.channel_count = sg->upstream_channel_count,
		.modems = g->flows->plan.modem_count,
		.flows = g->flows->stream_count,
		.seed = g->seed,
	};
	const char *why;

	for (size_t c = 0; c < sg->upstream_channel_count; c++) {
		const struct upstream_channel *channel = &sg->upstream_channels[c];
		struct grants_times t = grants_times_of(&sg->upstream.scheduler, channel);

		channels[c] = (struct access_channel){
			.id = (uint8_t)channel->id,
			.ucd_count = g->ucd_count[c],
			.frame = t.frame,
			.frame_minislots = t.frame_minislots,
			.minislot_bytes = t.minislot_bytes,
			.burst_minislots = channel->type == UPSTREAM_SC_QAM
						   ? channel->grants.physical.burst_minislots
						   : 0,
			.request_minislots = channel->grants.contention.request_minislots,
		};
	}
	g->access = access_create(&config, &why);
	if (g->access == NULL)
		fprintf(stderr, "traffic: scheduled modems: %s\n", why);
	return g->access != NULL;
}

/* Draws the conduct of a modem; the seed gives the same modems at each start. */
static enum access_conduct conduct_of(struct grants *g, struct random *random) {
	double at = (double)(random_next(random) >> 11) * 0x1p-53;
	const double *share = g->impair.share;

	if (at < share[IMPAIR_SILENT_MODEM]) {
		g->result.silent++;
		return ACCESS_SILENT;
	}
	at -= share[IMPAIR_SILENT_MODEM];
	if (at < share[IMPAIR_BEYOND_GRANT]) {
		g->result.beyond++;
		return ACCESS_BEYOND;
	}
	at -= share[IMPAIR_BEYOND_GRANT];
	if (at < share[IMPAIR_ENDLESS_REQUESTS]) {
		g->result.endless++;
		return ACCESS_ENDLESS;
	}
	return ACCESS_HONEST;
}

static void modems_set(struct grants *g) {
	const struct grants_config *c = &g->sg->upstream.scheduler;
	uint32_t filled = burst_processing(g->sg);
	struct random random = {g->seed};

	g->result.silent = g->result.beyond = g->result.endless = 0;
	for (uint32_t m = 0; m < g->flows->plan.modem_count; m++) {
		uint64_t distance = grants_samples(c->round_trip) / 2 * (m % DISTANCES + 1);
		struct access_modem modem = {
			.propagation = (uint32_t)(distance / DISTANCES),
			.map_processing = (uint32_t)grants_samples(c->modem_processing),
			.burst_processing = filled,
			.conduct = conduct_of(g, &random),
		};

		modem.excess = modem.conduct == ACCESS_BEYOND ? BEYOND_MINISLOTS : ENDLESS_BYTES;
		access_set_modem(g->access, m, &modem);
	}
}

static bool flow_set(struct grants *g, const struct uplink_cluster *cluster) {
	struct access_sid sids[SG_MAX_UPSTREAM_CHANNELS];
	struct access_flow flow = {
		.modem = cluster->modem,
		.sids = sids,
		.sid_count = cluster->cluster.sid_count,
		.header_bytes = SEGMENT_HEADER_SIZE,
		.request_unit = g->units[cluster->stream],
		.outstanding = OUTSTANDING,
	};
	const char *why;

	for (size_t i = 0; i < cluster->cluster.sid_count; i++)
		sids[i] = (struct access_sid){(uint16_t)cluster->cluster.sids[i].channel,
					      cluster->cluster.sids[i].sid};
	why = access_set_flow(g->access, cluster->stream, &flow, g->now);
	if (why != NULL)
		fprintf(stderr, "traffic: service flow of a scheduled modem: %s\n", why);
	return why == NULL;
}

/* Reads N of each stream's flow, in the order of modems/uplink_plan.c. */
static void units_read(struct grants *g) {
	uint32_t cluster = 0;

	for (size_t m = 0; m < g->sg->modem_count; m++) {
		const struct modem *modem = &g->sg->modems[m];

		for (size_t u = 0; uplink_modem_sends(modem) && u < modem->upstream_flow_count;
		     u++) {
			const struct upstream_service_flow *flow = &modem->upstream_flows[u];

			for (size_t c = 0; c < flow->cluster_count; c++)
				g->units[g->flows->plan.clusters[cluster++].stream] =
					flow->grants.request_multiplier;
		}
	}
}

bool grants_modems_create(struct grants *g) {
	units_read(g);
	if (!access_create_for(g))
		return false;
	modems_set(g);
	for (uint32_t p = 0; p < g->flows->plan.cluster_count; p++) {
		if (!flow_set(g, &g->flows->plan.clusters[p]))
			return false;
	}
	return true;
}

/* Keeps the counts of the modems before the restart; their outstanding grants count as lost. */
static void modems_forget(struct grants *g, struct access *before) {
	struct access_counts c;

	access_counts(before, &c);
	c.queued -= c.waiting;
	c.lost_bytes += c.pending_grants;
	c.waiting = c.pending_grants = 0;
	grants_counts_add(&g->earlier, &c);
	access_free(before);
}

static void requeue(struct grants *g, uint32_t stream, uint64_t bytes) {
	while (bytes > 0) {
		uint32_t part = (uint32_t)(bytes < UINT32_MAX ? bytes : UINT32_MAX);

		access_queue(g->access, stream, part, g->now);
		bytes -= part;
	}
}

void grants_modems_restart(struct grants *g) {
	struct access *before = g->access;

	/* Without memory the old modems stay: MAPs are early or late until the time fits. */
	if (!grants_modems_create(g)) {
		access_free(g->access);
		g->access = before;
		return;
	}
	for (uint32_t s = 0; s < g->flows->stream_count; s++)
		requeue(g, s, access_waiting(before, s));
	modems_forget(g, before);
}
