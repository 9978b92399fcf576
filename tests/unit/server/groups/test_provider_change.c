/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups whose crypto provider becomes another one, and another: the bytes that come out are the same. */
#include "group_file.h"
#include "test_main.h"

#ifndef VCMTS_NO_IPSEC_MB
#define DEVICE "crypto_aesni_mb0"
#define OTHER_DEVICE "crypto_aesni_mb1"
#else
#define DEVICE "crypto_openssl1"
#define OTHER_DEVICE "crypto_openssl2"
#endif

static void wants(unsigned g, bool device) {
	next[g].crypto.provider = device ? CRYPTO_CRYPTODEV : CRYPTO_IPSEC_MB;
	next[g].crypto.device = device ? (char *)(uintptr_t)DEVICE : NULL;
}

static const struct crypto_provider *provider_of(unsigned g) {
	return server->groups[g].crypto.provider;
}

/* Packets of both groups and directions that nobody has worked on yet. */
static void put_packets(unsigned count) {
	for (unsigned g = 0; g < 2; g++)
		life_kit_traffic(bench, LIFE_SHARED, &next[g], count);
}

static void keys_of_modem(const struct served_group *group, uint32_t m) {
	const struct ds_tables *t = &group->downstream->tables;
	const struct us_own *own = group->upstream->tables.slots.own[m];

	for (size_t f = 0; f < group->sg->modems[m].service_flow_count; f++)
		assert_ptr_equal(t->flows[ds_modem_flows(t, m)[f]].key.schedule,
				 group->crypto.schedules[m]);
	assert_ptr_equal(own->schedules[0], group->crypto.up_schedules[2 * m]);
	for (uint32_t f = 0; f < own->flow_count; f++)
		assert_ptr_equal(group->upstream->tables.flows[own->flows[f].flow].keys[0].schedule,
				 group->crypto.up_schedules[2 * m]);
}

static void keys_are_those_of(unsigned g) {
	const struct served_group *group = &server->groups[g];

	assert_ptr_equal(group->downstream->lower.crypto, group->crypto.queues[CRYPTO_DOWNLINK]);
	assert_ptr_equal(group->upstream->r.crypto, group->crypto.queues[CRYPTO_UPLINK]);
	assert_non_null(group->crypto.up_schedules[0]);
	for (uint32_t m = 0; m < group->sg->modem_count; m++) {
		const struct modem *k = &group->sg->modems[m];

		if (modem_is_there(k) && k->security.cipher != CIPHER_NONE)
			keys_of_modem(group, m);
	}
}

static void run(bool changes, uint64_t digest[2][2]) {
	open_with_file(2);
	for (unsigned turn = 0; turn < 8; turn++) {
		put_packets(5);
		for (unsigned w = 0; w < server->worker_count; w++)
			worker_round(&server->workers[w]);
		if (changes) {
			wants(turn % 2, turn / 2 % 2 == 0);
			reload("crypto provider changed");
			assert_string_equal(provider_of(turn % 2)->name,
					    turn / 2 % 2 == 0 ? DEVICE : crypto_own());
			keys_are_those_of(turn % 2);
			reload("nothing");
		}
		life_kit_settle(bench, 2 * MS);
		all_is_told_apart();
	}
	memcpy(digest, &bench->digest[1], sizeof(uint64_t[2][2]));
	for (unsigned g = 0; g < 2; g++)
		assert_string_equal(provider_of(g)->name, crypto_own());
	if (changes) /* all keys are where they are needed */
		assert_int_equal(crypto_providers_find(&server->crypto, DEVICE)->keys, 0);
}

TEST(bytes_are_the_same) {
	uint64_t as_it_is[2][2], changed[2][2];

	run(false, as_it_is);
	run(true, changed);
	assert_memory_equal(as_it_is, changed, sizeof(changed));
}

TEST(while_workers_run) {
	struct life_totals before, after;
	unsigned turns = 40, packets = 4;

	open_with_file(2);
	before = life_kit_totals(bench);
	life_kit_launch(bench);
	for (unsigned turn = 0; turn < turns; turn++) {
		put_packets(packets);
		wants(turn % 2, turn / 2 % 2 == 0);
		reload("crypto provider changed");
		life_kit_take(bench);
	}
	life_kit_halt(bench);
	life_kit_settle(bench, 5 * MS);
	after = life_kit_totals(bench);
	assert_int_equal(after.down_dropped, before.down_dropped);
	assert_int_equal(after.up_dropped, before.up_dropped);
	assert_int_equal(after.down_out - before.down_out, 2 * turns * packets);
	assert_int_equal(bench->taken_up[1] + bench->taken_up[2], 2 * turns * packets);
}

/* A provider that there is not, or that cannot do the group's ciphers, changes nothing. */
TEST(refused_devices) {
	static const char *const devices[] = {"crypto_nobody0", "crypto_null0"};

	open_with_file(2);
	for (size_t i = 0; i < ARRAY_COUNT(devices); i++) {
		wants(1, true);
		next[1].crypto.device = (char *)(uintptr_t)devices[i];
		refused(devices[i]);
		refused("service group 2: crypto.device: crypto_n");
		refused(" cannot be opened; the messages of vcmtsd say why; nothing was changed");
		assert_string_equal(provider_of(1)->name, crypto_own());
	}
	wants(1, false);
	all_is_told_apart();
}

TEST(with_other_modems) {
	life_kit_open(bench, 2, GROUPS);
	load_next(3);
	for (unsigned g = 0; g < 2; g++) {
		next[g].modems[0].addresses[0].bytes[3] += 100;
		next[g].upstream_channels[0].session += 0x10;
	}
	wants(0, true);
	wants(2, true);
	next[0].modems[0].security.key[0] ^= 1;
	next[1].modems[0].security.key[0] ^= 1;
	next[0].modems[1].mac[5] = 0x77; /* another modem */
	reload("1 service group added");
	keys_are_those_of(0);
	all_is_told_apart();
	next[0].modems[1].mac[5] = 2;
	next[0].modems[0].security.key[0] ^= 2;
	wants(0, false);
	reload("crypto provider changed");
	keys_are_those_of(0);
	all_is_told_apart();
	assert_int_equal(crypto_providers_find(&server->crypto, DEVICE)->keys, 2);
	next[2].crypto.device = (char *)(uintptr_t)OTHER_DEVICE; /* of the same provider */
	reload("crypto provider changed");
	assert_string_equal(provider_of(2)->name, OTHER_DEVICE);
	keys_are_those_of(2);
}

EACH_TEST(NULL, file_end)
ALL_TESTS(NULL, fixture_stop)
