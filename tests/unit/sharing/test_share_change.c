/* SPDX-License-Identifier: BSD-3-Clause */
/* A shared port's table through random changes of its groups, beside one that is made anew of the result. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "share_rig.h"
#include "sharing/change.h"
#include "sharing/forget.h"

#define CHANGES 4000
#define POOL 6 /* addresses that modems of a group may have: some are those of another group */
#define MOST 2 /* modems that one change is about */

static struct share_rig storage, *const rig = &storage;
static unsigned numbers[RIG_GROUPS][RIG_MODEMS]; /* of a modem's addresses: each has its own */

/* What a modem of a change is to be, and its addresses. */
struct wanted {
	struct modem modem;
	struct ip_address addresses[2];
};

static unsigned roll(unsigned sides) {
	return (unsigned)(rand() % (int)sides);
}

static struct ip_address address_of(unsigned group, unsigned number) {
	return (struct ip_address){4, {10, 0, (uint8_t)(number < 2 ? 99 : group), (uint8_t)number}};
}

/* The first numbers are in all groups. */
static void modem_want(struct wanted *w, unsigned group, unsigned slot, unsigned numbers_of) {
	w->modem = (struct modem){
		.mac = {2, 1, 0, 0, (uint8_t)(roll(8) == 0 ? 9 : group), (uint8_t)slot},
		.service_flow_count = 1,
		.addresses = w->addresses,
		.address_count = roll(3),
	};
	for (unsigned a = 0; a < 2; a++)
		w->addresses[a] = address_of(group, numbers_of * 2 + a);
}

static void modem_put(unsigned group, unsigned slot, const struct modem *m) {
	struct modem *place = &rig->modems[group][slot];

	if (m == NULL) {
		*place = (struct modem){0};
		return;
	}
	*place = *m;
	memcpy(rig->addresses[group][slot], m->addresses, sizeof(rig->addresses[group][slot]));
	place->addresses = rig->addresses[group][slot];
}

/* Whether the keys of both tables tell the same. */
static void same_tables(const struct share_table *a, const struct share_table *b) {
	const void *stored; /* not aligned as a key is */
	struct share_key key;
	uint32_t at = 0;
	void *groups, *others;

	if (a->groups == NULL || b->groups == NULL) {
		assert_ptr_equal(a->groups, b->groups);
		return;
	}
	assert_int_equal(rte_hash_count(a->groups), rte_hash_count(b->groups));
	while (rte_hash_iterate(a->groups, &stored, &groups, &at) >= 0) {
		memcpy(&key, stored, sizeof(key));
		assert_true(rte_hash_lookup_data(b->groups, &key, &others) >= 0);
		assert_ptr_equal(groups, others);
	}
}

/* Whether both modems' addresses, of those that live on, are found for the group. */
static void found_still(unsigned group, const struct live_changes *changes) {
	const struct share_table *t = rig->s->table;
	uint8_t vlan = t->vlan_of[rig->groups[group].network.vlan];

	if (rig->s->side == SHARE_RPHY || t->vlans[vlan].group != SHARE_NOBODY)
		return;
	for (size_t i = 0; i < changes->count; i++) {
		const struct modem *now = &rig->groups[group].modems[changes->list[i].slot];

		for (size_t a = 0; a < now->address_count; a++) {
			bool stays = false;
			struct share_key key;
			void *found = NULL;

			for (size_t j = 0; j < changes->count; j++) {
				const struct modem *next = changes->list[j].modem;

				for (size_t b = 0; next != NULL && b < next->address_count; b++)
					stays |= memcmp(&next->addresses[b], &now->addresses[a],
							sizeof(next->addresses[b])) == 0;
			}
			if (!stays)
				continue;
			share_key_set(&key, SHARE_IPV4, vlan, now->addresses[a].bytes, 4);
			assert_true(rte_hash_lookup_data(t->groups, &key, &found) >= 0);
			assert_true(((uintptr_t)found >> group & 1) != 0);
		}
	}
}

/* Does it, and returns whether it was taken. */
static bool change_one(unsigned group, struct live_changes *changes) {
	char why[LIVE_LINE] = "";
	struct share_change *c;

	if (share_change_begin(rig->s, rig->list, rig->count, group, changes, &c, why) != 0) {
		assert_null(c);
		assert_true(why[0] != '\0' && strchr(why, '\n') == NULL);
		return false;
	}
	while (c != NULL && !share_change_come(c))
		found_still(group, changes);
	found_still(group, changes);
	while (c != NULL && !share_change_go(c))
		found_still(group, changes);
	found_still(group, changes);
	share_change_end(c);
	return true;
}

/* What the change makes of the group; the modems that were there before, for who takes it back. */
static void change_apply(unsigned group, const struct live_changes *changes,
			 struct wanted before[MOST]) {
	for (size_t i = 0; i < changes->count; i++) {
		unsigned slot = changes->list[i].slot;

		before[i].modem = rig->modems[group][slot];
		memcpy(before[i].addresses, rig->addresses[group][slot],
		       sizeof(before[i].addresses));
		before[i].modem.addresses = before[i].addresses;
		modem_put(group, slot, changes->list[i].modem);
	}
}

static void swap(unsigned *a, unsigned *b) {
	unsigned c = *a;

	*a = *b;
	*b = c;
}

static void random_change(unsigned *taken, unsigned *refused) {
	struct wanted wanted[MOST], before[MOST];
	struct live_change list[MOST];
	struct live_changes changes = {.list = list, .count = 1 + roll(MOST)};
	unsigned group = roll(rig->count), first = roll(RIG_MODEMS);
	unsigned swapped = changes.count == 2 ? roll(2) : 0;
	struct share_table *anew;
	bool good;

	for (unsigned i = 0; i < changes.count; i++) {
		unsigned slot = (first + i) % RIG_MODEMS;
		unsigned other = (first + (i ^ swapped)) % RIG_MODEMS;

		modem_want(&wanted[i], group, slot, numbers[group][other]);
		list[i] = (struct live_change){.object = LIVE_MODEM, .slot = slot};
		list[i].modem = roll(4) == 0 ? NULL : &wanted[i].modem;
	}
	good = change_one(group, &changes);
	change_apply(group, &changes, before);
	anew = share_table_create("test", SHARE_NETWORK, rig->list, rig->count, stderr);
	assert_int_equal(good, anew != NULL);
	if (!good)
		for (unsigned i = 0; i < changes.count; i++)
			modem_put(group, list[i].slot, &before[i].modem);
	else
		same_tables(rig->s->table, anew);
	if (good && swapped)
		swap(&numbers[group][first], &numbers[group][(first + 1) % RIG_MODEMS]);
	share_table_free(anew);
	(*(good ? taken : refused))++;
}

static void same_as_anew(enum share_side side) {
	struct share_table *anew = share_table_create("test", side, rig->list, rig->count, stderr);

	same_tables(rig->s->table, anew);
	share_table_free(anew);
}

/* Taken out of the table as it is, a group is as if it had not been. */
static void forgotten(unsigned group) {
	struct share_forgetting f = {.share = rig->s, .group = group};
	const struct service_group *was = rig->list[group];

	while (!share_forget(&f))
		;
	rig->list[group] = NULL;
	same_as_anew(SHARE_NETWORK);
	rig->list[group] = was;
}

static void modems_come_and_go(void **state) {
	unsigned taken = 0, refused = 0;

	(void)state;
	srand(13);
	rig_prepare(rig, 4);
	rig->groups[0].network.vlan = rig->groups[1].network.vlan = 7;
	rig->groups[2].network.has_mac = rig->groups[3].network.has_mac = true;
	rig->groups[2].network.vlan = rig->groups[3].network.vlan = 7;
	rig_mac(2, 2, rig->groups[2].network.mac);
	rig_mac(3, 2, rig->groups[3].network.mac);
	for (unsigned g = 0; g < 4; g++) {
		for (unsigned m = 0; m < RIG_MODEMS; m++) {
			rig->modems[g][m].address_count = 0;
			numbers[g][m] = m;
		}
	}
	rig_open(rig, SHARE_NETWORK);
	for (unsigned i = 0; i < CHANGES; i++)
		random_change(&taken, &refused);
	assert_true(taken > CHANGES / 2);
	assert_true(refused > CHANGES / 100);
	forgotten(1);
	rig_close(rig);
}

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

static void session_set(unsigned group, uint32_t session, bool expected) {
	struct upstream_channel next = rig->channels[group];
	struct live_change list[1] = {{.object = LIVE_UPSTREAM_CHANNEL, .slot = 0}};
	struct live_changes changes = {.list = list, .count = 1};

	next.session = session;
	list[0].upstream_channel = &next;
	assert_int_equal(change_one(group, &changes), expected);
	if (expected)
		rig->channels[group] = next;
	same_as_anew(SHARE_RPHY);
}

/* A session that repeats is told by the MAC address; where that repeats, too, it is refused. */
static void sessions_change(void **state) {
	(void)state;
	rig_prepare(rig, 3);
	rig_mac(0, 1, rig->groups[1].rphy.core_mac);
	rig_open(rig, SHARE_RPHY);
	session_set(2, 0x777, true);
	assert_false(rig->s->table->vlans[0].by_mac);
	session_set(0, 0x777, true);
	assert_true(rig->s->table->vlans[0].by_mac);
	session_set(1, 0x777, false);
	session_set(0, 0x778, true);
	assert_false(rig->s->table->vlans[0].by_mac);
	session_set(1, 0x777, true);
	rig_close(rig);
}

/* Of several channels one changes: the others are as they were. */
static void one_channel_of_two(void **state) {
	struct upstream_channel channels[2];

	(void)state;
	rig_prepare(rig, 2);
	channels[0] = channels[1] = rig->channels[1];
	channels[1].session = 0x555;
	channels[1].request_session = channels[1].ranging_session = 0;
	rig->groups[1].upstream_channels = channels;
	rig->groups[1].upstream_channel_count = 2;
	rig_open(rig, SHARE_RPHY);
	for (uint32_t session = 0x777; session < 0x779; session++) {
		struct upstream_channel next = channels[0];
		struct live_change list[1] = {{.object = LIVE_UPSTREAM_CHANNEL, .slot = 0}};
		struct live_changes changes = {.list = list, .count = 1};

		next.session = session;
		list[0].upstream_channel = &next;
		assert_true(change_one(1, &changes));
		channels[0] = next;
		same_as_anew(SHARE_RPHY);
	}
	rig_close(rig);
}

/* What a VLAN tells alone needs no addresses. */
static void alone_in_a_vlan(void **state) {
	struct wanted wanted;
	struct live_change list[1] = {{.object = LIVE_MODEM, .slot = 0}};
	struct live_changes changes = {.list = list, .count = 1};
	char why[LIVE_LINE];
	struct share_change *c;

	(void)state;
	rig_prepare(rig, 2);
	rig->groups[1].network.vlan = 3;
	rig_open(rig, SHARE_NETWORK);
	modem_want(&wanted, 1, 0, 0);
	list[0].modem = &wanted.modem;
	assert_int_equal(share_change_begin(rig->s, rig->list, 2, 1, &changes, &c, why), 0);
	assert_null(c);
	rig_close(rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modems_come_and_go), cmocka_unit_test(the_hash_grows),
		cmocka_unit_test(several_at_a_time),  cmocka_unit_test(two_that_contradict),
		cmocka_unit_test(sessions_change),    cmocka_unit_test(alone_in_a_vlan),
		cmocka_unit_test(one_channel_of_two),
	};

	return cmocka_run_group_tests(tests, rig_begin, rig_end);
}
