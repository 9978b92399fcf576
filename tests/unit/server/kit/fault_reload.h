/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each call that may fail does so once in each kind of reload, and in every other case all allocations behind it fail, too: the
 * reload is refused and changes nothing, or done as a whole.
 */
#pragma once

#define FAULTS_ABOUT 400 /* all calls of a reload */

#include "group_file.h"

#include "fault_runs.h"
#include "steering_bench.h"

#define BY_SOFTWARE STEERED_WAYS

/* A reload of a server that was started with `there` groups and has `first`, to `then` groups that `edit` changes. */
struct fault_case {
	const char *name;
	unsigned there, first, then;
	void (*edit)(void);
	enum steered_by by;
	bool full; /* workers have no space for more lists than they run */
};

static const struct fault_case *tried;
static struct server_config other; /* what the server is to become, and `file` what it is */
static struct service_group others[GROUPS];

/* Objects of each kind differ. */
static inline void edit_group(struct service_group *sg) {
	sg->channels[0].rate /= 2;
	sg->upstream_channels[0].session += 0x10;
	sg->filter_groups[0].rules[0].action = FILTER_PERMIT;
	sg->rate_limit = 123456789;
	sg->modems[0].security.key[0] ^= 1;
	sg->modems[0].addresses[0].bytes[3] += 100;
	sg->modems[1].mac[3] ^= 1; /* one goes, another one comes */
	sg->modems[1].service_flows[0].priority++;
}

static inline void edit_two(void) {
	edit_group(&others[0]);
	edit_group(&others[1]);
}

static inline enum outcome take_other(void *context) {
	(void)context;
	for (unsigned w = 0; w < LIFE_WORKERS && tried->full; w++)
		bench->server.workers[w].entry_room = bench->server.workers[w].entry_count;
	if (server_reconfigure(&bench->server, &other, line))
		return OUTCOME_DONE;
	if (strstr(line, "; nothing was changed") == NULL || strstr(line, ": ;") != NULL)
		fail_msg("found: %s", line);
	life_bench_plug(1); /* what was plugged for it is unplugged again */
	return OUTCOME_REFUSED;
}

static inline void take_back(void *context) {
	(void)context;
	life_bench_plug(1); /* whose devices have gone with their group */
	if (!take_file())
		fail_msg("%s", line);
	life_bench_plug(1);
}

/* The lists of workers have space for all that comes, so that it is not taken for what a refusal leaves behind. */
static inline void case_open(const struct fault_case *c) {
	if (c->by == BY_SOFTWARE) {
		life_bench_open(bench, c->there, GROUPS);
	} else {
		flow_card_reset();
		steering_bench_open(bench, c->by, c->there, GROUPS);
	}
	for (unsigned w = 0; w < LIFE_WORKERS && !c->full; w++)
		assert_int_equal(worker_reserve(&bench->server.workers[w], 200), 0);
	load_next(c->then, false);
	memcpy(others, next, sizeof(others));
	other = file;
	other.groups = others;
	load_next(c->first, false);
	if (c->first > c->there)
		assert_true(take_file());
	if (c->edit != NULL)
		c->edit();
}

static inline void try_cases(const struct fault_case *cases, size_t count) {
	for (size_t i = 0; i < count; i++) {
		const struct operation o = {
			.name = cases[i].name,
			.run = take_other,
			.undo = take_back,
			.serves = all_is_told_apart,
			.keeps_memory = cases[i].full,
			.stays_short = true,
		};

		tried = &cases[i];
		case_open(tried);
		assert_true(every_fault(&o, &bench->server) > 5);
		for (unsigned g = 0; g < other.group_count; g++)
			service_group_free(&others[g]);
		free_next();
		if (tried->by == BY_SOFTWARE)
			life_bench_close(bench);
		else
			steering_bench_close(bench);
	}
}
