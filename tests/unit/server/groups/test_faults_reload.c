/* SPDX-License-Identifier: BSD-3-Clause */
/* Each call that may fail does so once in each kind of reload: it is refused and changes nothing, or done as a whole. */
#include "fault_reload.h"

#ifndef VCMTS_NO_IPSEC_MB
#define DEVICE "crypto_aesni_mb3"
#else
#define DEVICE "crypto_openssl3"
#endif

static void fault_open(unsigned there) {
	life_bench_open(bench, there, GROUPS);
}

static void fault_close(void) {
	life_bench_close(bench);
}

static void in_an_edit_of_two_groups(void **state) {
	(void)state;
	fault_open_with(2, 2, 2);
	fault_edit(&others[0]);
	fault_edit(&others[1]);
	fault_close_all("edit of two groups");
}

static void in_groups_that_come(void **state) {
	(void)state;
	fault_open_with(2, 2, 4);
	fault_close_all("two groups that come");
}

/* The port was the first group's own. */
static void in_a_first_neighbour(void **state) {
	(void)state;
	fault_open_with(1, 1, 3);
	fault_edit(&others[0]);
	fault_close_all("groups that come to a group's own ports");
}

/* Both come to ports that are new. */
static void in_groups_with_ports_of_their_own(void **state) {
	(void)state;
	fault_open_with(2, 2, 4);
	for (unsigned g = 2; g < 4; g++) {
		service_group_free(&others[g]);
		life_bench_load(&others[g], g + 1, 1, 0, 1, g == 2 ? 2 : 0);
	}
	fault_close_all("groups that come to new ports");
}

static void in_a_group_that_goes(void **state) {
	(void)state;
	fault_open_with(2, 3, 2);
	fault_edit(&others[0]);
	fault_close_all("a group that goes");
}

/* All of it in one: objects, providers, groups that come and go. */
static void in_all_at_once(void **state) {
	(void)state;
	fault_open_with(2, 3, 4);
	for (unsigned g = 0; g < 2; g++) {
		fault_edit(&others[g]);
		others[g].crypto.provider = CRYPTO_CRYPTODEV;
		others[g].crypto.device = (char *)(uintptr_t)DEVICE;
	}
	service_group_free(&others[2]); /* group 3 goes, 4 comes */
	others[2] = others[3];
	other.group_count = 3;
	fault_close_all("everything at once");
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
