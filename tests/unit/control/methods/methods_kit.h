/* SPDX-License-Identifier: BSD-3-Clause */
/* A server of two groups, whose methods methods_client.h calls. */
#pragma once

#include "life_kit.h"
#include "methods_client.h"
#include "server/changes.h"

#define GROUPS 2

static const unsigned group_workers[GROUPS][3] = {{0, 0, 0}, {0, 1, 2}};
static struct life_kit storage, *const bench = &storage;
static struct reload reload;
static struct metrics_source metrics;

static inline int start_server(void **state) {
	life_kit_configure_separate(bench, GROUPS, group_workers);
	life_kit_serve(bench, 512);
	reload_open(&reload, &bench->server, "/no/such/file", &(struct server_devices){0});
	metrics = (struct metrics_source){.server = &bench->server, .version = "1"};
	metrics_source_start(&metrics);
	methods =
		(struct methods){.server = &bench->server, .reload = &reload, .metrics = &metrics};
	rpc = methods_rpc(&methods);
	return 0;
}

/* Sends `count` packets to the first modem of group 2 and processes them. */
static inline void pass_packets(unsigned count, size_t size) {
	for (unsigned n = 0; n < count; n++)
		assert_true(life_kit_send_packet(bench, 1, &bench->file[1], size, 2 * n));
	life_kit_settle(bench, 1000000);
}

static inline int stop_server(void **state) {
	server_changes_settle(&bench->server);
	reload_free(&reload);
	life_kit_close(bench);
	free_answers();
	return 0;
}
