/* SPDX-License-Identifier: BSD-3-Clause */
/* The server of two groups that the client of asking.h asks. */
#pragma once

#include "asking.h"
#include "life_kit.h"
#include "server/changes.h"

#define GROUPS 2

static const unsigned workers[GROUPS][3] = {{0, 0, 0}, {0, 1, 2}};
static struct life_kit storage, *const bench = &storage;
static struct reload reload;
static struct metrics_source metrics;

static inline int begin(void **state) {
	life_kit_apart(bench, GROUPS, workers);
	life_kit_serve(bench, 512);
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
		assert_true(life_kit_down(bench, 1, &bench->file[1], size, 2 * n));
	life_kit_settle(bench, 1000000);
}

static inline int end(void **state) {
	server_changes_settle(&bench->server);
	reload_free(&reload);
	life_kit_close(bench);
	answers_free();
	return 0;
}
