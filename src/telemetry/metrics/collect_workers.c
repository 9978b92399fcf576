/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of the workers. */
#include "telemetry/metrics/walk.h"

/* Selects the metric of a shared collector. */
enum {
	WORKER_BUSY,
	WORKER_IDLE,
	WORKER_ROUNDS,
	WORKER_BUSY_ROUNDS,
	WORKER_DESCHEDULED,
	WORKER_LONGEST,
	WORKER_PAUSED,
	WORKER_PAUSES,
	WORKER_BOUNDED,
	WORKER_LIMITED,
};

static const char *core_of(const struct server *s, unsigned worker, char text[WALK_ID]) {
	return walk_id(text, s->layout.cores[worker]);
}

static void collect_worker_info(const struct walk *w, const struct metric_entry *entry) {
	const struct server *s = w->source->server;

	for (unsigned i = 0; i < s->worker_count; i++) {
		char worker[WALK_ID], core[WALK_ID];

		walk_put(w, entry, 1,
			 LABELS(walk_id(worker, i), core_of(s, i, core), s->workers[i].name));
	}
}

static void put_worker(const struct walk *w, const struct metric_entry *entry,
		       const struct worker *k, const char *const labels[METRIC_LABELS]) {
	switch (entry->which) {
	case WORKER_BUSY: walk_put_real(w, entry, walk_seconds(k->busy_cycles), labels); break;
	case WORKER_IDLE: walk_put_real(w, entry, walk_seconds(k->idle_cycles), labels); break;
	case WORKER_ROUNDS: walk_put(w, entry, k->rounds, labels); break;
	case WORKER_BUSY_ROUNDS: walk_put(w, entry, k->busy_rounds, labels); break;
	case WORKER_DESCHEDULED: walk_put(w, entry, k->descheduled, labels); break;
	case WORKER_LONGEST: walk_put_real(w, entry, walk_seconds(k->longest), labels); break;
	case WORKER_PAUSED: walk_put_real(w, entry, walk_seconds(k->idle.ticks), labels); break;
	case WORKER_PAUSES: walk_put(w, entry, k->idle.pauses, labels); break;
	case WORKER_BOUNDED: walk_put(w, entry, k->idle.bounded, labels); break;
	case WORKER_LIMITED: walk_put(w, entry, k->idle.limited, labels); break;
	}
}

static void collect_worker(const struct walk *w, const struct metric_entry *entry) {
	const struct server *s = w->source->server;

	for (unsigned i = 0; i < s->worker_count; i++) {
		char worker[WALK_ID], core[WALK_ID];

		put_worker(w, entry, &s->workers[i],
			   LABELS(walk_id(worker, i), core_of(s, i, core)));
	}
}

static void collect_worker_idle(const struct walk *w, const struct metric_entry *entry) {
	const struct server *s = w->source->server;

	for (unsigned i = 0; i < s->worker_count; i++) {
		char worker[WALK_ID], core[WALK_ID];

		walk_put(w, entry, 1,
			 LABELS(walk_id(worker, i), core_of(s, i, core),
				idle_kind_name(s->workers[i].idle.config.kind)));
	}
}

static void collect_umwait(const struct walk *w, const struct metric_entry *entry) {
	const struct server *s = w->source->server;
	char time[WALK_ID];

	if (s->umwait.known)
		walk_put(w, entry, 1,
			 LABELS(walk_id(time, s->umwait.max_time), s->umwait.c02 ? "yes" : "no"));
}

static const struct metric_entry entries[] = {
	METRIC("vcmts_worker_info", GAUGE, "", PLAIN, LABELLED("worker", "core", "runs"),
	       collect_worker_info, 0, "workers with a description of their pipelines: always 1"),
	METRIC("vcmts_worker_busy_seconds_total", COUNTER, "seconds", PLAIN,
	       LABELLED("worker", "core"), collect_worker, WORKER_BUSY,
	       "time of rounds with packets"),
	METRIC("vcmts_worker_idle_seconds_total", COUNTER, "seconds", PLAIN,
	       LABELLED("worker", "core"), collect_worker, WORKER_IDLE,
	       "time of rounds without packets"),
	METRIC("vcmts_worker_rounds_total", COUNTER, "rounds", PLAIN, LABELLED("worker", "core"),
	       collect_worker, WORKER_ROUNDS, "rounds of the polling loop"),
	METRIC("vcmts_worker_busy_rounds_total", COUNTER, "rounds", PLAIN,
	       LABELLED("worker", "core"), collect_worker, WORKER_BUSY_ROUNDS,
	       "rounds with packets"),
	METRIC("vcmts_worker_descheduled_total", COUNTER, "", PLAIN, LABELLED("worker", "core"),
	       collect_worker, WORKER_DESCHEDULED,
	       "rounds longer than 1 ms: the system ran something else on the core, or a "
	       "change took long"),
	METRIC("vcmts_worker_longest_round_seconds", GAUGE, "seconds", PLAIN,
	       LABELLED("worker", "core"), collect_worker, WORKER_LONGEST,
	       "longest round above 1 ms since the start; 0: none"),
	METRIC("vcmts_worker_paused_seconds_total", COUNTER, "seconds", PLAIN,
	       LABELLED("worker", "core"), collect_worker, WORKER_PAUSED,
	       "part of the idle time spent in pauses and sleeps"),
	METRIC("vcmts_worker_pauses_total", COUNTER, "", PLAIN, LABELLED("worker", "core"),
	       collect_worker, WORKER_PAUSES, "number of pauses and sleeps"),
	METRIC("vcmts_worker_pauses_bounded_total", COUNTER, "", PLAIN, LABELLED("worker", "core"),
	       collect_worker, WORKER_BOUNDED, "pauses shortened or omitted because of a due time"),
	METRIC("vcmts_worker_pauses_limited_total", COUNTER, "", PLAIN, LABELLED("worker", "core"),
	       collect_worker, WORKER_LIMITED,
	       "pauses that the kernel's limit ended early (umwait_control)"),
	METRIC("vcmts_worker_idle_info", GAUGE, "", PLAIN, LABELLED("worker", "core", "kind"),
	       collect_worker_idle, 0, "how an idle worker waits: always 1"),
	METRIC("vcmts_umwait_info", GAUGE, "", PLAIN, LABELLED("max_time", "c02"), collect_umwait,
	       0,
	       "the kernel's limits for TPAUSE: TSC cycles per wait (0: no limit), and "
	       "whether C0.2 is allowed; only if the CPU has the instruction"),
};
const struct metric_entries workers_metrics = METRIC_ENTRIES(entries);
