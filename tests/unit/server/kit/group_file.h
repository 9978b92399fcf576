/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of a file that is read again and again, on ports that they share. */
#pragma once

#include "test.h"

#include "model/load/loader.h"
#include "server/reconfigure.h"

#include "fixture.h"
#include "life_kit.h"

#define MS 1000000ull
#define GROUPS 5

static struct life_kit storage, *const bench = &storage;
static struct server *const server = &storage.server;
static struct service_group next[GROUPS];
static struct server_config file = {.groups = next};
static char line[RECONFIGURE_LINE];

static inline void free_next(void) {
	for (unsigned g = 0; g < GROUPS; g++)
		service_group_free(&next[g]);
}

/* The groups 1, 2, .. */
static inline void load_next(unsigned count) {
	static const unsigned workers[GROUPS][3] = {
		{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {1, 1, 2}, {0, 1, 1}};

	free_next();
	file.group_count = count;
	for (unsigned g = 0; g < count; g++) {
		const unsigned *w = workers[g];

		life_kit_load(&next[g], g + 1, LIFE_SHARED, w[0], w[1], w[2]);
	}
}

/* All traffic of the groups of the file comes through, and none is taken for another one's. */
static inline void all_is_told_apart(void) {
	struct life_totals before = life_kit_totals(bench), after;
	uint64_t up[LIFE_IDS];

	memcpy(up, bench->taken_up, sizeof(up));
	for (unsigned g = 0; g < file.group_count; g++) {
		life_kit_traffic(bench, LIFE_SHARED, &next[g], 4);
		life_kit_pass(bench, 2 * MS);
	}
	after = life_kit_totals(bench);
	assert_int_equal(after.port_dropped, before.port_dropped);
	assert_int_equal(after.down_dropped, before.down_dropped);
	assert_int_equal(after.up_dropped, before.up_dropped);
	assert_int_equal(after.down_out, before.down_out + 4 * file.group_count);
	for (unsigned g = 0; g < file.group_count; g++)
		assert_int_equal(bench->taken_up[next[g].id], up[next[g].id] + 4);
}

static inline bool parse_file(void) {
	return server_reconfigure(server, &file, line);
}

static inline void answers(bool taken, const char *expected) {
	if (parse_file() != taken || strstr(line, expected) == NULL)
		fail_msg("found: %s, and not: %s", line, expected);
}

static inline void reload(const char *expected) {
	answers(true, expected);
}

static inline void refused(const char *expected) {
	answers(false, expected);
}

/* A server with so many groups of the start, and a file of as many. */
static inline void open_with_file(unsigned groups) {
	life_kit_open(bench, groups, GROUPS);
	load_next(groups);
}

/* Of each test. */
static int file_end(void **state) {
	free_next();
	return life_kit_end(state);
}
