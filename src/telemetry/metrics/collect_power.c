/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of the cores' frequencies. */
#include "telemetry/metrics/walk.h"

/* Selects the metric of a shared collector. */
enum { CORE_FREQUENCY, CORE_REQUEST, CORE_TRANSITIONS, CORE_JUMPS };

static void collect_power_policy(const struct walk *w, const struct metric_entry *entry) {
	struct power_report r;

	if (w->source->power == NULL)
		return;
	power_get_report(w->source->power, &r);
	walk_put(w, entry, 1, LABELS(power_policy_name(r.policy), r.driver));
}

static uint64_t core_value(const struct power_core_report *c, unsigned which) {
	switch (which) {
	case CORE_FREQUENCY: return c->khz * UINT64_C(1000);
	case CORE_REQUEST: return c->requested_khz * UINT64_C(1000);
	case CORE_TRANSITIONS: return c->transitions;
	default: return c->jumps;
	}
}

static void collect_power_core(const struct walk *w, const struct metric_entry *entry) {
	struct power_report r;
	char core[WALK_ID];

	if (w->source->power == NULL)
		return;
	power_get_report(w->source->power, &r);
	for (unsigned i = 0; i < r.core_count; i++) {
		if (r.cores[i].max_khz != 0)
			walk_put(w, entry, core_value(&r.cores[i], entry->which),
				 LABELS(walk_id(core, r.cores[i].core)));
	}
}

/* A core's counter appears with its first event. Counters of the machine start at 0, as rates need
 * a first value. */
static void collect_power_refused(const struct walk *w, const struct metric_entry *entry) {
	struct power_report r;
	char core[WALK_ID];

	if (w->source->power == NULL)
		return;
	power_get_report(w->source->power, &r);
	for (unsigned f = 0; f < POWER_FAULTS; f++)
		walk_put(w, entry, r.counts[f], LABELS("all", power_fault_name(f)));
	for (unsigned i = 0; i < r.core_count; i++) {
		for (unsigned c = 0; c < CPUFREQ_REASONS; c++) {
			if (r.cores[i].max_khz != 0 || r.cores[i].counts[c] != 0)
				walk_put(w, entry, r.cores[i].counts[c],
					 LABELS(walk_id(core, r.cores[i].core),
						cpufreq_reason_name(c)));
		}
	}
}

static const struct metric_entry entries[] = {
	METRIC("vcmts_power_policy_info", GAUGE, "", PLAIN, LABELLED("policy", "driver"),
	       collect_power_policy, 0, "frequency policy in effect, and its driver: always 1"),
	METRIC("vcmts_core_frequency_hertz", GAUGE, "hertz", PLAIN, LABELLED("core"),
	       collect_power_core, CORE_FREQUENCY,
	       "frequency of a governed core, as read back from the driver"),
	METRIC("vcmts_core_frequency_wished_hertz", GAUGE, "hertz", PLAIN, LABELLED("core"),
	       collect_power_core, CORE_REQUEST, "last requested frequency"),
	METRIC("vcmts_power_transitions_total", COUNTER, "", PLAIN, LABELLED("core"),
	       collect_power_core, CORE_TRANSITIONS,
	       "changes of the frequency of the core's clock"),
	METRIC("vcmts_power_jumps_total", COUNTER, "", PLAIN, LABELLED("core"), collect_power_core,
	       CORE_JUMPS,
	       "changes of the frequency to the maximum at once, because a queue grew or a worker "
	       "was saturated"),
	METRIC("vcmts_power_refused_total", COUNTER, "", PLAIN, LABELLED("core", "reason"),
	       collect_power_refused, 0,
	       "failures to set a frequency, by reason; core all: of the whole machine"),
};
const struct metric_entries power_metrics = METRIC_ENTRIES(entries);
