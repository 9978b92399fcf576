/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests changes of the crypto provider in service, which must not change transmitted bytes. */
#include "group_file.h"
#include "test_main.h"

#ifndef VCMTS_NO_IPSEC_MB
#define DEVICE "crypto_aesni_mb0"
#define OTHER_DEVICE "crypto_aesni_mb1"
#else
#define DEVICE "crypto_openssl1"
#define OTHER_DEVICE "crypto_openssl2"
#endif

static void set_provider(unsigned g, bool device) {
	file_groups[g].crypto.provider = device ? CRYPTO_CRYPTODEV : CRYPTO_IPSEC_MB;
	file_groups[g].crypto.device = device ? (char *)(uintptr_t)DEVICE : NULL;
}

static const struct crypto_provider *provider(unsigned g) {
	return server->groups[g].crypto.provider;
}

/* Sends packets of both groups in both directions without running the workers. */
static void send_packets(unsigned count) {
	for (unsigned g = 0; g < 2; g++)
		life_kit_send_both(kit, LIFE_SHARED, &file_groups[g], count);
}

static void check_modem_keys(const struct served_group *group, uint32_t m) {
	const struct ds_tables *t = &group->downstream->tables;
	const struct us_modem_data *own = group->upstream->tables.slots.modem_data[m];

	for (size_t f = 0; f < group->sg->modems[m].service_flow_count; f++)
		assert_ptr_equal(t->flows[ds_modem_flows(t, m)[f]].key.schedule,
				 group->crypto.schedules[m]);
	assert_ptr_equal(own->schedules[0], group->crypto.up_schedules[2 * m]);
	for (uint32_t f = 0; f < own->flow_count; f++)
		assert_ptr_equal(group->upstream->tables.flows[own->flows[f].flow].keys[0].schedule,
				 group->crypto.up_schedules[2 * m]);
}

static void check_keys(unsigned g) {
	const struct served_group *group = &server->groups[g];

	assert_ptr_equal(group->downstream->lower.crypto, group->crypto.queues[CRYPTO_DOWNLINK]);
	assert_ptr_equal(group->upstream->r.crypto, group->crypto.queues[CRYPTO_UPLINK]);
	assert_non_null(group->crypto.up_schedules[0]);
	for (uint32_t m = 0; m < group->sg->modem_count; m++) {
		const struct modem *k = &group->sg->modems[m];

		if (modem_exists(k) && k->security.cipher != CIPHER_NONE)
			check_modem_keys(group, m);
	}
}

static void run_traffic(bool changes, uint64_t digest[2][2]) {
	open_with_file(2);
	for (unsigned step = 0; step < 8; step++) {
		send_packets(5);
		for (unsigned w = 0; w < server->worker_count; w++)
			worker_round(&server->workers[w]);
		if (changes) {
			set_provider(step % 2, step / 2 % 2 == 0);
			reload_accepted("crypto provider changed");
			assert_string_equal(provider(step % 2)->name,
					    step / 2 % 2 == 0 ? DEVICE : crypto_default_device());
			check_keys(step % 2);
			reload_accepted("nothing");
		}
		life_kit_settle(kit, 2 * MS);
		check_all_traffic();
	}
	memcpy(digest, &kit->digest[1], sizeof(uint64_t[2][2]));
	for (unsigned g = 0; g < 2; g++)
		assert_string_equal(provider(g)->name, crypto_default_device());
	if (changes) /* no key is left in the unused provider */
		assert_int_equal(crypto_providers_find(&server->crypto, DEVICE)->keys, 0);
}

TEST(provider_change_keeps_transmitted_bytes) {
	uint64_t unchanged[2][2], changed[2][2];

	run_traffic(false, unchanged);
	run_traffic(true, changed);
	assert_memory_equal(unchanged, changed, sizeof(changed));
}

TEST(provider_change_under_traffic_loses_no_packet) {
	struct life_totals before, after;
	unsigned steps = 40, packets = 4;

	open_with_file(2);
	before = life_kit_totals(kit);
	life_kit_launch(kit);
	for (unsigned step = 0; step < steps; step++) {
		send_packets(packets);
		set_provider(step % 2, step / 2 % 2 == 0);
		reload_accepted("crypto provider changed");
		life_kit_receive(kit);
	}
	life_kit_halt(kit);
	life_kit_settle(kit, 5 * MS);
	after = life_kit_totals(kit);
	assert_int_equal(after.down_dropped, before.down_dropped);
	assert_int_equal(after.up_dropped, before.up_dropped);
	assert_int_equal(after.down_out - before.down_out, 2 * steps * packets);
	assert_int_equal(kit->received_up[1] + kit->received_up[2], 2 * steps * packets);
}

/* A device that does not exist or lacks the ciphers of the group is refused. */
TEST(unsuitable_device_is_refused) {
	static const char *const devices[] = {"crypto_unknown0", "crypto_null0"};

	open_with_file(2);
	for (size_t i = 0; i < ARRAY_COUNT(devices); i++) {
		set_provider(1, true);
		file_groups[1].crypto.device = (char *)(uintptr_t)devices[i];
		reload_refused(devices[i]);
		reload_refused("service group 2: crypto.device: crypto_");
		reload_refused(
			" cannot be opened; the log of vcmtsd has the reason; nothing was changed");
		assert_string_equal(provider(1)->name, crypto_default_device());
	}
	set_provider(1, false);
	check_all_traffic();
}

TEST(provider_change_with_modem_changes) {
	life_kit_open(kit, 2, GROUPS);
	load_file_groups(3);
	for (unsigned g = 0; g < 2; g++) {
		file_groups[g].modems[0].addresses[0].bytes[3] += 100;
		file_groups[g].upstream_channels[0].session += 0x10;
	}
	set_provider(0, true);
	set_provider(2, true);
	file_groups[0].modems[0].security.key[0] ^= 1;
	file_groups[1].modems[0].security.key[0] ^= 1;
	file_groups[0].modems[1].mac[5] = 0x77; /* another modem */
	reload_accepted("1 service group added");
	check_keys(0);
	check_all_traffic();
	file_groups[0].modems[1].mac[5] = 2;
	file_groups[0].modems[0].security.key[0] ^= 2;
	set_provider(0, false);
	reload_accepted("crypto provider changed");
	check_keys(0);
	check_all_traffic();
	assert_int_equal(crypto_providers_find(&server->crypto, DEVICE)->keys, 2);
	file_groups[2].crypto.device = (char *)(uintptr_t)OTHER_DEVICE; /* of the same provider */
	reload_accepted("crypto provider changed");
	assert_string_equal(provider(2)->name, OTHER_DEVICE);
	check_keys(2);
}

EACH_TEST(NULL, group_file_teardown)
ALL_TESTS(NULL, fixture_stop)
