/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of several groups read again: all of it is applied, or nothing. This file is the loader of it. */
#include "group_file.h"
#include "test_main.h"

#include "server/reload.h"

#define OLD_RATE 1000000000
#define NEW_RATE 900000000

const struct server_config *server_config_load_again(struct kept_groups **kept, const char *path,
						     const struct server_devices *devices,
						     FILE *errors) {
	return &file;
}

void server_config_settle(struct kept_groups **kept) {
}

void server_config_forget(struct kept_groups *kept) {
}

/* What a file of so many groups differs by from that of the start. */
struct edit {
	unsigned groups;
	uint64_t rate; /* of the first group's channel; 0: as at the start */
	bool too_much; /* the second group has a difference that takes a new start */
	bool wrong; /* the scheduler of the second group refuses what no loader lets pass */
};

/* The answer to a file that was edited, and whether it is in service now. */
static bool read_again(struct reload *r, const struct edit *e) {
	bool good;

	load_next(e->groups);
	if (e->rate != 0)
		next[0].channels[0].rate = e->rate;
	if (e->too_much)
		next[1].max_frame = 1600;
	if (e->wrong)
		next[1].channels[1].rate = 1;
	good = reload_run(r);
	if (!good)
		assert_non_null(strstr(r->line, "nothing was changed"));
	free_next();
	return good;
}

static const struct edit as_it_is = {.groups = 2}, one_rate = {.groups = 2, .rate = NEW_RATE},
			 too_much = {.groups = 2, .rate = OLD_RATE / 2, .too_much = true},
			 wrong = {.groups = 2, .rate = OLD_RATE / 3, .wrong = true},
			 too_many = {.groups = 3}, one_less = {.groups = 1};

static const struct {
	const struct edit *edit;
	bool good;
	const char *said;
	uint64_t rate; /* of the first group's channel, then */
} files[] = {
	{&as_it_is, true, "nothing changed", OLD_RATE},
	{&one_rate, true, "service group 1: 1 channel changed", NEW_RATE},
	{&too_much, false, "service group 2: max_frame: ", NEW_RATE},
	{&wrong, false, "service group 2: channel 2: ", NEW_RATE},
	{&too_many, false, "server.yaml: service group 3: max_groups: ", NEW_RATE},
	{&one_less, true, "1 service group removed", OLD_RATE},
};

static void begin(struct reload *r) {
	life_bench_open(bench, 2, 2);
	reload_open(r, &bench->server, "server.yaml", &(struct server_devices){0});
}

TEST(all_or_nothing) {
	const struct downstream *first;
	uint64_t not_done = 0;
	struct reload r;

	begin(&r);
	first = bench->server.groups[0].downstream;
	for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
		assert_int_equal(read_again(&r, files[i].edit), files[i].good);
		if (strstr(r.line, files[i].said) == NULL)
			fail_msg("found: %s", r.line);
		assert_int_equal(first->upper.capacity[0].rate, files[i].rate);
		not_done += !files[i].good;
		assert_int_equal(bench->server.refused, not_done);
	}
	assert_int_equal(bench->server.gone.groups, 1);
	life_bench_close(bench);
	reload_free(&r);
}

ALL_TESTS(NULL, fixture_stop)
