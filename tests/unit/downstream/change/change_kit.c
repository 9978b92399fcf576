/* SPDX-License-Identifier: BSD-3-Clause */
#include "change_kit.h"

#include <stdlib.h>
#include <string.h>

#include "downstream/stages.h"
#include "model/load/loader.h"

#include "fixture.h"
#include "packets.h"
#include "test.h"

struct change_kit *kit;

static const char base[] =
	"service_group: 3\n"
	"rphy: {mtu: 1500, max_segments: 16}\n"
	"channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: 0x100}]\n"
	"bonding_groups: [{id: 1, channels: [1]}]\n"
	"modems:\n"
	"  - {mac: '02:01:00:00:00:01', addresses: [10.0.0.1], bonding_group: 1,\n"
	"     security: {said: 1, cipher: none}, service_flows: [{id: 1, buffer: 200 kB}]}\n";

static const struct group_room room = {
	.modems = KIT_MODEMS,
	.channels = KIT_CHANNELS,
	.bonding_groups = KIT_GROUPS,
	.filter_groups = KIT_FILTERS,
	.flows = KIT_FLOWS,
	.ipv4 = KIT_IPV4,
	.ipv6 = KIT_IPV6,
};

static void lists_begin(void) {
	struct service_group *sg = &kit->sg;

	*sg = kit->loaded;
	sg->channels = kit->channels;
	sg->bonding_groups = kit->groups;
	sg->filter_groups = kit->filters;
	sg->modems = kit->modems;
	sg->channel_count = KIT_CHANNELS;
	sg->bonding_group_count = KIT_GROUPS;
	sg->filter_group_count = KIT_FILTERS;
	sg->modem_count = KIT_MODEMS;
	for (uint32_t f = 0; f < KIT_FILTERS; f++)
		kit->filters[f].id = LIVE_FREE_ID;
}

/* Frees what `sg` had in the place, and puts in what is to be. The object itself stands first in its block. */
static void place_put(enum live_object object, uint32_t slot, void *block) {
	static const struct filter_group no_filter = {.id = LIVE_FREE_ID};
	const struct service_group *values = block;

	if (object == LIVE_GROUP) {
		kit->sg.rate_limit = values->rate_limit;
		kit->sg.cpe_timeout_ns = values->cpe_timeout_ns;
		free(block);
		return;
	}
	free(kit->blocks[object][slot]);
	kit->blocks[object][slot] = block;
	if (object == LIVE_CHANNEL)
		kit->channels[slot] = block ? *(struct channel *)block : (struct channel){0};
	else if (object == LIVE_BONDING_GROUP)
		kit->groups[slot] =
			block ? *(struct bonding_group *)block : (struct bonding_group){0};
	else if (object == LIVE_FILTER_GROUP)
		kit->filters[slot] = block ? *(struct filter_group *)block : no_filter;
	else
		kit->modems[slot] = block ? *(struct modem *)block : (struct modem){0};
}

static void first_objects(void) {
	for (uint32_t i = 0; i < 2; i++) {
		place_put(LIVE_CHANNEL, i, kit_channel(i));
		place_put(LIVE_BONDING_GROUP, i, kit_bonding(i));
	}
	place_put(LIVE_FILTER_GROUP, 0, kit_filter(0));
	for (uint8_t i = 0; i < 3; i++) {
		struct kit_modem *m = kit_modem(i, i);

		kit_address(m, i);
		kit_address(m, (uint8_t)(KIT_IPV4 + i));
		kit_flow(m, i + 1U, i % 2);
		place_put(LIVE_MODEM, i, m);
	}
}

static void *schedule_of(const struct modem *m) {
	void *schedule =
		crypto_key_make(kit->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, m->security.key);

	assert_non_null(schedule);
	return schedule;
}

static void downstream_make(void) {
	struct ds_resources r = {
		.network = {.ring = kit->in},
		.rphy = {.ring = kit->out},
		.crypto = kit->queue,
		.schedules = kit->schedules,
		.depi_headers = kit->headers,
		.depi_fragments = kit->fragments,
		.queued_max = 1000,
		.hand_over_max = 256,
		.upper_clock = &kit->clock,
		.lower_clock = &kit->clock,
		.room = &room,
	};

	for (uint32_t m = 0; m < KIT_MODEMS; m++) {
		if (modem_is_there(&kit->modems[m]))
			kit->schedules[m] = schedule_of(&kit->modems[m]);
	}
	kit->d = downstream_create(&kit->sg, &r);
	assert_non_null(kit->d);
}

void kit_open(enum filter_action filter_default) {
	static bool running;

	if (!running)
		fixture_eal(128);
	running = true;
	kit = test_calloc(1, sizeof(*kit));
	kit->random.state = 20261122;
	group_load(&kit->loaded, base);
	kit->loaded.filter_default = filter_default;
	kit->hand.changes.list = kit->hand.list;
	lists_begin();
	first_objects();
	kit->crypto = crypto_apart_open(SOCKET_ID_ANY);
	assert_non_null(kit->crypto);
	kit->queue = crypto_queue_open(kit->crypto, CRYPTO_DOWNLINK);
	assert_non_null(kit->queue);
	kit->packets = fixture_pool("change_packets", 4095, FIXTURE_ROOM);
	kit->headers = fixture_pool("change_headers", 2047, 256);
	kit->fragments = fixture_pool("change_parts", 4095, 0);
	kit->in = rte_ring_create("change_in", 128, SOCKET_ID_ANY, 0);
	kit->out = rte_ring_create("change_out", KIT_BACK, SOCKET_ID_ANY, 0);
	assert_true(kit->in != NULL && kit->out != NULL);
	downstream_make();
	kit_readers_change();
	kit_flows_note(true);
}

void kit_close(void) {
	kit_settle();
	downstream_free(kit->d);
	for (uint32_t m = 0; m < KIT_MODEMS; m++) {
		crypto_key_free(kit->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, kit->schedules[m]);
	}
	assert_int_equal(kit->crypto->keys, 0);
	crypto_queue_close(kit->queue);
	crypto_close(kit->crypto);
	fixture_pool_end(kit->packets);
	fixture_pool_end(kit->headers);
	fixture_pool_end(kit->fragments);
	rte_ring_free(kit->in);
	rte_ring_free(kit->out);
	for (unsigned o = 0; o < LIVE_OBJECTS; o++) {
		for (uint32_t slot = 0; slot < KIT_MODEMS; slot++)
			free(kit->blocks[o][slot]);
	}
	service_group_free(&kit->loaded);
	test_free(kit);
}

int kit_start(void **state) {
	kit_open(FILTER_PERMIT);
	return 0;
}

int kit_stop(void **state) {
	kit_close();
	return 0;
}

void kit_will(enum live_object object, uint32_t slot, void *block) {
	size_t n = kit->hand.changes.count++;

	assert_true(n < KIT_CHANGES);
	kit->hand.list[n] = (struct live_change){object, slot, {block}};
	kit->hand.schedules[n] = NULL;
	if (object == LIVE_MODEM && block != NULL &&
	    (!modem_is_there(&kit->modems[slot]) ||
	     memcmp(&((struct modem *)block)->security, &kit->modems[slot].security,
		    sizeof(struct security_association)) != 0))
		kit->hand.schedules[n] = schedule_of(block);
}

/* What was to be is not. */
static void drop_list(void) {
	for (size_t i = 0; i < kit->hand.changes.count; i++) {
		crypto_key_free(kit->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128,
				kit->hand.schedules[i]);
		free(kit->hand.list[i].block);
	}
	kit->hand.changes.count = 0;
}

bool kit_begin(void) {
	kit->hand.change = ds_change_begin(kit->d, &kit->sg, &kit->hand.changes,
					   kit->hand.schedules, kit->why);
	if (kit->hand.change == NULL)
		drop_list();
	return kit->hand.change != NULL;
}

void kit_abandon(void) {
	ds_change_end(kit->hand.change);
	drop_list();
}

void kit_take(void (*between)(void)) {
	kit->either = true;
	while (!ds_change_upper(kit->hand.change)) {
		if (between != NULL)
			between();
	}
	kit->either = false;
	for (size_t i = 0; i < kit->hand.changes.count; i++) {
		const struct live_change *l = &kit->hand.list[i];

		place_put(l->object, l->slot, l->block);
	}
	kit_readers_change();
	kit_flows_note(false);
}

/* Keys of what was. */
static void schedules_end(void) {
	for (size_t i = 0; i < kit->hand.changes.count; i++) {
		const struct live_change *l = &kit->hand.list[i];
		void **s = &kit->schedules[l->slot];

		if (l->object != LIVE_MODEM || (l->next != NULL && kit->hand.schedules[i] == NULL))
			continue;
		crypto_key_free(kit->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, *s);
		*s = kit->hand.schedules[i];
	}
	kit->hand.changes.count = 0;
}

void kit_finish(bool drain) {
	while (!ds_change_lower(kit->hand.change))
		kit_round();
	while (drain && !ds_change_drained(kit->hand.change))
		kit_round();
	while (!ds_change_close(kit->hand.change))
		kit_round();
	assert_true(ds_change_drained(kit->hand.change));
	while (!ds_change_passed(kit->hand.change))
		kit_round();
	ds_change_end(kit->hand.change);
	schedules_end();
	kit_round(); /* what it sent at last */
	kit_readers_end();
	kit_flows_note(true);
}

void kit_change(void) {
	if (!kit_begin())
		fail_msg("%s", kit->why);
	kit_take(NULL);
	kit_finish(true);
}
