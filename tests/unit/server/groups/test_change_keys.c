/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of a change, with a provider that records them: after any change each modem has the schedules of its own keys, what
 * was replaced stays valid until the change ends, and nothing is left over.
 */
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include "server/change_keys.h"

#include "random.h"
#include "test_model.h"

#define MODEMS 6
#define CHANGES 600

struct schedule {
	enum crypto_direction direction;
	uint8_t key[CIPHER_MAX_KEY];
};

static unsigned places; /* for keys that the provider has left */

static void *record_key(struct crypto_provider *p, enum crypto_direction direction,
			enum cipher cipher, const uint8_t *key) {
	struct schedule *s;

	(void)p;
	if (places == 0)
		return NULL;
	places--;
	s = malloc(sizeof(*s));
	assert_int_equal(cipher, CIPHER_AES_128);
	assert_non_null(s);
	s->direction = direction;
	memcpy(s->key, key, sizeof(s->key));
	return s;
}

static void forget_key(struct crypto_provider *p, enum crypto_direction direction,
		       enum cipher cipher, void *schedule) {
	struct schedule *s = schedule;

	(void)p;
	assert_int_equal(cipher, CIPHER_AES_128);
	assert_int_equal(s->direction, direction);
	free(s);
}

static const struct crypto_functions recording = {.key_make = record_key, .key_free = forget_key};
static struct crypto_provider provider = {
	.functions = &recording, .name = "recording", .ciphers = 1u << CIPHER_AES_128};

/* What the configuration says of a modem. */
struct modem_keys {
	bool there, has_next;
	uint8_t key, next; /* repeated; 0 is no key */
};

static struct random drawing = {20261127};

static void load(struct service_group *sg, const struct modem_keys *modems) {
	char text[8192];
	FILE *file = fmemopen(text, sizeof(text), "w");
	struct loaded loaded;

	fprintf(file,
		"name: sg\nmax_modems: %d\n"
		"channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: 11}]\n"
		"bonding_groups: [{id: 1, channels: [1]}]\nmodems:\n",
		2 * MODEMS);
	for (unsigned m = 0; m < MODEMS; m++) {
		if (!modems[m].there)
			continue;
		fprintf(file,
			"  - {mac: '02:01:00:00:00:%02x', addresses: [10.0.0.%u],\n"
			"     bonding_group: 1, service_flows: [{id: %u}], security: {said: %u,\n"
			"     cipher: aes-128, key_sequence: %u, key: '%032x', iv: '%032x'",
			m, m + 1, m + 1, m + 1, modems[m].key % 16, modems[m].key, m + 1);
		if (modems[m].has_next)
			fprintf(file, ", next_key: '%032x', next_iv: '%032x'", modems[m].next,
				m + 1);
		fprintf(file, "}}\n");
	}
	fclose(file);
	loaded = load_text(text);
	assert_string_equal(loaded.said, "");
	free(loaded.said);
	*sg = loaded.sg;
}

static void expect_schedule(const void *schedule, enum crypto_direction direction,
			    const uint8_t *key) {
	const struct schedule *s = schedule;

	assert_non_null(s);
	assert_int_equal(s->direction, direction);
	assert_memory_equal(s->key, key, sizeof(s->key));
}

static void expect_keys(const struct served_group *g) {
	uint32_t keys = 0;

	for (uint32_t slot = 0; slot < g->live.room.modems; slot++) {
		const struct modem *m = &g->live.sg.modems[slot];
		void *const *up = &g->crypto.up_schedules[2 * slot];

		if (!modem_is_there(m)) {
			assert_null(g->crypto.schedules[slot]);
			assert_true(up[0] == NULL && up[1] == NULL);
			continue;
		}
		expect_schedule(g->crypto.schedules[slot], CRYPTO_DOWNLINK,
				association_key(&m->security));
		expect_schedule(up[0], CRYPTO_UPLINK, m->security.key);
		assert_int_equal(up[1] != NULL, m->security.has_next_key);
		if (m->security.has_next_key)
			expect_schedule(up[1], CRYPTO_UPLINK, m->security.next_key);
		keys += 2 + m->security.has_next_key;
	}
	assert_int_equal(provider.keys, keys);
}

/* Makes the group what `modems` say; or abandons the change once its keys are made. Returns whether there were places for them. */
static bool change(struct served_group *g, const struct modem_keys *modems, bool abandoned) {
	struct service_group next;
	struct live_changes changes;
	struct change_keys keys = {0};
	char why[LIVE_LINE] = "";
	bool made;

	load(&next, modems);
	if (!live_difference(&g->live, &next, &changes, why))
		fail_msg("%s", why);
	made = change_keys_make(&keys, g, &changes, why);
	if (!made)
		assert_non_null(
			strstr(why, ": crypto provider recording has no place left for its key"));
	if (made && !abandoned) {
		change_keys_take(&keys, g, &changes);
		live_changes_take(&g->live, &changes);
	}
	change_keys_free(&keys, g);
	live_changes_free(&changes);
	service_group_free(&next);
	expect_keys(g);
	return made;
}

static unsigned other_keys(const struct modem_keys *now, const struct modem_keys *next) {
	unsigned modems = 0;

	for (unsigned m = 0; m < MODEMS; m++)
		modems += now[m].there && next[m].there && now[m].key != next[m].key;
	return modems;
}

static void draw(struct modem_keys *modems) {
	static uint8_t last;

	for (unsigned m = 0; m < MODEMS; m++) {
		struct modem_keys *k = &modems[m];

		switch (random_below(&drawing, 5)) {
		case 0: *k = (struct modem_keys){.there = !k->there, .key = ++last}; break;
		case 1: k->key = ++last; break;
		case 2:
			k->has_next = !k->has_next;
			k->next = ++last;
			break;
		default: break;
		}
	}
	modems[random_below(&drawing, MODEMS)].there = true;
}

TEST(each_modem_has_its_own_keys) {
	static char any_upstream;
	struct modem_keys modems[MODEMS] = {{.there = true, .key = 1}}, drawn[MODEMS];
	struct service_group sg;
	struct group_room room;
	unsigned refused = 0;
	uint64_t rolls = 0;
	struct served_group g = {.upstream = (struct upstream *)(void *)&any_upstream};

	load(&sg, modems);
	room = group_room(&sg);
	assert_int_equal(live_group_create(&g.live, &sg, &room, (char[LIVE_LINE]){0}), 0);
	service_group_free(&sg);
	places = UINT_MAX;
	g.crypto.provider = &provider;
	g.crypto.schedules = test_calloc(room.modems, sizeof(void *));
	g.crypto.up_schedules = test_calloc(2 * room.modems, sizeof(void *));
	g.crypto.schedules[0] = crypto_key_make(&provider, CRYPTO_DOWNLINK, CIPHER_AES_128,
						g.live.sg.modems[0].security.key);
	g.crypto.up_schedules[0] = crypto_key_make(&provider, CRYPTO_UPLINK, CIPHER_AES_128,
						   g.live.sg.modems[0].security.key);
	for (unsigned i = 0; i < CHANGES; i++) {
		memcpy(drawn, modems, sizeof(drawn));
		draw(drawn);
		places = random_below(&drawing, 4);
		refused += !change(&g, drawn, true);
		places = UINT_MAX;
		assert_true(change(&g, drawn, true));
		assert_true(change(&g, drawn, false));
		rolls += other_keys(modems, drawn);
		assert_int_equal(g.key_rolls[CRYPTO_DOWNLINK], rolls);
		assert_int_equal(g.key_rolls[CRYPTO_UPLINK], rolls);
		memcpy(modems, drawn, sizeof(drawn));
	}
	assert_true(refused > CHANGES / 10);
	for (uint32_t slot = 0; slot < room.modems; slot++) {
		free(g.crypto.schedules[slot]);
		free(g.crypto.up_schedules[2 * slot]);
		free(g.crypto.up_schedules[2 * slot + 1]);
	}
	test_free(g.crypto.schedules);
	test_free(g.crypto.up_schedules);
	live_group_free(&g.live);
}
