/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler_results.h"

#include <stdlib.h>

/* 0 if there is nothing to divide by. */
static double ratio(uint64_t part, uint64_t of) {
	return of > 0 ? (double)part / (double)of : 0;
}

/* Reference cycles to enqueue or drop an offered packet, and to dequeue a sent one. */
static double cycles(const struct tally *t) {
	return ratio(t->enqueue_cycles, t->offered) + ratio(t->dequeue_cycles, t->sent);
}

static int by_cycles(const void *a, const void *b) {
	double x = cycles(a), y = cycles(b);

	return (x > y) - (x < y);
}

/* All figures except the spread are those of the median run. */
static json_t *figures(struct tally *runs, unsigned count, const struct host *host) {
	const struct tally *median = &runs[count / 2];
	double core = (double)host->core_hz / (double)host->tsc_hz;
	json_t *values = json_array();

	qsort(runs, count, sizeof(runs[0]), by_cycles);
	for (unsigned i = 0; i < count; i++)
		json_array_append_new(values, json_real(cycles(&runs[i])));
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:i, s:f, s:f, s:f, s:f, s:o}", "enqueue",
			 ratio(median->enqueue_cycles, median->offered), "dequeue",
			 ratio(median->dequeue_cycles, median->sent), "cycles_per_packet",
			 cycles(median), "core_cycles_per_packet", cycles(median) * core, "min",
			 cycles(&runs[0]), "max", cycles(&runs[count - 1]), "runs", (int)count,
			 "idle_call", ratio(median->idle_cycles, median->idle_calls),
			 "offered_gbps", 8 * ratio(median->offered_bytes, median->ns), "gbps",
			 8 * ratio(median->sent_bytes, median->ns), "dropped",
			 ratio(median->dropped, median->offered), "values", values);
}

json_t *scheduler_result(const struct bench_case *c, unsigned load,
			 struct tally runs[][SCHEDULER_MAX_RUNS], unsigned count,
			 const struct host *host) {
	static const char *const ratios[SUBJECTS] = {NULL, "ratio", "ratio_turns", NULL};
	json_t *result = json_pack("{s:s, s:i, s:i, s:i, s:i}", "case", c->name, "flows",
				   (int)case_flows(c), "modems", (int)c->modems, "channels",
				   (int)case_channels(c), "load", (int)load);
	json_t *own = figures(runs[0], count, host);
	double mine = cycles(&runs[0][count / 2]);

	json_object_update(result, own);
	json_decref(own);
	for (unsigned s = 1; s < SUBJECTS; s++) {
		json_t *other = figures(runs[s], count, host);

		json_object_set_new(result, scheduler_subjects[s]->name, other);
		if (ratios[s] != NULL)
			json_object_set_new(result, ratios[s],
					    json_real(mine / cycles(&runs[s][count / 2])));
	}
	return result;
}
