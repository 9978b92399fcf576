/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of a shared port that overlap: some are prepared, some half taken, some retiring, of several groups, and
 * they end in any order. Once the steps of all are done, the table is that of the configuration.
 */
#include "test_main.h"

#include "random.h"
#include "share_kit.h"
#include "sharing/change.h"
#include "sharing/forget.h"

#define SLOTS 44 /* modems of a group */
#define CHANNELS 4 /* upstream channels of a group */
#define MOST 3 /* objects that one change is about */
#define FLYING 12 /* changes at a time */
#define STEPS 3000

struct object {
	struct modem modem;
	struct upstream_channel channel;
	struct ip_address addresses[SG_MAX_MODEM_ADDRESSES];
};

struct flight {
	struct share_change *change; /* NULL: it means nothing to the port */
	unsigned group;
	bool prepared, begun,
		gone; /* not taken yet; a step was done; share_change_remove() is done */
	struct live_change list[MOST];
	struct live_changes changes;
	struct object objects[MOST];
};

static struct share_kit storage, *const rig = &storage;
/* What is in service, and the changes by age. */
static struct modem modems[RIG_GROUPS][SLOTS];
static struct ip_address addresses[RIG_GROUPS][SLOTS][SG_MAX_MODEM_ADDRESSES];
static struct upstream_channel channels[RIG_GROUPS][CHANNELS];
static struct flight *flights[FLYING];
static unsigned flying;
static struct random dice;

/* Taken out of the table as it is, a group is as if it had not been. */
static void forgotten(unsigned group) {
	struct share_forgetting f = {.share = rig->s, .group = group};

	while (!share_forget(&f))
		;
	rig->list[group] = NULL;
	rig_same_table(rig, false);
}

static unsigned roll(unsigned n) {
	return random_below(&dice, n);
}

/* Two that have MAC addresses, one that its VLAN tells, and two with one MAC address at the R-PHY port, so that sessions
 * which repeat in both are refused. */
static void open_rig(enum share_side side) {
	rig_prepare(rig, RIG_GROUPS);
	for (unsigned g = 2; g < 4; g++) {
		rig->groups[g].network.has_mac = true;
		rig_mac(g, 2, rig->groups[g].network.mac);
	}
	rig->groups[4].network.vlan = rig->groups[4].rphy_port.vlan = 9;
	rig_mac(0, 1, rig->groups[1].rphy.core_mac);
	memset(modems, 0, sizeof(modems));
	memset(channels, 0, sizeof(channels));
	for (unsigned g = 0; g < RIG_GROUPS; g++) {
		memcpy(modems[g], rig->modems[g], sizeof(rig->modems[g]));
		channels[g][0] = rig->channels[g];
		rig->groups[g].modems = modems[g];
		rig->groups[g].upstream_channels = channels[g];
		rig->groups[g].upstream_channel_count = CHANNELS;
	}
	rig_open(rig, side);
	for (unsigned g = 0; g < RIG_GROUPS; g++)
		rig->groups[g].modem_count = SLOTS;
}

/* The `first`th and later addresses of a modem, which no other modem of the group has. */
static void modem_fill(struct object *o, unsigned group, unsigned slot, unsigned first,
		       unsigned count) {
	for (unsigned a = 0; a < count; a++)
		o->addresses[a] = (struct ip_address){
			4, {10, (uint8_t)(100 + group), (uint8_t)slot, (uint8_t)(first + a)}};
	o->modem = (struct modem){
		.mac = {2, 9, 0, 0, (uint8_t)group, (uint8_t)slot},
		.service_flow_count = 1,
		.addresses = o->addresses,
		.address_count = count,
	};
}

static struct object *flight_add(struct flight *f, enum live_object kind, unsigned slot) {
	struct live_change *l = &f->list[f->changes.count];

	*l = (struct live_change){.object = kind, .slot = slot};
	return &f->objects[f->changes.count++];
}

/* It is in service. */
static void flight_taken(struct flight *f) {
	f->prepared = false;
	for (size_t i = 0; i < f->changes.count; i++) {
		const struct live_change *l = &f->list[i];
		unsigned g = f->group, slot = l->slot;

		if (l->object == LIVE_UPSTREAM_CHANNEL) {
			channels[g][slot] = l->next == NULL ? (struct upstream_channel){0}
							    : *l->upstream_channel;
			continue;
		}
		modems[g][slot] = l->next == NULL ? (struct modem){0} : *l->modem;
		modems[g][slot].addresses = addresses[g][slot];
		memcpy(addresses[g][slot], f->objects[i].addresses, sizeof(addresses[g][slot]));
	}
}

/* Whether the groups can be told apart when the flight is in service beside what is now. */
static bool can_be_taken(struct flight *f) {
	static struct modem modems_now[SLOTS];
	static struct ip_address addresses_now[SLOTS][SG_MAX_MODEM_ADDRESSES];
	struct upstream_channel channels_now[CHANNELS];
	struct share_table *t;

	memcpy(modems_now, modems[f->group], sizeof(modems_now));
	memcpy(addresses_now, addresses[f->group], sizeof(addresses_now));
	memcpy(channels_now, channels[f->group], sizeof(channels_now));
	flight_taken(f);
	t = rig_table(rig);
	memcpy(modems[f->group], modems_now, sizeof(modems_now));
	memcpy(addresses[f->group], addresses_now, sizeof(addresses_now));
	memcpy(channels[f->group], channels_now, sizeof(channels_now));
	share_table_free(t);
	return t != NULL;
}

/* Returns whether it was not refused. */
static bool flight_prepare(struct flight *f) {
	bool known = flying == 0, can = known && can_be_taken(f), good;
	char why[LIVE_LINE] = "";

	f->prepared = true;
	good = share_change_begin(rig->s, rig->list, rig->count, f->group, &f->changes, &f->change,
				  why) == 0;
	if (known)
		assert_int_equal(good, can);
	if (good) {
		flights[flying++] = f;
		return true;
	}
	assert_null(f->change);
	assert_true(why[0] != '\0' && strchr(why, '\n') == NULL);
	free(f);
	return false;
}

static bool has_address(const struct modem *m, const struct ip_address *address) {
	for (size_t a = 0; a < m->address_count; a++) {
		if (memcmp(&m->addresses[a], address, sizeof(*address)) == 0)
			return true;
	}
	return false;
}

/* Addresses that a change leaves to a modem are found for its group at each moment of the change. */
static void check_kept(const struct flight *f) {
	const struct share_table *t = rig->s->table;
	uint8_t vlan = t->vlan_of[rig->groups[f->group].network.vlan];

	for (size_t i = 0; i < f->changes.count; i++) {
		const struct live_change *l = &f->list[i];
		const struct modem *now = &modems[f->group][l->slot];

		if (l->object != LIVE_MODEM || l->next == NULL)
			continue;
		for (size_t a = 0; a < now->address_count; a++) {
			struct share_key key;
			void *found = NULL;

			if (!has_address(l->modem, &now->addresses[a]))
				continue;
			share_key_set(&key, SHARE_IPV4, vlan, now->addresses[a].bytes, 4);
			assert_true(rte_hash_lookup_data(t->groups, &key, &found) >= 0);
			assert_true(((uintptr_t)found >> f->group & 1) != 0);
		}
	}
}

/* As a server does it: first what goes, then what comes. Returns whether it was the last step. */
static bool flight_step(struct flight *f) {
	bool last = false;

	f->begun = true;
	if (f->change == NULL)
		return true;
	if (!f->gone)
		f->gone = share_change_remove(f->change);
	else
		last = share_change_add(f->change);
	check_kept(f);
	return last;
}

static void flight_end(unsigned number) {
	struct flight *f = flights[number];

	share_change_end(f->change);
	free(f);
	flying--;
	memmove(&flights[number], &flights[number + 1], (flying - number) * sizeof(flights[0]));
}

static void random_modem(struct flight *f, unsigned slot) {
	struct object *o = flight_add(f, LIVE_MODEM, slot);

	if (modem_is_there(&modems[f->group][slot]) && roll(3) == 0)
		return; /* it goes */
	modem_fill(o, roll(12) == 0 ? 0 : f->group, slot, roll(128), roll(65));
	f->list[f->changes.count - 1].modem = &o->modem;
}

/* Few sessions, so that some repeat, and their form changes. */
static void random_channel(struct flight *f, unsigned slot) {
	struct object *o = flight_add(f, LIVE_UPSTREAM_CHANNEL, slot);

	if (channels[f->group][slot].session != 0 && roll(3) == 0)
		return;
	o->channel = (struct upstream_channel){
		1 + slot, UPSTREAM_OFDMA, 1, 0x100 + 16 * slot + roll(16), 0, 0};
	f->list[f->changes.count - 1].upstream_channel = &o->channel;
}

static struct flight *flight_new(unsigned group) {
	struct flight *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->group = group;
	f->changes.list = f->list;
	return f;
}

static void random_begin(unsigned counts[2]) {
	unsigned group = roll(rig->count), count = 1 + roll(MOST), first;
	struct flight *f;

	for (unsigned i = 0; i < flying; i++) {
		if (flying == FLYING || (flights[i]->prepared && flights[i]->group == group))
			return;
	}
	f = flight_new(group);
	first = roll(rig->s->side == SHARE_RPHY ? CHANNELS : SLOTS);
	for (unsigned i = 0; i < count; i++) {
		if (rig->s->side == SHARE_RPHY)
			random_channel(f, (first + i) % CHANNELS);
		else
			random_modem(f, (first + i) % SLOTS);
	}
	counts[flight_prepare(f)]++;
}

/* The oldest one that is not done goes on. */
static void random_step(void) {
	for (unsigned i = 0; i < flying; i++) {
		if (!flights[i]->prepared)
			continue;
		if (flight_step(flights[i]))
			flight_taken(flights[i]);
		return;
	}
}

/* All that are prepared are given up, the newest first, where none of them has been seen by the owner. */
static void random_abandon(void) {
	unsigned first = 0;

	while (first < flying && !flights[first]->prepared)
		first++;
	if (first < flying && flights[first]->begun)
		return;
	while (flying > first)
		flight_end(flying - 1);
}

/* All that are on their way: those that are taken go on, and each ends. */
static void random_end(void) {
	while (flying > 0 && flights[flying - 1]->prepared)
		random_step();
	while (flying > 0) {
		flight_end(roll(flying));
		rig_same_table(rig, true);
	}
	assert_null(rig->s->changes);
}

static void random_changes(enum share_side side, uint32_t seed) {
	unsigned counts[2] = {0}, quiet = 0;

	dice = (struct random){.state = seed};
	open_rig(side);
	for (unsigned n = 0; n < STEPS; n++) {
		unsigned what = roll(16);

		if (what < 4)
			random_begin(counts);
		else if (what < 13)
			random_step();
		else if (what == 15)
			random_abandon();
		else if ((what = roll(FLYING)) < flying && !flights[what]->prepared)
			flight_end(what);
		for (what = 0; what < flying && !flights[what]->prepared; what++)
			;
		if (what == flying && quiet++ % 4 == 0)
			rig_same_table(rig, true);
	}
	random_end();
	assert_true(counts[true] > STEPS / 20 && counts[false] > 3 && quiet > STEPS / 20);
	if (side == SHARE_NETWORK) /* the form of sessions is that of all groups */
		forgotten(1);
	rig_close(rig);
}

TEST(changes_at_random) {
	for (uint32_t seed = 1; seed < 4; seed++) {
		random_changes(SHARE_NETWORK, seed);
		random_changes(SHARE_RPHY, seed);
	}
}

/* Begins a change of `count` modems, which are removed, or get as many addresses each. */
static void flight_begin(unsigned group, unsigned slot, unsigned count, unsigned addresses_each) {
	struct flight *f = flight_new(group);

	for (unsigned i = 0; i < count; i++) {
		struct object *o = flight_add(f, LIVE_MODEM, slot + i);

		modem_fill(o, group, slot + i, 0, addresses_each);
		f->list[i].modem = addresses_each > 0 ? &o->modem : NULL;
	}
	assert_true(flight_prepare(f));
}

/* A change that only removes is pending until its last key is gone: a larger table, copied when some are left, lacks these. */
TEST(pending_until_all_keys_are_gone) {
	open_rig(SHARE_NETWORK);
	flight_begin(0, SLOTS - 1, 1, SG_MAX_MODEM_ADDRESSES);
	random_end();
	flight_begin(0, SLOTS - 1, 1, 0);
	random_step();
	assert_false(flights[0]->gone);
	flight_begin(1, SLOTS - MOST, MOST, SG_MAX_MODEM_ADDRESSES);
	random_end();
	rig_close(rig);
}

ALL_TESTS(rig_begin, rig_end)
