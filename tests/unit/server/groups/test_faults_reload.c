/* SPDX-License-Identifier: BSD-3-Clause */
/* Reloads of groups that software tells apart, of which each call fails once. */
#include "fault_reload.h"
#include "test_main.h"

#ifndef VCMTS_NO_IPSEC_MB
#define DEVICE "crypto_aesni_mb3"
#else
#define DEVICE "crypto_openssl3"
#endif

static void edit_first(void) {
	edit_group(&others[0]);
}

static void place(unsigned g, unsigned pair, unsigned upper, unsigned lower, unsigned upstream) {
	service_group_free(&others[g]);
	life_bench_load(&others[g], g + 1, pair, upper, lower, upstream);
}

static void new_ports(void) {
	place(2, 1, 0, 1, 2);
	place(3, 1, 0, 1, 0);
}

/* Those of the ports that it shares from then on need space there, too. */
static void alone_on_a_worker(void) {
	place(1, LIFE_SHARED, 1, 1, 1);
}

/* Objects, providers, groups that come and go. */
static void all_at_once(void) {
	edit_two();
	for (unsigned g = 0; g < 2; g++) {
		others[g].crypto.provider = CRYPTO_CRYPTODEV;
		others[g].crypto.device = (char *)(uintptr_t)DEVICE;
	}
	service_group_free(&others[2]); /* group 3 goes, 4 comes */
	others[2] = others[3];
	other.group_count = 3;
}

static const struct fault_case cases[] = {
	{"edit of two groups", 2, 2, 2, edit_two, BY_SOFTWARE, false},
	{"two groups that come", 2, 2, 4, NULL, BY_SOFTWARE, false},
	{"groups that come to a group's own ports", 1, 1, 3, edit_first, BY_SOFTWARE, false},
	{"groups that come to new ports", 2, 2, 4, new_ports, BY_SOFTWARE, false},
	{"a group that comes to full workers", 1, 1, 2, alone_on_a_worker, BY_SOFTWARE, true},
	{"a group that goes", 2, 3, 2, edit_first, BY_SOFTWARE, false},
	{"everything at once", 2, 3, 4, all_at_once, BY_SOFTWARE, false},
};

TEST(in_each_kind_of_reload) {
	try_cases(cases, ARRAY_COUNT(cases));
}

/* The group that comes needs the first ring to the shared port. Until it has come, none is left of any attempt. */
TEST(refused_beside_a_new_ring) {
	const struct server *s = &bench->server;
	const struct port_share *share;
	bool done = false;
	char *before;
	long n = 0;

	life_bench_open(bench, 1, GROUPS);
	assert_int_equal(server_move_group(&bench->server, 0, PART_UPPER | PART_LOWER, 2), 0);
	load_next(3, false);
	service_group_free(&next[1]);
	life_bench_load(&next[1], 2, LIFE_SHARED, 2, 2, 2);
	file.group_count = 2;
	reload("1 service group added");
	share = s->shares.of[s->ports.of[0][DEVICE_NETWORK]];
	assert_null(share->send.ring);
	file.group_count = 3;
	before = served_state(s, true);
	for (; !done; n++) {
		char *now;

		faults_stay_short(n % 2 == 1);
		faults_begin(n);
		done = take_file();
		faults_end();
		now = served_state(s, true);
		if (!done)
			served_state_check(before, now, "a new ring");
		free(now);
	}
	assert_true(n > 50);
	assert_non_null(share->send.ring);
	all_is_told_apart();
	free(before);
	close_with_file();
}

static void small_device(unsigned pairs) {
	static char name[64];

	snprintf(name, sizeof(name), "crypto_openssl7,max_nb_queue_pairs=%u", pairs);
	for (unsigned g = 0; g < 2; g++) {
		next[g].crypto.provider = CRYPTO_CRYPTODEV;
		next[g].crypto.device = name;
	}
}

/* One reload edits modems of two groups, removes a third group and moves both to a device that has queues for one of them
 * and a half: it is refused, and everything is as it was. The same device is opened anew when the file names it otherwise. */
TEST(refused_for_the_second_group) {
	char *before, *now;

	life_bench_open(bench, 2, GROUPS);
	load_next(3, false);
	reload("1 service group added");
	before = served_state(&bench->server, true);
	file.group_count = 2;
	for (unsigned g = 0; g < 2; g++)
		next[g].modems[1].service_flows[0].priority++;
	small_device(3);
	for (unsigned tries = 0; tries < 3; tries++) {
		refused("service group 2: crypto.provider: crypto_openssl7 has no queue left");
		assert_non_null(strstr(line, "; nothing was changed"));
		now = served_state(&bench->server, true);
		served_state_check(before, now, "a device that is too small");
		free(now);
	}
	free(before);
	file.group_count = 3;
	all_is_told_apart();
	file.group_count = 2;
	small_device(4);
	reload("service group 2: crypto provider changed; 1 service group removed");
	all_is_told_apart();
	file.group_count = 3;
	close_with_file();
}

ALL_TESTS(NULL, fixture_stop)
