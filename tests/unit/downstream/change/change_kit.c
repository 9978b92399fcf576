/* SPDX-License-Identifier: BSD-3-Clause */
#include "change_kit.h"

#include "model/load/loader.h"

#include "fixture.h"
#include "packets.h"
#include "test.h"

struct change_kit *kit;

static const char base_text[] =
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
	.bonding_groups = KIT_BONDING_GROUPS,
	.filter_groups = KIT_FILTER_GROUPS,
	.flows = KIT_FLOWS,
	.ipv4 = KIT_IPV4,
	.ipv6 = KIT_IPV6,
};

static void create_first_objects(void) {
	for (uint32_t i = 0; i < 2; i++) {
		kit_edit_channel(i);
		kit_edit_bonding_group(i);
	}
	kit_edit_filter_group(0);
	for (uint8_t i = 0; i < 3; i++) {
		struct modem *m = kit_edit_modem(i, i);

		kit_add_address(m, i);
		kit_add_address(m, (uint8_t)(KIT_IPV4 + i));
		kit_add_flow(m, i + 1U, i % 2);
	}
	kit_copy_objects(&kit->now, &kit->next);
	memset(kit->edited, 0, sizeof(kit->edited));
}

static void *create_schedule(const struct modem *m) {
	void *schedule =
		crypto_key_make(kit->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, m->security.key);

	assert_non_null(schedule);
	return schedule;
}

static void create_downstream(void) {
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
		if (kit->now.exists[LIVE_MODEM][m])
			kit->schedules[m] = create_schedule(&kit->now.modems[m]);
	}
	kit->d = downstream_create(&kit->now.sg, &r);
	assert_non_null(kit->d);
}

void kit_open(enum filter_action filter_default) {
	static bool running;

	if (!running)
		fixture_start_eal(128);
	running = true;
	kit = test_calloc(1, sizeof(*kit));
	kit->random.state = 20261122;
	group_load_text(&kit->loaded, base_text);
	kit->loaded.filter_default = filter_default;
	kit->current.changes.list = kit->current.list;
	kit_init_objects(&kit->next, &kit->loaded);
	create_first_objects();
	kit->crypto = crypto_standalone_open(SOCKET_ID_ANY);
	assert_non_null(kit->crypto);
	kit->queue = crypto_queue_open(kit->crypto, CRYPTO_DOWNLINK);
	assert_non_null(kit->queue);
	kit->packets = fixture_pool_create("change_packets", 4095, FIXTURE_BUFFER_SIZE);
	kit->headers = fixture_pool_create("change_headers", 2047, 256);
	kit->fragments = fixture_pool_create("change_parts", 4095, 0);
	kit->in = rte_ring_create("change_in", 128, SOCKET_ID_ANY, 0);
	kit->out = rte_ring_create("change_out", KIT_OUT_RING, SOCKET_ID_ANY, 0);
	assert_true(kit->in != NULL && kit->out != NULL);
	create_downstream();
	kit_open_readers();
	kit_record_flows(true);
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
	fixture_pool_free(kit->packets);
	fixture_pool_free(kit->headers);
	fixture_pool_free(kit->fragments);
	rte_ring_free(kit->in);
	rte_ring_free(kit->out);
	service_group_free(&kit->loaded);
	test_free(kit);
}

int kit_setup(void **state) {
	kit_open(FILTER_PERMIT);
	return 0;
}

int kit_teardown(void **state) {
	kit_close();
	return 0;
}

void kit_add_change(enum live_object object, uint32_t slot, const void *next) {
	const struct modem *m = next;
	size_t n = kit->current.changes.count++;

	assert_true(n < KIT_MAX_CHANGES);
	kit->current.list[n] = (struct live_change){object, slot, {next}};
	kit->current.schedules[n] = NULL;
	if (object == LIVE_MODEM && m != NULL &&
	    (!kit->now.exists[LIVE_MODEM][slot] ||
	     memcmp(&m->security, &kit->now.modems[slot].security, sizeof(m->security)) != 0))
		kit->current.schedules[n] = create_schedule(m);
}

static void list_edited(enum live_object object, bool exists) {
	for (uint32_t slot = 0; slot < KIT_MODEMS; slot++) {
		if (!kit->edited[object][slot] || kit->next.exists[object][slot] != exists)
			continue;
		kit->edited[object][slot] = false;
		kit_add_change(object, slot,
			       exists ? kit_find_object(&kit->next, object, slot) : NULL);
	}
}

/* Added objects precede those that refer to them; removed objects follow those. */
void kit_list_changes(void) {
	if (kit->modems_removed_first)
		list_edited(LIVE_MODEM, false);
	for (unsigned object = 0; object < LIVE_OBJECTS; object++)
		list_edited(object, true);
	for (unsigned object = LIVE_OBJECTS; object > 0; object--)
		list_edited(object - 1, false);
}

/* Discards listed and edited objects. */
static void discard_changes(void) {
	for (size_t i = 0; i < kit->current.changes.count; i++)
		crypto_key_free(kit->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128,
				kit->current.schedules[i]);
	kit_copy_objects(&kit->next, &kit->now);
	kit->current.changes.count = 0;
}

bool kit_prepare(void) {
	kit_list_changes();
	kit->current.change = ds_change_begin(kit->d, &kit->now.sg, &kit->current.changes,
					      kit->current.schedules, kit->why);
	if (kit->current.change == NULL)
		discard_changes();
	return kit->current.change != NULL;
}

void kit_abandon(void) {
	ds_change_end(kit->current.change);
	discard_changes();
}

void kit_apply(void (*between)(void)) {
	kit->applying = true;
	while (!ds_change_upper(kit->current.change)) {
		if (between != NULL)
			between();
	}
	kit->applying = false;
	kit_copy_objects(&kit->now, &kit->next);
	kit_open_readers();
	kit_record_flows(false);
}

/* Frees the key schedules of removed modems and replaced keys. */
static void free_old_schedules(void) {
	for (size_t i = 0; i < kit->current.changes.count; i++) {
		const struct live_change *l = &kit->current.list[i];
		void **s = &kit->schedules[l->slot];

		if (l->object != LIVE_MODEM ||
		    (l->next != NULL && kit->current.schedules[i] == NULL))
			continue;
		crypto_key_free(kit->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, *s);
		*s = kit->current.schedules[i];
	}
	kit->current.changes.count = 0;
}

/* Runs a round, or only the dequeue, so that packets stay in the ring to the lower MAC. */
static void run_partial_round(void) {
	if (random_below(&kit->random, 2))
		pipeline_run(&kit->d->dequeue);
	else
		kit_round();
}

void kit_finish(bool drain) {
	uint64_t before;

	while (!ds_change_lower(kit->current.change))
		run_partial_round();
	while (drain && !ds_change_drained(kit->current.change))
		run_partial_round();
	before = kit_count_removed();
	while (!ds_change_close(kit->current.change))
		run_partial_round();
	assert_true(ds_change_drained(kit->current.change));
	if (drain)
		assert_int_equal(kit_count_removed(), before);
	while (!ds_change_flushed(kit->current.change))
		run_partial_round();
	ds_change_end(kit->current.change);
	free_old_schedules();
	kit_close_readers();
	kit_round(); /* reads the last frames */
	kit_record_flows(true);
}

void kit_change(void) {
	if (!kit_prepare())
		fail_msg("%s", kit->why);
	kit_apply(NULL);
	kit_finish(true);
}
