/* SPDX-License-Identifier: BSD-3-Clause */
#include "change_rig.h"

#include <stdlib.h>
#include <string.h>

#include "downstream/stages.h"
#include "model/load/loader.h"

#include "change_rig_frames.h"
#include "fixture.h"
#include "packets.h"
#include "test.h"

struct change_rig *rig;

static const char base[] =
	"service_group: 3\n"
	"rphy: {mtu: 1500, max_segments: 16}\n"
	"channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: 0x100}]\n"
	"bonding_groups: [{id: 1, channels: [1]}]\n"
	"modems:\n"
	"  - {mac: '02:01:00:00:00:01', addresses: [10.0.0.1], bonding_group: 1,\n"
	"     security: {said: 1, cipher: none}, service_flows: [{id: 1, buffer: 200 kB}]}\n";

static void lists_begin(void) {
	struct service_group *sg = &rig->sg;

	*sg = rig->loaded;
	sg->channels = rig->channels;
	sg->bonding_groups = rig->groups;
	sg->filter_groups = rig->filters;
	sg->modems = rig->modems;
	sg->channel_count = RIG_CHANNELS;
	sg->bonding_group_count = RIG_GROUPS;
	sg->filter_group_count = RIG_FILTERS;
	sg->modem_count = RIG_MODEMS;
	for (uint32_t f = 0; f < RIG_FILTERS; f++)
		rig->filters[f].id = LIVE_FREE_ID;
	rig->room = (struct group_room){
		.modems = RIG_MODEMS,
		.channels = RIG_CHANNELS,
		.bonding_groups = RIG_GROUPS,
		.filter_groups = RIG_FILTERS,
		.flows = RIG_FLOWS,
		.ipv4 = RIG_IPV4,
		.ipv6 = RIG_IPV6,
	};
}

/* Frees what `sg` had in the place, and puts in what is to be. */
static void place_put(enum live_object object, uint32_t slot, void *block) {
	void *old = rig->blocks[object][slot];

	rig->blocks[object][slot] = block;
	switch (object) {
	case LIVE_CHANNEL:
		rig->channels[slot] = block ? *(struct channel *)block : (struct channel){0};
		break;
	case LIVE_BONDING_GROUP:
		rig->groups[slot] =
			block ? ((struct rig_bonding *)block)->is : (struct bonding_group){0};
		break;
	case LIVE_FILTER_GROUP:
		rig->filters[slot] = block ? ((struct rig_filter *)block)->is
					   : (struct filter_group){.id = LIVE_FREE_ID};
		break;
	case LIVE_MODEM:
		rig->modems[slot] = block ? ((struct rig_modem *)block)->is : (struct modem){0};
		break;
	default: rig->sg.rate_limit = ((struct service_group *)block)->rate_limit;
	}
	if (object != LIVE_GROUP) {
		free(old);
		return;
	}
	rig->sg.cpe_timeout_ns = ((struct service_group *)block)->cpe_timeout_ns;
	rig->blocks[object][slot] = NULL;
	free(block);
}

static void first_objects(void) {
	for (uint32_t i = 0; i < 2; i++) {
		place_put(LIVE_CHANNEL, i, rig_channel(i));
		place_put(LIVE_BONDING_GROUP, i, rig_bonding(i));
	}
	place_put(LIVE_FILTER_GROUP, 0, rig_filter(0));
	for (uint8_t i = 0; i < 3; i++) {
		struct rig_modem *m = rig_modem(i, i);

		rig_address(m, i);
		rig_address(m, (uint8_t)(RIG_IPV4 + i));
		rig_flow(m, i + 1U, i % 2);
		place_put(LIVE_MODEM, i, m);
	}
}

static void *schedule_of(const struct modem *m) {
	void *schedule =
		crypto_key_make(rig->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, m->security.key);

	assert_non_null(schedule);
	return schedule;
}

static void downstream_make(void) {
	struct ds_resources r = {
		.network = {.ring = rig->in},
		.rphy = {.ring = rig->out},
		.crypto = rig->queue,
		.schedules = rig->schedules,
		.depi_headers = rig->headers,
		.depi_fragments = rig->fragments,
		.queued_max = 1000,
		.hand_over_max = 256,
		.upper_clock = &rig->clock,
		.lower_clock = &rig->clock,
		.room = &rig->room,
	};

	for (uint32_t m = 0; m < RIG_MODEMS; m++) {
		if (modem_is_there(&rig->modems[m]))
			rig->schedules[m] = schedule_of(&rig->modems[m]);
	}
	rig->d = downstream_create(&rig->sg, &r);
	assert_non_null(rig->d);
}

void rig_open(void) {
	static bool running;

	if (!running)
		fixture_eal(128);
	running = true;
	rig = test_calloc(1, sizeof(*rig));
	rig->random.state = 20261122;
	group_load(&rig->loaded, base);
	lists_begin();
	first_objects();
	rig->crypto = crypto_apart_open(SOCKET_ID_ANY);
	assert_non_null(rig->crypto);
	rig->queue = crypto_queue_open(rig->crypto, CRYPTO_DOWNLINK);
	assert_non_null(rig->queue);
	rig->packets = fixture_pool("change_packets", 4095, FIXTURE_ROOM);
	rig->headers = fixture_pool("change_headers", 2047, 256);
	rig->fragments = fixture_pool("change_parts", 4095, 0);
	rig->in = rte_ring_create("change_in", 128, SOCKET_ID_ANY, 0);
	rig->out = rte_ring_create("change_out", RIG_BACK, SOCKET_ID_ANY, 0);
	assert_true(rig->in != NULL && rig->out != NULL);
	downstream_make();
	rig_readers_make();
	rig_flows_note(true);
}

void rig_close(void) {
	rig_settle();
	downstream_free(rig->d);
	for (uint32_t m = 0; m < RIG_MODEMS; m++) {
		crypto_key_free(rig->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, rig->schedules[m]);
	}
	assert_int_equal(rig->crypto->keys, 0);
	crypto_queue_close(rig->queue);
	crypto_close(rig->crypto);
	fixture_pool_end(rig->packets);
	fixture_pool_end(rig->headers);
	fixture_pool_end(rig->fragments);
	rte_ring_free(rig->in);
	rte_ring_free(rig->out);
	for (unsigned o = 0; o < LIVE_OBJECTS; o++) {
		for (uint32_t slot = 0; slot < RIG_MODEMS; slot++)
			free(rig->blocks[o][slot]);
	}
	service_group_free(&rig->loaded);
	test_free(rig);
}

void rig_will(enum live_object object, uint32_t slot, void *block) {
	size_t n = rig->changes.count++;

	assert_true(n < RIG_CHANGES);
	rig->list[n] = (struct live_change){object, slot, {block}};
	rig->next_schedules[n] = NULL;
	if (object == LIVE_MODEM && block != NULL &&
	    (!modem_is_there(&rig->modems[slot]) ||
	     memcmp(&((struct modem *)block)->security, &rig->modems[slot].security,
		    sizeof(struct security_association)) != 0))
		rig->next_schedules[n] = schedule_of(block);
}

/* What was to be is not. */
static void drop_list(void) {
	for (size_t i = 0; i < rig->changes.count; i++) {
		crypto_key_free(rig->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128,
				rig->next_schedules[i]);
		free((void *)(uintptr_t)rig->list[i].next);
	}
	rig->changes.count = 0;
}

bool rig_begin(void) {
	rig->changes.list = rig->list;
	rig->change =
		ds_change_begin(rig->d, &rig->sg, &rig->changes, rig->next_schedules, rig->why);
	if (rig->change == NULL)
		drop_list();
	return rig->change != NULL;
}

void rig_abandon(void) {
	ds_change_end(rig->change);
	drop_list();
}

void rig_take(void (*between)(void)) {
	rig->either = true;
	while (!ds_change_upper(rig->change)) {
		if (between != NULL)
			between();
	}
	rig->either = false;
	for (size_t i = 0; i < rig->changes.count; i++) {
		const struct live_change *l = &rig->list[i];

		place_put(l->object, l->slot, (void *)(uintptr_t)l->next);
	}
	rig_readers_change();
	rig_flows_note(false);
}

/* Keys of what was. */
static void schedules_end(void) {
	for (size_t i = 0; i < rig->changes.count; i++) {
		const struct live_change *l = &rig->list[i];
		void **s = &rig->schedules[l->slot];

		if (l->object != LIVE_MODEM || (l->next != NULL && rig->next_schedules[i] == NULL))
			continue;
		crypto_key_free(rig->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, *s);
		*s = rig->next_schedules[i];
	}
	rig->changes.count = 0;
}

void rig_finish(bool drain) {
	while (!ds_change_lower(rig->change))
		rig_round();
	while (drain && !ds_change_drained(rig->change))
		rig_round();
	while (!ds_change_close(rig->change))
		rig_round();
	assert_true(ds_change_drained(rig->change));
	while (!ds_change_passed(rig->change))
		rig_round();
	ds_change_end(rig->change);
	schedules_end();
	rig_round(); /* what it sent at last */
	rig_readers_end();
	rig_flows_note(true);
}

void rig_change(void) {
	if (!rig_begin())
		fail_msg("%s", rig->why);
	rig_take(NULL);
	rig_finish(true);
}
