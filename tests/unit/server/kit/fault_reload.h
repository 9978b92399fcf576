/* SPDX-License-Identifier: BSD-3-Clause */
/* Reloads of which one call fails each time. */
#pragma once

#include "group_file.h"

#include "fault_runs.h"

static struct server_config other; /* what the server is to become, and `file` what it is */
static struct service_group others[GROUPS];

static inline enum outcome take_other(void *context) {
	(void)context;
	if (server_reconfigure(&bench->server, &other, line))
		return OUTCOME_DONE;
	if (strstr(line, "; nothing was changed") == NULL)
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

static inline void serves(void) {
	all_is_told_apart();
}

/* How a test opens and closes the server of as many groups. */
static void fault_open(unsigned there);
static void fault_close(void);

/* The lists of workers have space for all that comes, so that it is not taken for what a refusal leaves behind. */
static inline void fault_open_with(unsigned there, unsigned first, unsigned then) {
	fault_open(there);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		assert_int_equal(worker_reserve(&bench->server.workers[w], 200), 0);
	load_next(then, false);
	memcpy(others, next, sizeof(others));
	other = file;
	other.groups = others;
	load_next(first, false);
	if (first > there)
		assert_true(take_file());
}

static inline void fault_close_all(const char *name) {
	const struct operation o = {name, take_other, take_back, serves, NULL, false, false};

	assert_true(every_fault(&o, &bench->server) > 5);
	for (unsigned g = 0; g < other.group_count; g++)
		service_group_free(&others[g]);
	free_next();
	fault_close();
}

/* Objects of each kind differ. */
static inline void fault_edit(struct service_group *sg) {
	sg->channels[0].rate /= 2;
	sg->upstream_channels[0].session += 0x10;
	sg->filter_groups[0].rules[0].action = FILTER_PERMIT;
	sg->rate_limit = 123456789;
	sg->modems[0].security.key[0] ^= 1;
	sg->modems[0].addresses[0].bytes[3] += 100;
	sg->modems[1].mac[3] ^= 1; /* one goes, another one comes */
	sg->modems[1].service_flows[0].priority++;
}
