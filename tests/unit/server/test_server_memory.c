/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures heap memory per group and per modem, and checks limits. */
#include "test_main.h"

#include <inttypes.h>
#include <malloc.h>

#include "crypto/providers.h"
#include "downstream/tables.h"
#include "model/live/live_group.h"
#include "model/load/loader.h"
#include "platform/port.h"
#include "server/served_group.h"
#include "server/server.h"
#include "upstream/state/make_tables.h"

#include "fixture.h"
#include "packets.h"
#include "server_kit.h"

#define MIB (1u << 20)
#define GROUPS 28
#define MODEMS 300
#define FLOWS 4 /* per modem and direction */
/* Limits in bytes per modem, with capacity for a quarter more modems: in all; without the loaded
 * configuration; without that and keys. */
#define MODEM_MAX 11500
#define MODEM_SERVED_MAX 9500
#define MODEM_BARE_MAX 8500
#define GROUP_MAX (4ull * MIB) /* tables and flow cache, without modems */
#define GROUP_ALL_MAX (16ull * MIB) /* these and buffers */
#define SERVER_MAX (720ull * MIB) /* for GROUPS groups, in a process of 1 GiB */

static const char head[] =
	"service_group: %u\n"
	"threads: {downstream: 1ds1t, upper_mac_core: 1, upstream_core: 1}\n"
	"bonding_groups: [{id: 1, channels: [1, 2, 3, 4, 5, 6]}]\n"
	"upstream_channels: [{id: 1, type: sc-qam, rate: 30 Mbps, session: 0x20001},\n"
	"                    {id: 2, type: sc-qam, rate: 30 Mbps, session: 0x20002}]\n"
	"filter_groups: [{id: 1, rules: [{family: ipv4, action: deny, protocol: udp}]}]\n"
	"channels:\n";
static const char channel[] = "  - {id: %u, type: ofdm, rate: 1.89 Gbps, session: %u}\n";
static const char modem[] =
	"  - mac: '02:01:00:00:%02x:%02x'\n"
	"    addresses: [10.0.%u.%u, '2001:db8::%x', 10.1.%u.%u, 10.2.%u.%u]\n"
	"    bonding_group: 1\n"
	"    filter_groups: [1]\n"
	"    security: {said: %u, cipher: aes-128, key: 000102030405060708090a0b0c0d0e0f,\n"
	"               iv: 101112131415161718191a1b1c1d1e1f, key_sequence: 5}\n"
	"    classifiers: [{family: ipv4, protocol: udp, service_flow: %u}]\n"
	"    service_flows:\n";
static const char flow[] = "      - {id: %u, dsid: %u}\n";
static const char up_flow[] =
	"      - {id: %u, sid_clusters: [{id: 0, sids: [{channel: 1, sid: %u}]}]}\n";

static struct service_group groups[GROUPS];
static uint16_t ports[2][2]; /* by role and end */

static void load(struct service_group *sg, unsigned id, unsigned modems) {
	char *text = malloc(2000ul + modems * 2000ul), *at = text;
	unsigned sfid = 1, dsid = 1;

	assert_non_null(text);
	at += sprintf(at, head, id);
	for (unsigned c = 1; c <= 6; c++)
		at += sprintf(at, channel, c, c);
	at += sprintf(at, "modems:\n");
	for (unsigned m = 0; m < modems; m++) {
		unsigned high = m >> 8, low = m & 255;

		at += sprintf(at, modem, high, low, high, low, m, high, low, high, low, m + 1,
			      sfid + 1);
		for (unsigned f = 0; f < FLOWS; f++)
			at += sprintf(at, flow, sfid++, dsid++);
		at += sprintf(at, "    upstream_service_flows:\n");
		for (unsigned f = 0; f < FLOWS; f++, sfid++)
			at += sprintf(at, up_flow, sfid, m * FLOWS + f + 1);
	}
	group_load_text(sg, text);
	free(text);
}

static uint64_t used_bytes(void) {
	struct mallinfo2 info = mallinfo2();

	return heaps_used().bytes + info.uordblks + info.hblkhd;
}

struct memory_use {
	uint64_t pools, others; /* bytes */
};

/* Serves `count` groups, which share two ports, and returns the memory that they use. */
static struct memory_use measure(unsigned count, unsigned modems) {
	struct server_config config = {.groups = groups, .group_count = count};
	struct server s = {0};
	struct memory_use t;
	uint64_t before = used_bytes(), dpdk_bytes = heaps_used().bytes;

	for (unsigned g = 0; g < count; g++)
		load(&groups[g], g + 1, modems);
	t.others = used_bytes() - before;
	s.ports.count = 2;
	for (enum device_role role = DEVICE_NETWORK; role <= DEVICE_RPHY; role++)
		s.ports.list[role] = (struct server_port){
			.role = role, .queue_size = 4096, .open = true, .id = ports[role][0]};
	for (unsigned g = 0; g < count; g++) {
		s.ports.of[g][DEVICE_RPHY] = 1;
		s.ports.of[g][DEVICE_CONTROL] = SERVER_NO_PORT;
	}
	before = used_bytes();
	assert_int_equal(server_create(&s, &config), 0);
	t.pools = used_bytes() - before;
	before = used_bytes();
	assert_int_equal(server_serve(&s), 0);
	t.others += used_bytes() - before;
	dpdk_bytes = heaps_used().bytes - dpdk_bytes;
	assert_true(dpdk_bytes <= (uint64_t)server_memory_mb(&config, &s.ports) * MIB);
	s.ports.count = 0; /* keeps them open */
	server_free(&s);
	for (unsigned g = 0; g < count; g++)
		service_group_free(&groups[g]);
	print_message("%u groups of %u modems: %.1f MiB for buffers, %.1f MiB for all else\n",
		      count, modems, (double)t.pools / MIB, (double)t.others / MIB);
	return t;
}

/* Parts of the memory of a modem. */
enum part { LOADED, LIVE, KEYS, DOWNSTREAM, UPSTREAM, PARTS_ALONE };

static const char *const part_names[PARTS_ALONE] = {
	"loaded configuration, freed when served", "group in service, for changes", "keys",
	"downstream: addresses, records", "upstream: SIDs, flows, streams"};

/* Creates each part separately, as a server does, and measures its bytes. */
static void measure_parts(unsigned modems, uint64_t parts[PARTS_ALONE]) {
	struct service_group sg;
	struct live_group live;
	struct crypto_provider *crypto = crypto_standalone_open(SOCKET_ID_ANY);
	struct ds_tables down;
	struct us_tables up;
	void *keys[3 * 2 * MODEMS] = {NULL}; /* per modem: two upstream, one downstream */
	struct group_capacity capacity;
	uint64_t bytes_at[PARTS_ALONE + 1] = {used_bytes()};

	assert_non_null(crypto);
	load(&sg, 1, modems);
	capacity = group_capacity(&sg);
	bytes_at[LOADED + 1] = used_bytes();
	assert_int_equal(live_group_create(&live, &sg, &capacity, (char[LIVE_LINE]){0}), 0);
	bytes_at[LIVE + 1] = used_bytes();
	for (unsigned k = 0; k < 2 * modems; k++)
		keys[k % 2 == 0 ? k : 2 * modems + k / 2] =
			crypto_key_make(crypto, k % 2 == 0 ? CRYPTO_UPLINK : CRYPTO_DOWNLINK,
					CIPHER_AES_128, sg.modems[k / 2].security.key);
	bytes_at[KEYS + 1] = used_bytes();
	assert_int_equal(ds_tables_create(&down, &sg, &capacity, &keys[2 * modems]), 0);
	bytes_at[DOWNSTREAM + 1] = used_bytes();
	assert_int_equal(us_tables_create(&up, &sg, &capacity, keys), 0);
	bytes_at[UPSTREAM + 1] = used_bytes();
	for (enum part p = 0; p < PARTS_ALONE; p++)
		parts[p] = bytes_at[p + 1] - bytes_at[p];
	us_tables_free(&up);
	ds_tables_free(&down);
	for (unsigned k = 0; k < 3 * modems; k++)
		crypto_key_free(crypto, k < 2 * modems ? CRYPTO_UPLINK : CRYPTO_DOWNLINK,
				CIPHER_AES_128, keys[k]);
	crypto_close(crypto);
	live_group_free(&live);
	service_group_free(&sg);
}

/* Prints bytes per modem, and checks limits. `all` is the sum; the scheduler has the rest. */
static void print_parts(uint64_t all) {
	uint64_t single[PARTS_ALONE], twice[PARTS_ALONE], per_modem[PARTS_ALONE], others = all;

	measure_parts(MODEMS, single);
	measure_parts(2 * MODEMS, twice);
	for (enum part p = 0; p < PARTS_ALONE; p++) {
		per_modem[p] = (twice[p] - single[p]) / MODEMS;
		others -= per_modem[p];
		print_message("%6" PRIu64 " B per modem: %s\n", per_modem[p], part_names[p]);
	}
	print_message("%6" PRIu64 " B per modem: scheduler and all else\n", others);
	assert_true(all < MODEM_MAX);
	assert_true(all - per_modem[LOADED] < MODEM_SERVED_MAX);
	assert_true(all - per_modem[LOADED] - per_modem[KEYS] < MODEM_BARE_MAX);
}

TEST(memory_per_modem_and_group_is_within_limits) {
	struct rte_mempool *pool = fixture_pool_create("far", 127, FIXTURE_BUFFER_SIZE);
	struct memory_use one, double_modems, two, all;
	uint64_t modems;

	assert_int_equal(port_pair("memory_network", pool, 64, ports[DEVICE_NETWORK]), 0);
	assert_int_equal(port_pair("memory_rphy", pool, 64, ports[DEVICE_RPHY]), 0);
	one = measure(1, MODEMS);
	double_modems = measure(1, 2 * MODEMS);
	two = measure(2, MODEMS);
	all = measure(GROUPS, MODEMS);
	assert_true(two.others - one.others < GROUP_MAX + (uint64_t)MODEMS * MODEM_MAX);
	modems = double_modems.others - one.others;
	assert_true(two.pools + two.others - one.pools - one.others - modems < GROUP_ALL_MAX);
	assert_true(all.pools + all.others < SERVER_MAX);
	for (int i = 0; i < 4; i++)
		port_close(ports[i / 2][i % 2]);
	fixture_pool_free(pool);
	print_message("%.1f kB per modem for buffers of incomplete frames\n",
		      (double)(double_modems.pools - one.pools) / MODEMS / 1000);
	print_parts((double_modems.others - one.others) / MODEMS);
}

/* Queue limits: 16,384 plus 1,024 per further group are divided among the groups, unless a group
 * configures its own. */
TEST(queue_limits_are_divided_among_groups) {
	static const struct {
		unsigned groups, queued, hand_over;
	} cases[] = {{1, 16384, 2048}, {2, 8704, 1024}, {4, 4864, 512}, {28, 1572, 256}};
	static struct service_group some[GROUPS];

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct server_config config = {.groups = some, .group_count = cases[i].groups};

		assert_int_equal(server_queued_max(&config, &some[cases[i].groups - 1]),
				 cases[i].queued);
		assert_int_equal(server_hand_over_max(&config), cases[i].hand_over);
		some[0].max_queued = 777;
		assert_int_equal(server_queued_max(&config, &some[0]), 777);
		some[0].max_queued = 0;
	}
}

/* The estimate does not depend on the order of groups, and includes the flow cache. */
TEST(memory_estimate_includes_all_groups) {
	struct server_config config = {.groups = groups, .group_count = 2};
	unsigned mb[2], without_cache;

	for (unsigned large = 0; large < 2; large++) {
		load(&groups[large], 1 + large, 2 * MODEMS);
		load(&groups[!large], 1 + !large, 1);
		mb[large] = server_memory_mb(&config, NULL);
		groups[0].has_flow_cache = true;
		without_cache = server_memory_mb(&config, NULL);
		groups[0].flow_cache = (1 << 18) + 1;
		assert_in_range(server_memory_mb(&config, NULL) - without_cache, 31, 32);
		service_group_free(&groups[0]);
		service_group_free(&groups[1]);
	}
	assert_int_equal(mb[0], mb[1]);
}

static int start(void **state) {
	fixture_start_eal(1100);
	return 0;
}

ALL_TESTS(start, fixture_stop)
