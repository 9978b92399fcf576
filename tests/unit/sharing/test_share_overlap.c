/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests overlapping changes of several groups on a shared port: prepared, partly applied and
 * retiring ones, ended in random order. After all steps, the table must match the configuration. */
#include "test_main.h"

#include "random.h"
#include "share_kit.h"
#include "sharing/change.h"
#include "sharing/group_removal.h"

#define SLOTS 44 /* modems of a group */
#define CHANNELS 4 /* upstream channels of a group */
#define MAX_OBJECTS 3 /* per change */
#define MAX_OPEN 12 /* changes that have begun and not ended */
#define STEPS 3000

struct object {
	struct modem modem;
	struct upstream_channel channel;
	struct ip_address addresses[SG_MAX_MODEM_ADDRESSES];
};

/* A change of one group. */
struct test_change {
	struct share_change *change; /* NULL: the port's table does not change */
	unsigned group;
	bool prepared, begun; /* not all steps are made; at least one is */
	bool removed; /* share_change_remove() is done */
	struct live_change list[MAX_OBJECTS];
	struct live_changes changes;
	struct object objects[MAX_OBJECTS]; /* new values, by position in `list` */
};

static struct share_rig storage, *const rig = &storage;
/* Objects in service, and open changes, the oldest first. */
static struct modem modems[RIG_GROUPS][SLOTS];
static struct ip_address addresses[RIG_GROUPS][SLOTS][SG_MAX_MODEM_ADDRESSES];
static struct upstream_channel channels[RIG_GROUPS][CHANNELS];
static struct test_change *open_changes[MAX_OPEN];
static unsigned open_count;
static struct random rng;

/* Checks that share_group_remove() removes all keys of a group from the table. */
static void check_forget(unsigned group) {
	struct share_group_removal f = {.share = rig->s, .group = group};

	while (!share_group_remove(&f))
		;
	rig->list[group] = NULL;
	rig_compare_table(rig, false);
}

/* Draws a number below n. */
static unsigned draw(unsigned n) {
	return random_below(&rng, n);
}

/* Groups 2 and 3 have MAC addresses, group 4 has a VLAN. Groups 0 and 1 have the same MAC address
 * on the R-PHY side, so that sessions in both conflict. */
static void open_rig(enum share_side side) {
	rig_prepare(rig, RIG_GROUPS);
	for (unsigned g = 2; g < 4; g++) {
		rig->groups[g].network.has_mac = true;
		rig_write_mac(g, SHARE_NETWORK, rig->groups[g].network.mac);
	}
	rig->groups[4].network.vlan = rig->groups[4].rphy_port.vlan = 9;
	rig_write_mac(0, SHARE_RPHY, rig->groups[1].rphy.core_mac);
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

/* Sets a modem with `count` addresses, unique in the group, numbered from `first`. */
static void set_modem(struct object *o, unsigned group, unsigned slot, unsigned first,
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

static struct object *add_object(struct test_change *c, enum live_object kind, unsigned slot) {
	struct live_change *l = &c->list[c->changes.count];

	*l = (struct live_change){.object = kind, .slot = slot};
	return &c->objects[c->changes.count++];
}

/* Records that the objects of the change are in service. */
static void record_applied(struct test_change *c) {
	c->prepared = false;
	for (size_t i = 0; i < c->changes.count; i++) {
		const struct live_change *l = &c->list[i];
		unsigned g = c->group, slot = l->slot;

		if (l->object == LIVE_UPSTREAM_CHANNEL) {
			channels[g][slot] = l->next == NULL ? (struct upstream_channel){0}
							    : *l->upstream_channel;
			continue;
		}
		modems[g][slot] = l->next == NULL ? (struct modem){0} : *l->modem;
		modems[g][slot].addresses = addresses[g][slot];
		memcpy(addresses[g][slot], c->objects[i].addresses, sizeof(addresses[g][slot]));
	}
}

/* Whether the groups would have no conflict with the change applied. */
static bool is_valid(struct test_change *c) {
	static struct modem modems_now[SLOTS];
	static struct ip_address addresses_now[SLOTS][SG_MAX_MODEM_ADDRESSES];
	struct upstream_channel channels_now[CHANNELS];
	struct share_table *t;

	memcpy(modems_now, modems[c->group], sizeof(modems_now));
	memcpy(addresses_now, addresses[c->group], sizeof(addresses_now));
	memcpy(channels_now, channels[c->group], sizeof(channels_now));
	record_applied(c);
	t = rig_build_table(rig);
	memcpy(modems[c->group], modems_now, sizeof(modems_now));
	memcpy(addresses[c->group], addresses_now, sizeof(addresses_now));
	memcpy(channels[c->group], channels_now, sizeof(channels_now));
	share_table_free(t);
	return t != NULL;
}

/* Begins the change. If it is rejected, as conflicts must be, frees it and returns false. */
static bool prepare_change(struct test_change *c) {
	bool no_open = open_count == 0, valid = no_open && is_valid(c), accepted;
	char why[LIVE_LINE] = "";

	c->prepared = true;
	accepted = share_change_begin(rig->s, rig->list, rig->count, c->group, &c->changes,
				      &c->change, why) == 0;
	if (no_open)
		assert_int_equal(accepted, valid);
	if (accepted) {
		open_changes[open_count++] = c;
		return true;
	}
	assert_null(c->change);
	assert_true(why[0] != '\0' && strchr(why, '\n') == NULL);
	free(c);
	return false;
}

static bool has_address(const struct modem *m, const struct ip_address *address) {
	for (size_t a = 0; a < m->address_count; a++) {
		if (memcmp(&m->addresses[a], address, sizeof(*address)) == 0)
			return true;
	}
	return false;
}

/* Checks that addresses which a modem keeps stay in the table during the change. */
static void check_kept_addresses(const struct test_change *c) {
	const struct share_table *t = rig->s->table;
	uint8_t vlan = t->vlan_of[rig->groups[c->group].network.vlan];

	for (size_t i = 0; i < c->changes.count; i++) {
		const struct live_change *l = &c->list[i];
		const struct modem *now = &modems[c->group][l->slot];

		if (l->object != LIVE_MODEM || l->next == NULL)
			continue;
		for (size_t a = 0; a < now->address_count; a++) {
			struct share_key key;
			void *found = NULL;

			if (!has_address(l->modem, &now->addresses[a]))
				continue;
			share_key_set(&key, SHARE_IPV4, vlan, now->addresses[a].bytes, 4);
			assert_true(rte_hash_lookup_data(t->groups, &key, &found) >= 0);
			assert_true(((uintptr_t)found >> c->group & 1) != 0);
		}
	}
}

/* Makes a step: removals first, then additions, as the server does. Returns true after the last. */
static bool make_step(struct test_change *c) {
	bool last = false;

	c->begun = true;
	if (c->change == NULL)
		return true;
	if (!c->removed)
		c->removed = share_change_remove(c->change);
	else
		last = share_change_add(c->change);
	check_kept_addresses(c);
	return last;
}

static void end_change(unsigned number) {
	struct test_change *c = open_changes[number];

	share_change_end(c->change);
	free(c);
	open_count--;
	memmove(&open_changes[number], &open_changes[number + 1],
		(open_count - number) * sizeof(open_changes[0]));
}

static void add_random_modem(struct test_change *c, unsigned slot) {
	struct object *o = add_object(c, LIVE_MODEM, slot);

	/* removes the modem */
	if (modem_exists(&modems[c->group][slot]) && draw(3) == 0)
		return;
	set_modem(o, draw(12) == 0 ? 0 : c->group, slot, draw(128), draw(65));
	c->list[c->changes.count - 1].modem = &o->modem;
}

/* Chooses from few sessions, so that some repeat and the form of the keys changes. */
static void add_random_channel(struct test_change *c, unsigned slot) {
	struct object *o = add_object(c, LIVE_UPSTREAM_CHANNEL, slot);

	if (channels[c->group][slot].session != 0 && draw(3) == 0)
		return;
	o->channel = (struct upstream_channel){
		1 + slot, UPSTREAM_OFDMA, 1, 0x100 + 16 * slot + draw(16), 0, 0};
	c->list[c->changes.count - 1].upstream_channel = &o->channel;
}

static struct test_change *allocate_change(unsigned group) {
	struct test_change *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	c->group = group;
	c->changes.list = c->list;
	return c;
}

/* Increments counts[0] if the change is rejected, else counts[1]. */
static void begin_random_change(unsigned counts[2]) {
	unsigned group = draw(rig->count), count = 1 + draw(MAX_OBJECTS), first;
	struct test_change *c;

	for (unsigned i = 0; i < open_count; i++) {
		if (open_count == MAX_OPEN ||
		    (open_changes[i]->prepared && open_changes[i]->group == group))
			return;
	}
	c = allocate_change(group);
	first = draw(rig->s->side == SHARE_RPHY ? CHANNELS : SLOTS);
	for (unsigned i = 0; i < count; i++) {
		if (rig->s->side == SHARE_RPHY)
			add_random_channel(c, (first + i) % CHANNELS);
		else
			add_random_modem(c, (first + i) % SLOTS);
	}
	counts[prepare_change(c)]++;
}

/* Makes a step of the oldest change that is not fully applied. */
static void step_oldest(void) {
	for (unsigned i = 0; i < open_count; i++) {
		if (!open_changes[i]->prepared)
			continue;
		if (make_step(open_changes[i]))
			record_applied(open_changes[i]);
		return;
	}
}

/* Ends all prepared changes, the newest first, unless a step of one was made. */
static void abandon_prepared(void) {
	unsigned first = 0;

	while (first < open_count && !open_changes[first]->prepared)
		first++;
	if (first < open_count && open_changes[first]->begun)
		return;
	while (open_count > first)
		end_change(open_count - 1);
}

/* Completes and ends all open changes. */
static void end_all(void) {
	while (open_count > 0 && open_changes[open_count - 1]->prepared)
		step_oldest();
	while (open_count > 0) {
		end_change(draw(open_count));
		rig_compare_table(rig, true);
	}
	assert_null(rig->s->changes);
}

static void test_random_changes(enum share_side side, uint32_t seed) {
	unsigned counts[2] = {0}, settled = 0;

	rng = (struct random){.state = seed};
	open_rig(side);
	for (unsigned n = 0; n < STEPS; n++) {
		unsigned action = draw(16);

		if (action < 4)
			begin_random_change(counts);
		else if (action < 13)
			step_oldest();
		else if (action == 15)
			abandon_prepared();
		else if ((action = draw(MAX_OPEN)) < open_count && !open_changes[action]->prepared)
			end_change(action);
		for (action = 0; action < open_count && !open_changes[action]->prepared; action++)
			;
		if (action == open_count && settled++ % 4 == 0)
			rig_compare_table(rig, true);
	}
	end_all();
	assert_true(counts[true] > STEPS / 20 && counts[false] > 3 && settled > STEPS / 20);
	/* on the R-PHY side, the form of the keys depends on all groups */
	if (side == SHARE_NETWORK)
		check_forget(1);
	rig_close(rig);
}

TEST(random_changes_leave_configured_table) {
	for (uint32_t seed = 1; seed < 4; seed++) {
		test_random_changes(SHARE_NETWORK, seed);
		test_random_changes(SHARE_RPHY, seed);
	}
}

/* Begins a change of `count` modems. Each gets `addresses_each` addresses, or is removed if 0. */
static void begin_modem_change(unsigned group, unsigned slot, unsigned count,
			       unsigned addresses_each) {
	struct test_change *c = allocate_change(group);

	for (unsigned i = 0; i < count; i++) {
		struct object *o = add_object(c, LIVE_MODEM, slot + i);

		set_modem(o, group, slot + i, 0, addresses_each);
		c->list[i].modem = addresses_each > 0 ? &o->modem : NULL;
	}
	assert_true(prepare_change(c));
}

/* A table that is copied before a removal ends must not keep the removed keys. */
TEST(removal_stays_open_until_last_key) {
	open_rig(SHARE_NETWORK);
	begin_modem_change(0, SLOTS - 1, 1, SG_MAX_MODEM_ADDRESSES);
	end_all();
	begin_modem_change(0, SLOTS - 1, 1, 0);
	step_oldest();
	assert_false(open_changes[0]->removed);
	begin_modem_change(1, SLOTS - MAX_OBJECTS, MAX_OBJECTS, SG_MAX_MODEM_ADDRESSES);
	end_all();
	rig_close(rig);
}

ALL_TESTS(rig_setup, rig_teardown)
