/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the polling threads. */
#include "telemetry/metrics/walk.h"
#include "telemetry/metrics/which.h"

static const char *core_of(const struct server *s, unsigned worker, char text[WALK_ID]) {
	return walk_id(text, s->layout.cores[worker]);
}

void collect_worker_info(const struct walk *w, const struct metric_row *row) {
	const struct server *s = w->source->server;

	for (unsigned i = 0; i < s->worker_count; i++) {
		char worker[WALK_ID], core[WALK_ID];

		walk_put(w, row, 1,
			 LABELS(walk_id(worker, i), core_of(s, i, core), s->workers[i].name));
	}
}

static void put_worker(const struct walk *w, const struct metric_row *row, const struct worker *k,
		       const char *const labels[METRIC_LABELS]) {
	switch (row->which) {
	case WORKER_BUSY: walk_put_real(w, row, walk_seconds(k->busy_cycles), labels); break;
	case WORKER_IDLE: walk_put_real(w, row, walk_seconds(k->idle_cycles), labels); break;
	case WORKER_ROUNDS: walk_put(w, row, k->rounds, labels); break;
	case WORKER_BUSY_ROUNDS: walk_put(w, row, k->busy_rounds, labels); break;
	case WORKER_DESCHEDULED: walk_put(w, row, k->descheduled, labels); break;
	case WORKER_LONGEST: walk_put_real(w, row, walk_seconds(k->longest), labels); break;
	case WORKER_PAUSED: walk_put_real(w, row, walk_seconds(k->idle.ticks), labels); break;
	case WORKER_PAUSES: walk_put(w, row, k->idle.pauses, labels); break;
	case WORKER_BOUNDED: walk_put(w, row, k->idle.bounded, labels); break;
	case WORKER_LIMITED: walk_put(w, row, k->idle.limited, labels); break;
	}
}

void collect_worker(const struct walk *w, const struct metric_row *row) {
	const struct server *s = w->source->server;

	for (unsigned i = 0; i < s->worker_count; i++) {
		char worker[WALK_ID], core[WALK_ID];

		put_worker(w, row, &s->workers[i], LABELS(walk_id(worker, i), core_of(s, i, core)));
	}
}

void collect_worker_idle(const struct walk *w, const struct metric_row *row) {
	const struct server *s = w->source->server;

	for (unsigned i = 0; i < s->worker_count; i++) {
		char worker[WALK_ID], core[WALK_ID];

		walk_put(w, row, 1,
			 LABELS(walk_id(worker, i), core_of(s, i, core),
				idle_kind_name(s->workers[i].idle.config.kind)));
	}
}

void collect_umwait(const struct walk *w, const struct metric_row *row) {
	const struct server *s = w->source->server;
	char time[WALK_ID];

	if (s->umwait.known)
		walk_put(w, row, 1,
			 LABELS(walk_id(time, s->umwait.max_time), s->umwait.c02 ? "yes" : "no"));
}
