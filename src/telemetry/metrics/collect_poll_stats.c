/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of a service group about its polls and lookups. */
#include "telemetry/metrics/walk.h"

/* Selects the metric of a shared collector. */
enum { EFFORT_POLLS, EFFORT_LOOKUPS, EFFORT_LOOKUP_PACKETS };

static void put_effort(const struct walk *w, const struct metric_entry *entry, const char *group,
		       const char *direction, const struct poll_stats *e) {
	switch (entry->which) {
	case EFFORT_POLLS:
		walk_put(w, entry, e->polls_useful, LABELS(group, direction, "useful"));
		walk_put(w, entry, e->polls_empty, LABELS(group, direction, "empty"));
		break;
	case EFFORT_LOOKUPS: walk_put(w, entry, e->lookups, LABELS(group, direction)); break;
	case EFFORT_LOOKUP_PACKETS:
		walk_put(w, entry, e->lookup_packets, LABELS(group, direction));
		break;
	}
}

static void collect_effort(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct served_group *served = w->groups[g].served;

		put_effort(w, entry, w->groups[g].id, "downstream",
			   &served->downstream->upper.effort);
		if (served->upstream != NULL)
			put_effort(w, entry, w->groups[g].id, "upstream",
				   &served->upstream->effort);
	}
}

static const struct metric_entry entries[] = {
	METRIC("vcmts_polls_total", COUNTER, "polls", OF_GROUP,
	       LABELLED("service_group", "direction", "result"), collect_effort, EFFORT_POLLS,
	       "polls of the group's source: useful if they returned packets, else empty"),
	METRIC("vcmts_lookups_total", COUNTER, "lookups", OF_GROUP,
	       LABELLED("service_group", "direction"), collect_effort, EFFORT_LOOKUPS,
	       "calls that look up modems: downstream for packets of flows that are not "
	       "cached, upstream for bursts"),
	METRIC("vcmts_looked_up_total", COUNTER, "", OF_GROUP,
	       LABELLED("service_group", "direction"), collect_effort, EFFORT_LOOKUP_PACKETS,
	       "packets (upstream: bursts) whose modem was looked up"),
};
const struct metric_entries poll_stats_metrics = METRIC_ENTRIES(entries);
