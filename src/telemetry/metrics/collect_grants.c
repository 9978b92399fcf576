/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of the upstream scheduler per channel: MAPs, grants and the use of minislots. */
#include "telemetry/metrics/walk.h"

/* Selects the metric of a shared collector. */
enum { GRANTS_MINISLOTS, GRANTS_MAPS, GRANTS_GRANTS, GRANTS_BYTES, GRANTS_PENDING };
enum { MESSAGE_DELAY_SUM, MESSAGE_DELAY_MAX };

static uint64_t idle_of(const struct maps_counts *c) {
	uint64_t used = c->data_minislots + c->request_minislots + c->initial_minislots +
			c->station_minislots;

	return c->minislots > used ? c->minislots - used
				   : 0; /* the counters change while they are read */
}

static void put_minislots(const struct walk *w, const struct metric_entry *entry, const char *group,
			  const char *channel, const struct maps_counts *c) {
	const struct {
		const char *kind;
		uint64_t value;
	} all[] = {
		{"data", c->data_minislots},
		{"request", c->request_minislots},
		{"initial", c->initial_minislots},
		{"station", c->station_minislots},
		{"idle", idle_of(c)},
	};

	for (unsigned i = 0; i < RTE_DIM(all); i++)
		walk_put(w, entry, all[i].value, LABELS(group, channel, all[i].kind));
}

static void put_channel(const struct walk *w, const struct metric_entry *entry, const char *group,
			const char *channel, const struct maps_counts *c) {
	switch (entry->which) {
	case GRANTS_MINISLOTS: put_minislots(w, entry, group, channel, c); break;
	case GRANTS_MAPS:
		walk_put(w, entry, c->maps, LABELS(group, channel, "made"));
		walk_put(w, entry, c->late, LABELS(group, channel, "late"));
		break;
	case GRANTS_GRANTS: walk_put(w, entry, c->grants, LABELS(group, channel)); break;
	case GRANTS_BYTES: walk_put(w, entry, c->granted_bytes, LABELS(group, channel)); break;
	case GRANTS_PENDING: walk_put(w, entry, c->pendings, LABELS(group, channel)); break;
	default: break;
	}
}

static void collect_grants(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct served_group *served = w->groups[g].served;
		const struct upstream *u = served->upstream;

		for (uint32_t i = 0; u != NULL && upstream_grants(u) && i < u->grant.channel_count;
		     i++) {
			struct maps_counts c;
			char text[WALK_ID];

			maps_counts(u->grant.maps, i, &c);
			put_channel(w, entry, w->groups[g].id,
				    walk_id(text, served->sg->upstream_channels[i].id), &c);
		}
	}
}

static void collect_owed(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct upstream *u = w->groups[g].served->upstream;
		struct maps_counts c;

		if (u == NULL || !upstream_grants(u))
			continue;
		maps_counts(u->grant.maps, MAPS_NONE, &c);
		walk_put(w, entry, c.owed_bytes, LABELS(w->groups[g].id));
	}
}

static void collect_message_delay(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct downstream *d = w->groups[g].served->downstream;
		const struct ds_messages *m = &d->lower.messages;

		if (m->path.ring != NULL)
			walk_put_real(w, entry,
				      (double)(entry->which == MESSAGE_DELAY_MAX ? m->delay_max
										 : m->delay_sum) /
					      CLOCK_NS_PER_S,
				      LABELS(w->groups[g].id));
	}
}

static const struct metric_entry entries[] = {
	METRIC("vcmts_upstream_minislots_total", COUNTER, "minislots", OF_GROUP,
	       LABELLED("service_group", "channel", "kind"), collect_grants, GRANTS_MINISLOTS,
	       "minislots that MAPs described, by use"),
	METRIC("vcmts_upstream_maps_total", COUNTER, "maps", OF_GROUP,
	       LABELLED("service_group", "channel", "result"), collect_grants, GRANTS_MAPS,
	       "MAPs made, and MAPs omitted because they were late"),
	METRIC("vcmts_upstream_grants_total", COUNTER, "grants", OF_GROUP,
	       LABELLED("service_group", "channel"), collect_grants, GRANTS_GRANTS, "data grants"),
	METRIC("vcmts_upstream_granted_bytes_total", COUNTER, "bytes", OF_GROUP,
	       LABELLED("service_group", "channel"), collect_grants, GRANTS_BYTES,
	       "bytes granted, without segment headers"),
	METRIC("vcmts_upstream_pending_total", COUNTER, "", OF_GROUP,
	       LABELLED("service_group", "channel"), collect_grants, GRANTS_PENDING,
	       "requests that a MAP acknowledged as pending"),
	METRIC("vcmts_upstream_owed_bytes", GAUGE, "bytes", OF_GROUP, LABELLED("service_group"),
	       collect_owed, 0, "bytes requested and not granted yet"),
	METRIC("vcmts_message_delay_seconds_total", COUNTER, "seconds", OF_GROUP,
	       LABELLED("service_group"), collect_message_delay, MESSAGE_DELAY_SUM,
	       "sum of the times from when MAPs and UCDs were due until the R-PHY port "
	       "accepted them, except those that waited for the first link"),
	METRIC("vcmts_message_delay_max_seconds", GAUGE, "seconds", OF_GROUP,
	       LABELLED("service_group"), collect_message_delay, MESSAGE_DELAY_MAX,
	       "longest time from when a MAP or UCD was due until the R-PHY port accepted it, "
	       "since the first link"),
};
const struct metric_entries grants_metrics = METRIC_ENTRIES(entries);
