/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of several groups read again while workers run: all of it is taken over, or nothing. This file is
 * the loader of it. */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/load/loader.h"
#include "server/reconfigure.h"
#include "server/reload.h"
#include "server/running.h"

#include "fixture.h"
#include "groups_bench.h"

#define GROUPS 3
#define NEW_RATE 900000000

static const struct groups_threads threads[GROUPS] = {{1, 1, 1}, {1, 2, 1}, {2, 2, 3}};

static struct groups_bench storage, *const bench = &storage;
static unsigned groups_in_file = GROUPS;
static void (*edited)(struct service_group *groups); /* since the last time */

static struct server_config loaded;

static void forget(void) {
	for (size_t g = 0; g < loaded.group_count; g++)
		service_group_free(&loaded.groups[g]);
	free(loaded.groups);
	loaded = (struct server_config){0};
}

const struct server_config *server_config_load_again(struct kept_groups **kept, const char *path,
						     const struct server_devices *devices,
						     FILE *errors) {
	(void)kept;
	(void)path;
	(void)devices;
	(void)errors;
	forget();
	loaded.groups = calloc(groups_in_file, sizeof(*loaded.groups));
	loaded.group_count = groups_in_file;
	assert_non_null(loaded.groups);
	for (unsigned g = 0; g < groups_in_file; g++)
		groups_bench_load(&loaded.groups[g], g + 1, &threads[g % GROUPS]);
	if (edited != NULL)
		edited(loaded.groups);
	return &loaded;
}

void server_config_settle(struct kept_groups **kept) {
	(void)kept;
	forget();
}

void server_config_forget(struct kept_groups *kept) {
	(void)kept;
	forget();
}

static void *run(void *worker) {
	worker_run(worker);
	return NULL;
}

static uint64_t rate_of(unsigned group, uint32_t channel) {
	return bench->server.groups[group].downstream->upper.capacity[channel].rate;
}

/* The answer to a file that was edited, and whether it is in service now. */
static bool read_again(struct reload *r, void (*edit)(struct service_group *groups)) {
	bool good;

	edited = edit;
	good = reload_run(r);
	if (!good)
		assert_non_null(strstr(r->line, "nothing was changed"));
	return good;
}

static void edit_one(struct service_group *groups) {
	groups[1].channels[0].rate = NEW_RATE;
}

static void edit_all(struct service_group *groups) {
	for (unsigned g = 0; g < GROUPS; g++)
		groups[g].channels[1].rate = NEW_RATE;
}

/* The last group has a difference that takes a new start. */
static void edit_too_much(struct service_group *groups) {
	groups[0].channels[0].rate = NEW_RATE;
	groups[2].max_frame = 1600;
}

/* The scheduler of the last group refuses what no loader lets pass. */
static void edit_wrongly(struct service_group *groups) {
	groups[0].channels[0].rate = NEW_RATE / 2;
	groups[1].channels[0].rate = NEW_RATE / 3;
	groups[2].channels[1].rate = 1;
}

static void edit_modems(struct service_group *groups) {
	edit_all(groups);
	groups[2].modems[0].mac[5] = 99;
}

static void check_reloads(struct reload *r) {
	const struct served_group *groups = bench->server.groups;

	assert_true(read_again(r, NULL));
	assert_non_null(strstr(r->line, "nothing changed"));
	assert_true(read_again(r, edit_one));
	assert_non_null(strstr(r->line, "service group 2: 1 channel changed"));
	assert_int_equal(rate_of(0, 0), 1000000000);
	assert_int_equal(rate_of(1, 0), NEW_RATE);
	assert_int_equal(groups[1].sg->channels[0].rate, NEW_RATE);
	assert_true(read_again(r, edit_all)); /* the one before has its own again */
	assert_non_null(strstr(r->line, "service group 2: 2 channels changed"));
	assert_int_equal(rate_of(1, 0), 1000000000);
	assert_false(read_again(r, edit_too_much));
	assert_non_null(strstr(r->line, "service group 3: max_frame: "));
	assert_int_equal(rate_of(0, 0), 1000000000);
	assert_false(read_again(r, edit_wrongly));
	assert_non_null(strstr(r->line, "service group 3: channel 2: "));
	for (unsigned g = 0; g < GROUPS; g++) {
		assert_int_equal(rate_of(g, 0), 1000000000);
		assert_int_equal(rate_of(g, 1), NEW_RATE);
	}
	assert_true(read_again(r, edit_modems));
	assert_non_null(strstr(r->line, "service group 3: 1 modem added, 1 modem removed"));
}

static void all_or_nothing(void **state) {
	pthread_t running[GROUPS];
	uint64_t refused;
	struct reload r;

	(void)state;
	groups_bench_config(bench, GROUPS, threads);
	groups_bench_open(bench);
	assert_int_equal(bench->server.worker_count, GROUPS);
	server_start(&bench->server);
	for (unsigned w = 0; w < GROUPS; w++) {
		assert_int_equal(pthread_create(&running[w], NULL, run, &bench->server.workers[w]),
				 0);
	}
	reload_open(&r, &bench->server, "server.yaml", &(struct server_devices){0});
	check_reloads(&r);
	groups_in_file = GROUPS + 1; /* more than max_groups */
	refused = bench->server.refused;
	assert_false(read_again(&r, edit_one)); /* of what is not done nothing is said */
	assert_int_equal(bench->server.refused, refused + 1);
	assert_ptr_equal(strstr(r.line, "service group 4: max_groups: "),
			 r.line + strlen("server.yaml: "));
	groups_in_file = GROUPS - 1;
	assert_true(read_again(&r, NULL));
	assert_non_null(strstr(r.line, "1 service group removed"));
	assert_int_equal(bench->server.gone.groups, 1);
	for (unsigned w = 0; w < GROUPS; w++) {
		worker_stop(&bench->server.workers[w]);
		pthread_join(running[w], NULL);
	}
	server_halted(&bench->server);
	groups_bench_close(bench);
	reload_free(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_or_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
