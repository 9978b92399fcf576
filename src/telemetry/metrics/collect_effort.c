/* SPDX-License-Identifier: BSD-3-Clause */
/* Of a service group: how its work was done. */
#include "telemetry/metrics/walk.h"
#include "telemetry/metrics/which.h"

static void put_effort(const struct walk *w, const struct metric_row *row, const char *group,
		       const char *direction, const struct effort *e) {
	switch (row->which) {
	case EFFORT_POLLS:
		walk_put(w, row, e->polls_useful, LABELS(group, direction, "useful"));
		walk_put(w, row, e->polls_empty, LABELS(group, direction, "empty"));
		break;
	case EFFORT_LOOKUPS: walk_put(w, row, e->lookups, LABELS(group, direction)); break;
	case EFFORT_LOOKED_UP: walk_put(w, row, e->looked_up, LABELS(group, direction)); break;
	}
}

void collect_effort(const struct walk *w, const struct metric_row *row) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct served_group *served = w->groups[g].served;

		put_effort(w, row, w->groups[g].id, "downstream",
			   &served->downstream->upper.effort);
		if (served->upstream != NULL)
			put_effort(w, row, w->groups[g].id, "upstream", &served->upstream->effort);
	}
}
