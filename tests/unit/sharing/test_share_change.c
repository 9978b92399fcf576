/* SPDX-License-Identifier: BSD-3-Clause */
/* A shared port's table through random changes of its groups, beside one that is made anew of the result. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "share_rig.h"
#include "sharing/change.h"

#define CHANGES 4000
#define POOL 6 /* addresses that modems of a group may have: some are those of another group */
#define MOST 2 /* modems that one change is about */
#define MANY 4000 /* but for the one that makes the hash grow */

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

/* Which addresses of its modems a change leaves where they are: a bit an address of list[i]. */
static uint8_t stays[MANY];

static bool some_have(const struct live_changes *changes, const struct ip_address *address) {
	for (size_t i = 0; i < changes->count; i++) {
		const struct modem *next = changes->list[i].modem;

		for (size_t a = 0; next != NULL && a < next->address_count; a++)
			if (memcmp(&next->addresses[a], address, sizeof(*address)) == 0)
				return true;
	}
	return false;
}

static void stays_find(unsigned group, const struct live_changes *changes) {
	assert_true(changes->count <= MANY);
	if (rig->s->side == SHARE_RPHY)
		return; /* sessions change there, and no modems */
	for (size_t i = 0; i < changes->count; i++) {
		const struct modem *now = &rig->groups[group].modems[changes->list[i].slot];

		stays[i] = 0;
		for (size_t a = 0; a < now->address_count; a++)
			stays[i] |= (uint8_t)(some_have(changes, &now->addresses[a]) << a);
	}
}

/* Whether the addresses that stay are found for the group, at each moment of the change. */
static void found_still(unsigned group, const struct live_changes *changes) {
	const struct share_table *t = rig->s->table;
	uint8_t vlan = t->vlan_of[rig->groups[group].network.vlan];

	if (rig->s->side == SHARE_RPHY || t->vlans[vlan].group != SHARE_NOBODY)
		return;
	for (size_t i = 0; i < changes->count; i++) {
		const struct modem *now = &rig->groups[group].modems[changes->list[i].slot];

		for (size_t a = 0; a < now->address_count; a++) {
			struct share_key key;
			void *found = NULL;

			if ((stays[i] >> a & 1) == 0)
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

	stays_find(group, changes);
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
	rig_close(rig);
}

/* More modems than the hash was made for: another one takes its place. Then all go. */
static void the_hash_grows(void **state) {
	static struct wanted wanted[MANY];
	static struct modem modems[MANY];
	static struct live_change list[MANY];
	struct live_changes changes = {.list = list, .count = MANY};
	struct share_table *anew;

	(void)state;
	rig_prepare(rig, 2);
	memcpy(modems, rig->modems[1], sizeof(rig->modems[1]));
	rig->groups[1].modems = modems;
	rig->groups[1].modem_count = MANY;
	rig_open(rig, SHARE_NETWORK);
	for (unsigned m = 0; m < MANY; m++) {
		wanted[m].addresses[0] =
			(struct ip_address){4, {10, 9, (uint8_t)(m / 256), (uint8_t)m}};
		wanted[m].modem = (struct modem){
			.mac = {2, 9, 0, 0, (uint8_t)(m / 256), (uint8_t)m},
			.service_flow_count = 1,
			.addresses = wanted[m].addresses,
			.address_count = 1,
		};
		list[m] = (struct live_change){.object = LIVE_MODEM, .slot = m};
		list[m].modem = &wanted[m].modem;
	}
	assert_true(change_one(1, &changes));
	for (unsigned m = 0; m < MANY; m++)
		modems[m] = wanted[m].modem;
	anew = share_table_create("test", SHARE_NETWORK, rig->list, rig->count, stderr);
	same_tables(rig->s->table, anew);
	share_table_free(anew);
	for (unsigned m = 0; m < MANY; m++)
		list[m].modem = NULL;
	assert_true(change_one(1, &changes));
	assert_int_equal(rte_hash_count(rig->s->table->groups), 3 * RIG_MODEMS);
	rig_close(rig);
}

static void session_set(unsigned group, uint32_t session, bool expected) {
	struct upstream_channel next = rig->channels[group];
	struct live_change list[1] = {{.object = LIVE_UPSTREAM_CHANNEL, .slot = 0}};
	struct live_changes changes = {.list = list, .count = 1};
	struct share_table *anew;

	next.session = session;
	list[0].upstream_channel = &next;
	assert_int_equal(change_one(group, &changes), expected);
	if (expected)
		rig->channels[group] = next;
	anew = share_table_create("test", SHARE_RPHY, rig->list, rig->count, stderr);
	same_tables(rig->s->table, anew);
	share_table_free(anew);
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
		cmocka_unit_test(the_hash_grows),
		cmocka_unit_test(sessions_change),
		cmocka_unit_test(alone_in_a_vlan),
	};

	return cmocka_run_group_tests(tests, rig_begin, rig_end);
}
