/* SPDX-License-Identifier: BSD-3-Clause */
/* Each call that may fail does so once in each kind of reload: it is refused and changes nothing, or done as a whole. */
#include "group_file.h"

#include "fault_runs.h"

#ifndef VCMTS_NO_IPSEC_MB
#define DEVICE "crypto_aesni_mb3"
#else
#define DEVICE "crypto_openssl3"
#endif

static struct server_config other; /* what the server is to become, and `file` what it is */
static struct service_group others[GROUPS];

static enum outcome take_other(void *context) {
	(void)context;
	if (server_reconfigure(&bench->server, &other, line))
		return OUTCOME_DONE;
	if (strstr(line, "; nothing was changed") == NULL)
		fail_msg("found: %s", line);
	life_bench_plug(1); /* what was plugged for it is unplugged again */
	return OUTCOME_REFUSED;
}

static void take_back(void *context) {
	(void)context;
	life_bench_plug(1); /* whose devices have gone with their group */
	if (!take_file())
		fail_msg("%s", line);
	life_bench_plug(1);
}

static void serves(void) {
	all_is_told_apart();
}

/* The lists of workers have space for all that comes, so that it is not taken for what a refusal leaves behind. */
static void open_with(unsigned there, unsigned first, unsigned then) {
	life_bench_open(bench, there, GROUPS);
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

static void close_all(const char *name) {
	const struct operation o = {name, take_other, take_back, serves, NULL, false, false};

	assert_true(every_fault(&o, &bench->server) > 5);
	for (unsigned g = 0; g < other.group_count; g++)
		service_group_free(&others[g]);
	free_next();
	life_bench_close(bench);
}

/* Objects of each kind differ. */
static void edit(struct service_group *sg) {
	sg->channels[0].rate /= 2;
	sg->upstream_channels[0].session += 0x10;
	sg->filter_groups[0].rules[0].action = FILTER_PERMIT;
	sg->rate_limit = 123456789;
	sg->modems[0].security.key[0] ^= 1;
	sg->modems[0].addresses[0].bytes[3] += 100;
	sg->modems[1].mac[3] ^= 1; /* one goes, another one comes */
	sg->modems[1].service_flows[0].priority++;
}

static void in_an_edit_of_two_groups(void **state) {
	(void)state;
	open_with(2, 2, 2);
	edit(&others[0]);
	edit(&others[1]);
	close_all("edit of two groups");
}

static void in_groups_that_come(void **state) {
	(void)state;
	open_with(2, 2, 4);
	close_all("two groups that come");
}

/* The port was the first group's own. */
static void in_a_first_neighbour(void **state) {
	(void)state;
	open_with(1, 1, 3);
	edit(&others[0]);
	close_all("groups that come to a group's own ports");
}

/* Both come to ports that are new. */
static void in_groups_with_ports_of_their_own(void **state) {
	(void)state;
	open_with(2, 2, 4);
	for (unsigned g = 2; g < 4; g++) {
		service_group_free(&others[g]);
		life_bench_load(&others[g], g + 1, 1, 0, 1, g == 2 ? 2 : 0);
	}
	close_all("groups that come to new ports");
}

static void in_a_group_that_goes(void **state) {
	(void)state;
	open_with(2, 3, 2);
	edit(&others[0]);
	close_all("a group that goes");
}

/* All of it in one: objects, providers, groups that come and go. */
static void in_all_at_once(void **state) {
	(void)state;
	open_with(2, 3, 4);
	for (unsigned g = 0; g < 2; g++) {
		edit(&others[g]);
		others[g].crypto.provider = CRYPTO_CRYPTODEV;
		others[g].crypto.device = (char *)(uintptr_t)DEVICE;
	}
	service_group_free(&others[2]); /* group 3 goes, 4 comes */
	others[2] = others[3];
	other.group_count = 3;
	close_all("everything at once");
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_an_edit_of_two_groups),
		cmocka_unit_test(in_groups_that_come),
		cmocka_unit_test(in_a_first_neighbour),
		cmocka_unit_test(in_groups_with_ports_of_their_own),
		cmocka_unit_test(in_a_group_that_goes),
		cmocka_unit_test(in_all_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
