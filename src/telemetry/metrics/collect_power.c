/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the cores' frequencies. */
#include "telemetry/metrics/walk.h"
#include "telemetry/metrics/which.h"

void collect_power_policy(const struct walk *w, const struct metric_row *row) {
	struct power_report r;

	if (w->source->power == NULL)
		return;
	power_tell(w->source->power, &r);
	walk_put(w, row, 1, LABELS(power_policy_name(r.policy), r.driver));
}

static uint64_t core_value(const struct power_core_report *c, unsigned which) {
	switch (which) {
	case CORE_FREQUENCY: return c->khz * UINT64_C(1000);
	case CORE_WISH: return c->wished_khz * UINT64_C(1000);
	case CORE_TRANSITIONS: return c->transitions;
	default: return c->jumps;
	}
}

void collect_power_core(const struct walk *w, const struct metric_row *row) {
	struct power_report r;
	char core[WALK_ID];

	if (w->source->power == NULL)
		return;
	power_tell(w->source->power, &r);
	for (unsigned i = 0; i < r.core_count; i++) {
		if (r.cores[i].max_khz != 0)
			walk_put(w, row, core_value(&r.cores[i], row->which),
				 LABELS(walk_id(core, r.cores[i].core)));
	}
}

/* Of each core those that were, of the machine all: who asks for a rate wants a beginning. */
void collect_power_refused(const struct walk *w, const struct metric_row *row) {
	struct power_report r;
	char core[WALK_ID];

	if (w->source->power == NULL)
		return;
	power_tell(w->source->power, &r);
	for (unsigned f = 0; f < POWER_FAULTS; f++)
		walk_put(w, row, r.counts[f], LABELS("all", power_fault_name(f)));
	for (unsigned i = 0; i < r.core_count; i++) {
		for (unsigned c = 0; c < CPUFREQ_REASONS; c++) {
			if (r.cores[i].max_khz != 0 || r.cores[i].counts[c] != 0)
				walk_put(w, row, r.cores[i].counts[c],
					 LABELS(walk_id(core, r.cores[i].core),
						cpufreq_reason_name(c)));
		}
	}
}
