/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the upstream scheduler: MAPs, grants and the use of minislots, by upstream channel. */
#include "telemetry/metrics/walk.h"
#include "telemetry/metrics/which.h"

static uint64_t idle_of(const struct maps_counts *c) {
	uint64_t used = c->data_minislots + c->request_minislots + c->initial_minislots +
			c->station_minislots;

	return c->minislots > used ? c->minislots - used
				   : 0; /* as they are read while they change */
}

static void put_minislots(const struct walk *w, const struct metric_row *row, const char *group,
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
		walk_put(w, row, all[i].value, LABELS(group, channel, all[i].kind));
}

static void put_channel(const struct walk *w, const struct metric_row *row, const char *group,
			const char *channel, const struct maps_counts *c) {
	switch (row->which) {
	case GRANTS_MINISLOTS: put_minislots(w, row, group, channel, c); break;
	case GRANTS_MAPS:
		walk_put(w, row, c->maps, LABELS(group, channel, "made"));
		walk_put(w, row, c->late, LABELS(group, channel, "late"));
		break;
	case GRANTS_GRANTS: walk_put(w, row, c->grants, LABELS(group, channel)); break;
	case GRANTS_BYTES: walk_put(w, row, c->granted_bytes, LABELS(group, channel)); break;
	case GRANTS_PENDING: walk_put(w, row, c->pendings, LABELS(group, channel)); break;
	default: break;
	}
}

void collect_grants(const struct walk *w, const struct metric_row *row) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct served_group *served = w->groups[g].served;
		const struct upstream *u = served->upstream;

		for (uint32_t i = 0; u != NULL && upstream_grants(u) && i < u->grant.channel_count;
		     i++) {
			struct maps_counts c;
			char text[WALK_ID];

			maps_counts(u->grant.maps, i, &c);
			put_channel(w, row, w->groups[g].id,
				    walk_id(text, served->sg->upstream_channels[i].id), &c);
		}
	}
}

void collect_owed(const struct walk *w, const struct metric_row *row) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct upstream *u = w->groups[g].served->upstream;
		struct maps_counts c;

		if (u == NULL || !upstream_grants(u))
			continue;
		maps_counts(u->grant.maps, MAPS_NONE, &c);
		walk_put(w, row, c.owed_bytes, LABELS(w->groups[g].id));
	}
}

void collect_message_delay(const struct walk *w, const struct metric_row *row) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct downstream *d = w->groups[g].served->downstream;
		const struct ds_messages *m = &d->lower.messages;

		if (m->path.ring != NULL)
			walk_put_real(w, row,
				      (double)(row->which == MESSAGE_DELAY_MAX ? m->delay_max
									       : m->delay_sum) /
					      CLOCK_NS_PER_S,
				      LABELS(w->groups[g].id));
	}
}
