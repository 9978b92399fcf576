/* SPDX-License-Identifier: BSD-3-Clause */
/* Many modems come to a shared port, and several groups at a time. */
#include "share_tables.h"

#define MANY 4000

/* A group that is to have many modems, other ones in the places of those that it has. */
struct many {
	struct wanted wanted[MANY];
	struct modem modems[MANY];
	struct live_change list[MANY];
	struct live_changes changes;
};

static struct many *many_want(unsigned group) {
	static struct many all[RIG_GROUPS];
	struct many *w = &all[group];

	memset(w->modems, 0, sizeof(w->modems));
	memcpy(w->modems, rig->modems[group], sizeof(rig->modems[group]));
	rig->groups[group].modems = w->modems;
	rig->groups[group].modem_count = MANY;
	for (unsigned m = 0; m < MANY; m++) {
		uint8_t high = (uint8_t)(m / 256), low = (uint8_t)m, g = (uint8_t)group;

		w->wanted[m].addresses[0] = (struct ip_address){4, {10, 90 + g, high, low}};
		w->wanted[m].modem = (struct modem){
			.mac = {2, 9, 0, g, high, low},
			.service_flow_count = 1,
			.addresses = w->wanted[m].addresses,
			.address_count = 1,
		};
		w->list[m] = (struct live_change){.object = LIVE_MODEM, .slot = m};
		w->list[m].modem = &w->wanted[m].modem;
	}
	w->changes = (struct live_changes){.list = w->list, .count = MANY};
	return w;
}

static void many_taken(struct many *w) {
	for (unsigned m = 0; m < w->changes.count; m++)
		w->modems[m] = w->wanted[m].modem;
}

/* More modems than the hash was made for: another one takes its place. Then all go. */
static void the_hash_grows(void **state) {
	struct many *w;

	(void)state;
	rig_prepare(rig, 2);
	w = many_want(1);
	rig_open(rig, SHARE_NETWORK);
	assert_true(change_one(1, &w->changes));
	many_taken(w);
	same_as_anew(SHARE_NETWORK);
	for (unsigned m = 0; m < MANY; m++)
		w->list[m].modem = NULL;
	assert_true(change_one(1, &w->changes));
	assert_int_equal(rte_hash_count(rig->s->table->groups), 3 * RIG_MODEMS);
	rig_close(rig);
}

/* As a server does it: of each group first what goes, then what comes. */
static void change_make(struct share_change *c) {
	while (!share_change_go(c))
		;
	while (!share_change_come(c))
		;
}

/* Three groups with so many other modems, begun in another order than theirs. */
static void several(const unsigned counts[3], bool made) {
	static const unsigned order[] = {2, 0, 1};
	struct share_change *c[3];
	struct many *w[3];
	char why[LIVE_LINE];

	rig_prepare(rig, 3);
	for (unsigned g = 0; g < 3; g++) {
		w[g] = many_want(g);
		w[g]->changes.count = counts[g];
		rig->groups[g].modem_count = RIG_MODEMS; /* the hash is for as many */
	}
	rig_open(rig, SHARE_NETWORK);
	for (unsigned g = 0; g < 3; g++)
		rig->groups[g].modem_count = MANY;
	for (unsigned i = 0; i < 3; i++) {
		unsigned g = order[i];

		assert_int_equal(
			share_change_begin(rig->s, rig->list, 3, g, &w[g]->changes, &c[g], why), 0);
	}
	for (unsigned i = 0; i < 3 && made; i++)
		change_make(c[order[i]]);
	for (unsigned g = 0; g < 3; g++) {
		share_change_end(c[g]);
		if (made)
			many_taken(w[g]);
	}
	same_as_anew(SHARE_NETWORK);
	assert_null(rig->s->changes);
	forgotten(0);
	rig_close(rig);
}

/* Each with more than the hash takes, or all of them together: all of it, or nothing. */
static void several_at_a_time(void **state) {
	static const unsigned counts[][3] = {{MANY, MANY, 1}, {15, 15, 15}};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
		several(counts[i], true);
		several(counts[i], false);
	}
}

/* What another group is to have by a change that is under way is not free, until that is given up. */
static void two_that_contradict(void **state) {
	struct many *w[2];
	struct share_change *first, *second;
	char why[LIVE_LINE];

	(void)state;
	rig_prepare(rig, 2);
	for (unsigned g = 0; g < 2; g++) {
		w[g] = many_want(g);
		w[g]->changes.count = 1;
		w[g]->wanted[0].addresses[0] = (struct ip_address){4, {10, 77, 0, 1}};
	}
	rig_open(rig, SHARE_NETWORK);
	assert_int_equal(share_change_begin(rig->s, rig->list, 2, 0, &w[0]->changes, &first, why),
			 0);
	assert_int_equal(share_change_begin(rig->s, rig->list, 2, 1, &w[1]->changes, &second, why),
			 -1);
	assert_non_null(strstr(why, "found address 10.77.0.1, which service group 1 has"));
	share_change_end(first);
	assert_int_equal(share_change_begin(rig->s, rig->list, 2, 1, &w[1]->changes, &second, why),
			 0);
	share_change_end(second);
	rig_close(rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hash_grows),
		cmocka_unit_test(several_at_a_time),
		cmocka_unit_test(two_that_contradict),
	};

	return cmocka_run_group_tests(tests, rig_begin, rig_end);
}
