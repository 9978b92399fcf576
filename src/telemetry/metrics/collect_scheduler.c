/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of the downstream scheduler: delay by priority, channels, bonding groups. */
#include "downstream/qos.h"
#include "telemetry/metrics/histogram.h"
#include "telemetry/metrics/walk.h"

/* Selects the metric of a shared collector. */
enum { CHANNEL_PACKETS, CHANNEL_BYTES, CHANNEL_RATE, CHANNEL_CAPACITY };
enum { BONDED_PACKETS, BONDED_EARLY, BONDED_SKEW, BONDED_MAX_SKEW };

static void collect_delay(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct downstream *d = w->groups[g].served->downstream;

		for (unsigned p = 0; p < SCHEDULER_PRIORITIES; p++) {
			struct scheduler_delay_report r;
			struct metric_histogram h;
			char text[WALK_ID];

			scheduler_report_delay(d->upper.scheduler, p, &r);
			histogram_of_delays(&h, &r);
			walk_put_histogram(w, entry, &h, LABELS(w->groups[g].id, walk_id(text, p)));
		}
	}
}

static uint64_t channel_count(const struct served_group *g, uint32_t channel, unsigned which) {
	struct scheduler_channel_report r;

	if (which == CHANNEL_CAPACITY)
		return qos_capacity_now(g->downstream, channel);
	scheduler_report_channel(g->downstream->upper.scheduler, channel, &r);
	return which == CHANNEL_PACKETS ? r.packets : r.bytes;
}

static void put_channel(const struct walk *w, const struct metric_entry *entry,
			const struct served_group *g, uint32_t channel,
			const char *const labels[METRIC_LABELS]) {
	if (entry->which == CHANNEL_RATE)
		walk_put_real(w, entry, (double)g->sg->channels[channel].rate / 8, labels);
	else
		walk_put(w, entry, channel_count(g, channel, entry->which), labels);
}

static void collect_channel(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned i = 0; i < w->group_count; i++) {
		const struct served_group *g = w->groups[i].served;

		for (uint32_t c = 0; c < g->sg->channel_count; c++) {
			char text[WALK_ID];

			if (channel_exists(&g->sg->channels[c]))
				put_channel(w, entry, g, c,
					    LABELS(w->groups[i].id,
						   walk_id(text, g->sg->channels[c].id)));
		}
	}
}

static void put_bonding_group(const struct walk *w, const struct metric_entry *entry,
			      const struct scheduler_group_report *r, const char *id,
			      const char *group) {
	const char *const *labels = LABELS(id, group);

	switch (entry->which) {
	case BONDED_PACKETS: walk_put(w, entry, r->packets, labels); break;
	case BONDED_EARLY: walk_put(w, entry, r->early_packets, labels); break;
	case BONDED_SKEW: walk_put_real(w, entry, (double)r->skew_ns / 1e9, labels); break;
	case BONDED_MAX_SKEW: walk_put_real(w, entry, (double)r->max_skew_ns / 1e9, labels); break;
	}
}

static void collect_bonding_group(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned i = 0; i < w->group_count; i++) {
		const struct served_group *g = w->groups[i].served;

		for (uint32_t b = 0; b < g->sg->bonding_group_count; b++) {
			struct scheduler_group_report r;
			char text[WALK_ID];

			if (!bonding_group_exists(&g->sg->bonding_groups[b]))
				continue;
			scheduler_report_group(g->downstream->upper.scheduler, b, &r);
			put_bonding_group(w, entry, &r, w->groups[i].id,
					  walk_id(text, g->sg->bonding_groups[b].id));
		}
	}
}

static const struct metric_entry entries[] = {
	METRIC("vcmts_scheduler_delay_seconds", HISTOGRAM, "seconds", OF_GROUP,
	       LABELLED("service_group", "priority"), collect_delay, 0,
	       "time of packets in the queues of service flows, by traffic priority"),
	METRIC("vcmts_downstream_channel_packets_total", COUNTER, "packets", OF_GROUP,
	       LABELLED("service_group", "channel"), collect_channel, CHANNEL_PACKETS,
	       "packets assigned to a channel"),
	METRIC("vcmts_downstream_channel_bytes_total", COUNTER, "bytes", OF_GROUP,
	       LABELLED("service_group", "channel"), collect_channel, CHANNEL_BYTES,
	       "bytes charged to a channel's rate, with DOCSIS headers, CRC and DEPI"),
	METRIC("vcmts_downstream_channel_capacity_bytes_total", COUNTER, "bytes", OF_GROUP,
	       LABELLED("service_group", "channel"), collect_channel, CHANNEL_CAPACITY,
	       "bytes that a channel could have carried by its rate"),
	METRIC("vcmts_downstream_channel_rate_bytes_per_second", GAUGE, "bytes_per_second",
	       OF_GROUP, LABELLED("service_group", "channel"), collect_channel, CHANNEL_RATE,
	       "rate of a channel, as configured"),
	METRIC("vcmts_downstream_bonding_group_packets_total", COUNTER, "packets", OF_GROUP,
	       LABELLED("service_group", "bonding_group"), collect_bonding_group, BONDED_PACKETS,
	       "packets assigned to the channels of a bonding group"),
	METRIC("vcmts_downstream_bonding_group_early_packets_total", COUNTER, "packets", OF_GROUP,
	       LABELLED("service_group", "bonding_group"), collect_bonding_group, BONDED_EARLY,
	       "packets that a modem receives before an earlier one of the service flow"),
	METRIC("vcmts_downstream_bonding_group_skew_seconds_total", COUNTER, "seconds", OF_GROUP,
	       LABELLED("service_group", "bonding_group"), collect_bonding_group, BONDED_SKEW,
	       "total time that early packets wait in modems for earlier ones"),
	METRIC("vcmts_downstream_bonding_group_max_skew_seconds", GAUGE, "seconds", OF_GROUP,
	       LABELLED("service_group", "bonding_group"), collect_bonding_group, BONDED_MAX_SKEW,
	       "longest time that an early packet waits in a modem for earlier ones, since the "
	       "start"),
};
const struct metric_entries scheduler_metrics = METRIC_ENTRIES(entries);
