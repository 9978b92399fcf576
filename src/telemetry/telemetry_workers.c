/* SPDX-License-Identifier: BSD-3-Clause */
/* What is answered of the polling threads, and of drops and counters: both count on, so that who wants
 * those of a time takes differences. */
#include "telemetry/telemetry_workers.h"

#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include "server/measure.h"
#include "telemetry/telemetry_answer.h"

/* Answers have at most 16 kB in DPDK 22.11: lists come in parts. */
#define PART 32

static uint64_t workers_ns(uint64_t cycles) {
	return (uint64_t)((double)cycles * 1e9 / (double)rte_get_tsc_hz());
}

static void put_worker(struct rte_tel_data *d, struct worker *w, bool anew) {
	uint64_t longest_since = __atomic_load_n(&w->longest_since, __ATOMIC_RELAXED);

	if (anew)
		longest_since = worker_longest_take(w);
	telemetry_put_text(d, "name", w->name);
	telemetry_put(d, "rounds", w->rounds);
	telemetry_put(d, "busy_rounds", w->busy_rounds);
	telemetry_put(d, "busy_cycles", w->busy_cycles);
	telemetry_put(d, "idle_cycles", w->idle_cycles);
	telemetry_put_text(d, "idle", idle_kind_name(w->idle.config.kind));
	telemetry_put(d, "paused_cycles", w->idle.ticks);
	telemetry_put(d, "pauses", w->idle.pauses);
	telemetry_put(d, "descheduled", w->descheduled);
	telemetry_put(d, "longest_ns", workers_ns(w->longest));
	telemetry_put(d, "longest_since_ns", workers_ns(longest_since));
}

int telemetry_workers(struct server *s, const char *params, struct rte_tel_data *d) {
	bool anew = params != NULL && strcmp(params, "anew") == 0;
	uint64_t first = 0;

	if (params != NULL && !anew && !telemetry_number(params, s->worker_count, &first))
		return telemetry_complain(d, "allowed: nothing, anew, or the index of the first");
	rte_tel_data_start_dict(d);
	for (unsigned w = (unsigned)first; w < RTE_MIN(s->worker_count, first + PART); w++) {
		struct rte_tel_data *in = telemetry_inner(d, w);

		if (in != NULL)
			put_worker(in, &s->workers[w], anew);
	}
	return 0;
}

static void put_measure(struct rte_tel_data *d, const struct server *s, const char *name,
			const struct server_measure *m) {
	char time[TELEMETRY_NUMBER];

	telemetry_put(d, name, m->on);
	snprintf(time, sizeof(time), "%s_ms", name);
	telemetry_put(d, time, server_measured_ms(s, m));
}

int telemetry_measure(struct server *s, const char *params, struct rte_tel_data *d) {
	if (params != NULL)
		return telemetry_complain(d, "allowed: no parameter");
	rte_tel_data_start_dict(d);
	put_measure(d, s, "cycles", &s->measures.cycles);
	put_measure(d, s, "latency", &s->measures.latency);
	return 0;
}

static void put_drops(struct rte_tel_data *d, const struct counters *c, enum direction direction) {
	for (unsigned r = 0; d != NULL && r < DROP_REASONS; r++) {
		if (drop_in((enum drop_reason)r, direction))
			telemetry_put(d, drop_name((enum drop_reason)r), c->drops[r]);
	}
}

static void put_counters(struct rte_tel_data *d, const struct counters *c,
			 enum direction direction) {
	for (unsigned v = 0; d != NULL && v < COUNTERS; v++) {
		if (counter_in((enum counter)v, direction))
			telemetry_put(d, counter_name((enum counter)v), c->values[v]);
	}
}

int telemetry_drops(struct served_group *g, const char *params, struct rte_tel_data *d) {
	struct counters down;

	if (params != NULL)
		return telemetry_complain(d, "allowed: no parameter");
	downstream_counters(g->downstream, &down);
	rte_tel_data_start_dict(d);
	put_drops(telemetry_inner_named(d, "downstream"), &down, DIRECTION_DOWN);
	put_counters(telemetry_inner_named(d, "downstream_counters"), &down, DIRECTION_DOWN);
	if (g->upstream == NULL)
		return 0;
	put_drops(telemetry_inner_named(d, "upstream"), &g->upstream->counters, DIRECTION_UP);
	put_counters(telemetry_inner_named(d, "upstream_counters"), &g->upstream->counters,
		     DIRECTION_UP);
	return 0;
}
