/* SPDX-License-Identifier: BSD-3-Clause */
#include "change_kit.h"

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

static const struct group_capacity capacity = {
	.modems = KIT_MODEMS,
	.channels = KIT_CHANNELS,
	.bonding_groups = KIT_GROUPS,
	.filter_groups = KIT_FILTERS,
	.flows = KIT_FLOWS,
	.ipv4 = KIT_IPV4,
	.ipv6 = KIT_IPV6,
};

static void first_objects(void) {
	for (uint32_t i = 0; i < 2; i++) {
		kit_channel(i);
		kit_bonding(i);
	}
	kit_filter(0);
	for (uint8_t i = 0; i < 3; i++) {
		struct modem *m = kit_modem(i, i);

		kit_address(m, i);
		kit_address(m, (uint8_t)(KIT_IPV4 + i));
		kit_flow(m, i + 1U, i % 2);
	}
	kit_objects_copy(&kit->now, &kit->next);
	memset(kit->touched, 0, sizeof(kit->touched));
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
		.capacity = &capacity,
	};

	for (uint32_t m = 0; m < KIT_MODEMS; m++) {
		if (kit->now.there[LIVE_MODEM][m])
			kit->schedules[m] = schedule_of(&kit->now.modems[m]);
	}
	kit->d = downstream_create(&kit->now.sg, &r);
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
	kit_objects_begin(&kit->next, &kit->loaded);
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

void kit_will(enum live_object object, uint32_t slot, const void *next) {
	const struct modem *m = next;
	size_t n = kit->hand.changes.count++;

	assert_true(n < KIT_CHANGES);
	kit->hand.list[n] = (struct live_change){object, slot, {next}};
	kit->hand.schedules[n] = NULL;
	if (object == LIVE_MODEM && m != NULL &&
	    (!kit->now.there[LIVE_MODEM][slot] ||
	     memcmp(&m->security, &kit->now.modems[slot].security, sizeof(m->security)) != 0))
		kit->hand.schedules[n] = schedule_of(m);
}

static void list_touched(enum live_object object, bool there) {
	for (uint32_t slot = 0; slot < KIT_MODEMS; slot++) {
		if (!kit->touched[object][slot] || kit->next.there[object][slot] != there)
			continue;
		kit->touched[object][slot] = false;
		kit_will(object, slot, there ? kit_object(&kit->next, object, slot) : NULL);
	}
}

/* What comes stands before what refers to it, and what goes behind that. */
void kit_list(void) {
	if (kit->modems_go_first)
		list_touched(LIVE_MODEM, false);
	for (unsigned object = 0; object < LIVE_OBJECTS; object++)
		list_touched(object, true);
	for (unsigned object = LIVE_OBJECTS; object > 0; object--)
		list_touched(object - 1, false);
}

/* What was to be is not. */
static void drop_list(void) {
	for (size_t i = 0; i < kit->hand.changes.count; i++)
		crypto_key_free(kit->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128,
				kit->hand.schedules[i]);
	kit_objects_copy(&kit->next, &kit->now);
	kit->hand.changes.count = 0;
}

bool kit_begin(void) {
	kit_list();
	kit->hand.change = ds_change_begin(kit->d, &kit->now.sg, &kit->hand.changes,
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
	kit_objects_copy(&kit->now, &kit->next);
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

/* At times the lower MAC is behind, and has what it is waited for in its ring. */
static void some_of_a_round(void) {
	if (random_below(&kit->random, 2))
		pipeline_run(&kit->d->dequeue);
	else
		kit_round();
}

void kit_finish(bool drain) {
	uint64_t before;

	while (!ds_change_lower(kit->hand.change))
		some_of_a_round();
	while (drain && !ds_change_drained(kit->hand.change))
		some_of_a_round();
	before = kit_removed();
	while (!ds_change_close(kit->hand.change))
		some_of_a_round();
	assert_true(ds_change_drained(kit->hand.change));
	if (drain)
		assert_int_equal(kit_removed(), before);
	while (!ds_change_flushed(kit->hand.change))
		some_of_a_round();
	ds_change_end(kit->hand.change);
	schedules_end();
	kit_readers_end();
	kit_round(); /* what it sent at last */
	kit_flows_note(true);
}

void kit_change(void) {
	if (!kit_begin())
		fail_msg("%s", kit->why);
	kit_take(NULL);
	kit_finish(true);
}
