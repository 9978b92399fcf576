/* SPDX-License-Identifier: BSD-3-Clause */
#include "adding.h"

#include <stdio.h>

#include "footprint.h"
#include "pipeline/percentiles.h"
#include "server/group_lifecycle.h"
#include "stopwatch.h"

/* Times the addition only. Returns false after a message. */
static bool add_and_remove(struct adding *c) {
	struct server *s = &c->bed->server;
	double start = monotonic_seconds(), work = stopwatch_work();
	char why[LIVE_LINE];
	unsigned group;

	bed_kind_set(c->bed, CHANGE_GROUP_ADD);
	if (!server_group_add(s, c->bed->added, &group, why)) {
		fprintf(stderr, "%s\n", why);
		return false;
	}
	c->ms[c->count] = (monotonic_seconds() - start) * 1e3;
	c->work_ms[c->count++] = (stopwatch_work() - work) * 1e3;
	stopwatch_pause();
	bed_kind_set(c->bed, CHANGE_GROUP_REMOVE);
	if (!server_group_remove(s, group, 0, why)) {
		fprintf(stderr, "%s\n", why);
		return false;
	}
	stopwatch_pause();
	return true;
}

void adding_task(void *arg, unsigned milliseconds) {
	struct adding *c = arg;
	double end = monotonic_seconds() + milliseconds / 1e3;

	do
		c->failed = !add_and_remove(c);
	while (monotonic_seconds() < end && c->count < RTE_DIM(c->ms) && !c->failed);
}

void adding_json(const struct adding *c, json_t *found) {
	stopwatch_json(found, "coming_ms", c->ms, c->count);
	stopwatch_json(found, "coming_work_ms", c->work_ms, c->count);
}
