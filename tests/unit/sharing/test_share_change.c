/* SPDX-License-Identifier: BSD-3-Clause */
/* A shared port's table through random changes of its groups, beside one that is made anew of the result. */
#include <stdlib.h>

#include "share_tables.h"

#define CHANGES 4000
#define POOL 6 /* addresses that modems of a group may have: some are those of another group */
#define MOST 2 /* modems that one change is about */

static unsigned numbers[RIG_GROUPS][RIG_MODEMS]; /* of a modem's addresses: each has its own */

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
	anew = share_table_create("test", SHARE_NETWORK, rig->list, rig->count,
				  (char[LIVE_LINE]){0});
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
		cmocka_unit_test(modems_come_and_go),
		cmocka_unit_test(sessions_change),
		cmocka_unit_test(alone_in_a_vlan),
		cmocka_unit_test(one_channel_of_two),
	};

	return cmocka_run_group_tests(tests, rig_begin, rig_end);
}
