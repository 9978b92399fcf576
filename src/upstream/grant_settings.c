/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates a group's upstream scheduler from its configuration. */
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "model/defaults.h"
#include "model/grants_times.h"
#include "model/live/live_group.h"
#include "platform/log/log.h"
#include "upstream/grant.h"
#include "upstream/grant_ucd.h"
#include "upstream/state/slots.h"
#include "upstream/uepi.h"
#include "wire/segment.h"

size_t us_grant_flow_size(const struct upstream_service_flow *f) {
	size_t sids = 0;

	for (size_t c = 0; c < f->cluster_count; c++)
		sids += f->clusters[c].sid_count;
	return sizeof(struct us_grant_flow) + sids * sizeof(struct maps_sid);
}

static uint32_t samples(uint64_t ns) {
	return (uint32_t)grants_samples(ns);
}

static uint64_t rate(uint64_t bits) {
	return RTE_MIN(bits, (uint64_t)MAPS_RATE_MAX);
}

/* The model checks a configuration against the scheduler's and the upstream's limits, as it can
 * report the line number. Its limits must equal theirs. */
_Static_assert(GRANTS_MIN == MAPS_MIN_GRANT && GRANTS_MAP_BYTES == MAPS_BYTES_MAX &&
		       GRANTS_PROACTIVE_MAX / 1000 * MAPS_HZ ==
			       MAPS_PROACTIVE_MAX * UINT64_C(1000000) &&
		       GRANTS_BURST == US_GRANT_BYTES && GRANTS_BURST < US_BURST_BYTES,
	       "equal limits");

/* Both enums list the scheduling services in the same order. */
_Static_assert((int)SCHEDULING_BEST_EFFORT == (int)MAPS_BEST_EFFORT &&
		       (int)SCHEDULING_REAL_TIME_POLLING == (int)MAPS_REAL_TIME_POLLING &&
		       (int)SCHEDULING_UNSOLICITED_GRANT == (int)MAPS_UNSOLICITED &&
		       (int)SCHEDULING_PROACTIVE_GRANT == (int)MAPS_PROACTIVE,
	       "settings_fill() casts one to the other");

static void settings_fill(struct maps_flow *s, const struct flow_grants *g) {
	*s = (struct maps_flow){
		.type = (enum maps_type)g->scheduling,
		.priority = g->priority,
		.sustained = rate(g->sustained_rate),
		.sustained_burst = g->traffic_burst,
		.peak = rate(g->peak_rate),
		.reserved = rate(g->reserved_rate),
		.max_burst = g->concatenated_burst == 0
				     ? 0
				     : RTE_MAX(g->concatenated_burst, (uint32_t)GRANTS_MIN),
		.poll_interval = samples(g->poll_interval),
		.grant_interval = samples(g->grant_interval),
		.grant_jitter = samples(g->grant_jitter),
		.grant_bytes = g->grant_size,
		.grants = g->grants_per_interval,
		.active_timeout = samples(g->active_timeout),
		.guaranteed_rate = rate(g->guaranteed_rate),
	};
	if (s->sustained > 0 && s->sustained_burst == 0)
		s->sustained_burst = default_burst(g->sustained_rate);
	s->sustained_burst = RTE_MIN(s->sustained_burst, (uint32_t)MAPS_BURST_MAX);
}

void us_grant_flow_fill(struct us_grant_flow *g, const struct upstream_service_flow *f) {
	struct maps_sid *sid = g->sids;

	settings_fill(&g->settings, &f->grants);
	g->settings.header_bytes = f->segment_header ? SEGMENT_HEADER_SIZE : 0;
	g->settings.clusters = g->clusters;
	g->settings.cluster_count = f->cluster_count;
	for (size_t c = 0; c < f->cluster_count; c++) {
		const struct sid_cluster *k = &f->clusters[c];

		g->clusters[c] = (struct maps_cluster){.sids = sid, .count = k->sid_count};
		for (size_t s = 0; s < k->sid_count; s++)
			*sid++ = (struct maps_sid){(uint16_t)k->sids[s].channel, k->sids[s].sid};
	}
}

/* With the smallest MTU, each piece of a burst but the first and the last has at least this
 * size. So the limit of a burst is its bytes, not its pieces. */
#define PIECE_MIN (RPHY_MTU_MIN - 200)
_Static_assert((US_BURST_PIECES - 2) * PIECE_MIN >= US_BURST_BYTES, "US_BURST_PIECES suffice");

/* Minislots of the longest grant; 0: only the MAP limits it. */
static uint16_t longest_grant(const struct grants_times *t, uint32_t burst_minislots) {
	uint32_t minislots = burst_minislots + US_GRANT_BYTES / t->minislot_bytes;

	return minislots < t->minislots ? (uint16_t)minislots : 0;
}

struct maps_channel us_grant_channel_settings(const struct service_group *sg,
					      const struct upstream_channel *c) {
	const struct grants_config *g = &sg->upstream.scheduler;
	const struct channel_grants *k = &c->grants;
	struct grants_times t = grants_times_of(g, c);
	bool ofdma = c->type == UPSTREAM_OFDMA;
	uint16_t burst = ofdma ? 0 : k->physical.burst_minislots;

	return (struct maps_channel){
		.kind = ofdma ? MAPS_OFDMA : MAPS_SC_QAM,
		.id = (uint8_t)c->id,
		.ucd_count = US_UCD_COUNT,
		.data_iuc = k->physical.data_iuc,
		.frame = t.frame,
		.frame_minislots = t.frame_minislots,
		.minislot_bytes = t.minislot_bytes,
		.burst_minislots = burst,
		.max_burst_minislots = longest_grant(&t, burst),
		.interval = t.interval,
		.lead = t.lead,
		.slack = samples(g->cmts_processing),
		.ack_delay = t.ack_delay,
		.request_minislots = k->contention.request_minislots,
		.request_opportunities = k->contention.request_opportunities,
		.initial_minislots = t.initial_minislots,
		.initial_interval = samples(k->maintenance.initial_interval),
		.station_minislots = t.station_minislots,
		.ranging_start = k->maintenance.backoff_start,
		.ranging_end = k->maintenance.backoff_end,
		.data_start = k->contention.backoff_start,
		.data_end = k->contention.backoff_end,
	};
}

/* Lists the streams of the channel's MAPs: the pseudowire, then downstream channels by slot. */
static void streams_fill(struct us_grant_channel *c, const struct message_path *path,
			 const struct service_group *sg, uint32_t channel) {
	const struct upstream_channel *k = &sg->upstream_channels[channel];
	uint32_t id;

	c->streams[c->stream_count++] = message_pseudowire(channel);
	for (size_t i = 0; (id = grants_map_channel(sg, k, i)) != 0; i++) {
		for (uint32_t d = 0; d < sg->channel_count; d++) {
			if (channel_exists(&sg->channels[d]) && sg->channels[d].id == id)
				c->streams[c->stream_count++] = message_channel(path, d);
		}
	}
}

static const char *channels_create(struct us_grant *g, const struct service_group *sg,
				   struct maps_channel *settings) {
	for (uint32_t i = 0; i < g->channel_count; i++) {
		const struct upstream_channel *k = &sg->upstream_channels[i];
		struct us_grant_channel *c = &g->channels[i];

		settings[i] = us_grant_channel_settings(sg, k);
		c->burst_minislots = settings[i].burst_minislots;
		c->minislot_bytes = settings[i].minislot_bytes;
		streams_fill(c, g->messages, sg, i);
		c->ucd = rte_zmalloc("ucd", MANAGEMENT_FRAME_MAX, 0);
		if (c->ucd == NULL)
			return "no memory for UCDs";
		c->ucd_size = us_ucd_write(sg, k, g->source, c->ucd);
		if (c->ucd_size == 0)
			return "settings that no UCD can express";
	}
	return NULL;
}

static const char *flow_create(struct us_grant *g, const struct upstream_service_flow *f,
			       uint32_t slot) {
	struct us_grant_flow *flow = malloc(us_grant_flow_size(f));
	const char *why = "no memory";

	if (flow != NULL) {
		us_grant_flow_fill(flow, f);
		g->units[slot] = f->grants.request_multiplier;
		why = us_grant_enter_flow(g, slot, &flow->settings, 0);
	}
	free(flow);
	return why;
}

/* Adds all flows of the group by the slots that the tables assigned. */
static int flows_create(struct us_grant *g, const struct service_group *sg) {
	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct us_modem_data *modem_data = g->tables->slots.modem_data[m];

		for (uint32_t f = 0; modem_data != NULL && f < modem_data->flow_count; f++) {
			const struct upstream_service_flow *k = &sg->modems[m].upstream_flows[f];
			const char *why = flow_create(g, k, modem_data->flows[f].flow);

			if (why == NULL)
				continue;
			log_error("upstream", LOG_NO_FIELDS,
				  "upstream scheduler: upstream service flow %u: %s", k->id, why);
			return -1;
		}
	}
	return 0;
}

static const char *maps_of(struct us_grant *g, const struct service_group *sg) {
	struct maps_channel settings[MAPS_MAX_CHANNELS];
	struct maps_config config = {
		.channels = settings,
		.channel_count = g->channel_count,
		.flows = g->tables->flow_count,
	};
	const char *why = channels_create(g, sg, settings);

	if (why == NULL)
		g->maps = maps_create(&config, &why);
	return g->maps != NULL ? NULL : why;
}

/* Channels occupy the first slots, without a gap. */
static uint32_t channels_existing(const struct service_group *sg) {
	uint32_t count = 0;

	while (count < sg->upstream_channel_count &&
	       upstream_channel_exists(&sg->upstream_channels[count]))
		count++;
	return count;
}

/* How much later than due a MAP may be sent, in us. */
static uint16_t slack_us(const struct grants_config *c) {
	return (uint16_t)RTE_MIN((c->cmts_processing + 999) / 1000, (uint64_t)MESSAGE_ANY_TIME - 1);
}

int us_grant_open(void *ctx, const struct service_group *sg, const void *resources) {
	struct us_grant *g = ctx;
	const char *why = "no memory";

	(void)resources;
	docsis_clock_init(&g->clock);
	g->messages = g->r->messages;
	if (g->messages == NULL)
		return 0;
	memcpy(g->source, sg->rphy.core_mac, sizeof(g->source));
	g->slack = slack_us(&sg->upstream.scheduler);
	g->ucd_interval = sg->upstream.scheduler.ucd_interval;
	g->channel_count = channels_existing(sg);
	g->channels = rte_zmalloc("grant", g->channel_count * sizeof(*g->channels), 0);
	g->units = rte_zmalloc("grant", g->tables->flow_count, 0);
	g->refused = rte_zmalloc("grant", g->tables->flow_count * sizeof(*g->refused), 0);
	g->watched = rte_zmalloc("grant", g->tables->flow_count * sizeof(*g->watched), 0);
	if (g->channels != NULL && g->units != NULL && g->refused != NULL && g->watched != NULL)
		why = maps_of(g, sg);
	if (why == NULL)
		return flows_create(g, sg);
	log_error("upstream", LOG_NO_FIELDS, "upstream scheduler: %s", why);
	return -1;
}

void us_grant_close(void *ctx) {
	struct us_grant *g = ctx;

	for (uint32_t c = 0; g->channels != NULL && c < g->channel_count; c++)
		rte_free(g->channels[c].ucd);
	maps_free(g->maps);
	rte_free(g->channels);
	rte_free(g->units);
	rte_free(g->refused);
	rte_free(g->watched);
}
