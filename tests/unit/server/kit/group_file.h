/* SPDX-License-Identifier: BSD-3-Clause */
/* A server configuration that a test edits and applies again (`reload_accepted`, `reload_refused`).
 * The groups share ports. */
#pragma once

#include "test.h"

#include "model/load/loader.h"
#include "server/reconfigure.h"

#include "fixture.h"
#include "life_kit.h"

#define MS 1000000ull
#define GROUPS 5

static struct life_kit storage, *const kit = &storage;
static struct server *const server = &storage.server;
static struct service_group file_groups[GROUPS];
static struct server_config file = {.groups = file_groups};
static char line[RECONFIGURE_LINE]; /* message of the latest reload */

static inline void free_file_groups(void) {
	for (unsigned g = 0; g < GROUPS; g++)
		service_group_free(&file_groups[g]);
}

/* Loads groups 1 to `count` into the file, each with its own workers. */
static inline void load_file_groups(unsigned count) {
	static const unsigned workers[GROUPS][3] = {
		{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {1, 1, 2}, {0, 1, 1}};

	free_file_groups();
	file.group_count = count;
	for (unsigned g = 0; g < count; g++) {
		const unsigned *w = workers[g];

		life_kit_load(&file_groups[g], g + 1, LIFE_SHARED, w[0], w[1], w[2]);
	}
}

/* Checks that each group forwards all of its packets, and that no packet is dropped. */
static inline void check_all_traffic(void) {
	struct life_totals before = life_kit_totals(kit), after;
	uint64_t up[LIFE_IDS];

	memcpy(up, kit->received_up, sizeof(up));
	for (unsigned g = 0; g < file.group_count; g++) {
		life_kit_send_both(kit, LIFE_SHARED, &file_groups[g], 4);
		life_kit_run(kit, 2 * MS);
	}
	after = life_kit_totals(kit);
	assert_int_equal(after.port_dropped, before.port_dropped);
	assert_int_equal(after.down_dropped, before.down_dropped);
	assert_int_equal(after.up_dropped, before.up_dropped);
	assert_int_equal(after.down_out, before.down_out + 4 * file.group_count);
	for (unsigned g = 0; g < file.group_count; g++)
		assert_int_equal(kit->received_up[file_groups[g].id], up[file_groups[g].id] + 4);
}

/* Applies the file. Returns whether it was accepted; the message is in `line`. */
static inline bool reconfigure(void) {
	return server_reconfigure(server, &file, false, line);
}

static inline void check_reload(bool accepted, const char *expected) {
	if (reconfigure() != accepted || strstr(line, expected) == NULL)
		fail_msg("message: \"%s\", expected: \"%s\"", line, expected);
}

static inline void reload_accepted(const char *expected) {
	check_reload(true, expected);
}

static inline void reload_refused(const char *expected) {
	check_reload(false, expected);
}

/* Opens a server with `groups` groups, and loads a file with the same. */
static inline void open_with_file(unsigned groups) {
	life_kit_open(kit, groups, GROUPS);
	load_file_groups(groups);
}

static int group_file_teardown(void **state) {
	free_file_groups();
	return life_kit_teardown(state);
}
