/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of two groups that the client of asking.h asks. */
#pragma once

#include "asking.h"
#include "groups_bench.h"
#include "server/changes.h"

#define GROUPS 2

static const struct groups_threads threads[GROUPS] = {{1, 1, 1}, {1, 2, 3}};
static struct groups_bench storage, *const bench = &storage;
static struct reload reload;
static struct metrics_source metrics;

static inline int begin(void **state) {
	groups_bench_config(bench, GROUPS, threads);
	groups_bench_open(bench);
	reload_open(&reload, &bench->server, "/no/such/file", &(struct server_devices){0});
	metrics = (struct metrics_source){.server = &bench->server, .version = "1"};
	metrics_source_start(&metrics);
	methods =
		(struct methods){.server = &bench->server, .reload = &reload, .metrics = &metrics};
	rpc = methods_rpc(&methods);
	return 0;
}

/* So many packets to the first modem of group 2 pass. */
static inline void pass_packets(unsigned count, size_t size) {
	for (unsigned n = 0; n < count; n++)
		groups_bench_down(bench, 1, 0, n, size);
	groups_bench_settle(bench);
	groups_bench_pass(bench, 1000000);
}

static inline int end(void **state) {
	server_changes_settle(&bench->server);
	reload_free(&reload);
	groups_bench_close(bench);
	answers_free();
	return 0;
}
