/* SPDX-License-Identifier: BSD-3-Clause */
#include "coming.h"

#include <stdio.h>
#include <time.h>

#include "footprint.h"
#include "pipeline/percentiles.h"
#include "server/group_life.h"

#define REST_NS 20000000 /* between two of them */

static double work_seconds(void) {
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void rest(void) {
	struct timespec t = {0, REST_NS};

	nanosleep(&t, NULL);
}

static void kind_set(struct coming *c, unsigned kind) {
	for (unsigned w = 0; w < c->bed->server.worker_count; w++)
		__atomic_store_n(&c->bed->loops[w].kind, kind, __ATOMIC_RELAXED);
}

static bool come_and_go(struct coming *c) {
	struct server *s = &c->bed->server;
	double start = footprint_clock(), work = work_seconds();
	char why[LIVE_LINE];
	unsigned group;

	kind_set(c, 0);
	if (!server_group_add(s, c->bed->comes, &group, why)) {
		fprintf(stderr, "%s\n", why);
		return false;
	}
	c->ms[c->count] = (footprint_clock() - start) * 1e3;
	c->work_ms[c->count++] = (work_seconds() - work) * 1e3;
	rest();
	kind_set(c, 1);
	if (!server_group_remove(s, group, 0, why)) {
		fprintf(stderr, "%s\n", why);
		return false;
	}
	rest();
	return true;
}

void coming_beside(void *arg, unsigned milliseconds) {
	struct coming *c = arg;
	double end = footprint_clock() + milliseconds / 1e3;

	while (footprint_clock() < end && c->count < RTE_DIM(c->ms) && !c->failed)
		c->failed = !come_and_go(c);
}

void coming_json(const struct coming *c, json_t *found) {
	json_t *ms = json_array(), *work = json_array();

	for (unsigned i = 0; i < c->count; i++) {
		json_array_append_new(ms, json_real(c->ms[i]));
		json_array_append_new(work, json_real(c->work_ms[i]));
	}
	if (found == NULL) {
		json_decref(ms);
		json_decref(work);
		return;
	}
	json_object_set_new(found, "coming_ms", ms);
	json_object_set_new(found, "coming_work_ms", work);
}
