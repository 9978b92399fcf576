/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server takes of DPDK's heap and of the C library's: with more groups, and with more modems. */
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
#define FLOWS 4 /* of a modem in each direction */
#define MODEM_MAX 11500 /* bytes, with capacity for a quarter more modems and what the loader has */
#define MODEM_SERVED_MAX 9500 /* without the loader's */
#define MODEM_BARE_MAX 8500 /* and without its keys */
#define GROUP_MAX (4ull * MIB) /* tables and the cache of flows, beside the modems */
#define GROUP_ALL_MAX (16ull * MIB) /* the same with all buffers of its own */
#define SERVER_MAX (720ull * MIB) /* of a process of 1 GiB */

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
static uint16_t ports[2][2]; /* by role; both ends */

static void load(struct service_group *sg, unsigned id, unsigned modems) {
	char *filled = malloc(2000ul + modems * 2000ul), *at = filled;
	unsigned sfid = 1, dsid = 1;

	assert_non_null(filled);
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
	group_load(sg, filled);
	free(filled);
}

static uint64_t used(void) {
	struct mallinfo2 info = mallinfo2();

	return heaps_used().bytes + info.uordblks + info.hblkhd;
}

/* All groups share two ports. */
struct taken {
	uint64_t pools, rest; /* bytes */
};

static struct taken measure(unsigned count, unsigned modems) {
	struct server_config config = {.groups = groups, .group_count = count};
	struct server s = {0};
	struct taken t;
	uint64_t before = used(), of_dpdk = heaps_used().bytes;

	for (unsigned g = 0; g < count; g++)
		load(&groups[g], g + 1, modems);
	t.rest = used() - before;
	s.ports.count = 2;
	for (enum device_role role = DEVICE_NETWORK; role <= DEVICE_RPHY; role++)
		s.ports.list[role] = (struct server_port){
			.role = role, .queue_size = 4096, .open = true, .id = ports[role][0]};
	for (unsigned g = 0; g < count; g++) {
		s.ports.of[g][DEVICE_RPHY] = 1;
		s.ports.of[g][DEVICE_CONTROL] = SERVER_NO_PORT;
	}
	before = used();
	assert_int_equal(server_create(&s, &config), 0);
	t.pools = used() - before;
	before = used();
	assert_int_equal(server_serve(&s), 0);
	t.rest += used() - before;
	of_dpdk = heaps_used().bytes - of_dpdk;
	assert_true(of_dpdk <= (uint64_t)server_memory_mb(&config, &s.ports) * MIB);
	s.ports.count = 0; /* they stay open */
	server_free(&s);
	for (unsigned g = 0; g < count; g++)
		service_group_free(&groups[g]);
	print_message("%u groups of %u modems: %.1f MiB of buffers, %.1f MiB beside\n", count,
		      modems, (double)t.pools / MIB, (double)t.rest / MIB);
	return t;
}

/* Where the bytes of a modem are. */
enum part { LOADED, LIVE, KEYS, DOWNSTREAM, UPSTREAM, PARTS_ALONE };

static const char *const part_names[PARTS_ALONE] = {
	"the loader, until it is served", "the group in service, for changes", "keys",
	"downstream: addresses, records", "upstream: SIDs, flows, streams"};

/* Each made alone, as a server makes it. */
static void take_parts(unsigned modems, uint64_t parts[PARTS_ALONE]) {
	struct service_group sg;
	struct live_group live;
	struct crypto_provider *crypto = crypto_apart_open(SOCKET_ID_ANY);
	struct ds_tables down;
	struct us_tables up;
	void *keys[3 * 2 * MODEMS] = {NULL}; /* two of each upstream, one downstream */
	struct group_capacity capacity;
	uint64_t at[PARTS_ALONE + 1] = {used()};

	assert_non_null(crypto);
	load(&sg, 1, modems);
	capacity = group_capacity(&sg);
	at[LOADED + 1] = used();
	assert_int_equal(live_group_create(&live, &sg, &capacity, (char[LIVE_LINE]){0}), 0);
	at[LIVE + 1] = used();
	for (unsigned k = 0; k < 2 * modems; k++)
		keys[k % 2 == 0 ? k : 2 * modems + k / 2] =
			crypto_key_make(crypto, k % 2 == 0 ? CRYPTO_UPLINK : CRYPTO_DOWNLINK,
					CIPHER_AES_128, sg.modems[k / 2].security.key);
	at[KEYS + 1] = used();
	assert_int_equal(ds_tables_create(&down, &sg, &capacity, &keys[2 * modems]), 0);
	at[DOWNSTREAM + 1] = used();
	assert_int_equal(us_tables_create(&up, &sg, &capacity, keys), 0);
	at[UPSTREAM + 1] = used();
	for (enum part p = 0; p < PARTS_ALONE; p++)
		parts[p] = at[p + 1] - at[p];
	us_tables_free(&up);
	ds_tables_free(&down);
	for (unsigned k = 0; k < 3 * modems; k++)
		crypto_key_free(crypto, k < 2 * modems ? CRYPTO_UPLINK : CRYPTO_DOWNLINK,
				CIPHER_AES_128, keys[k]);
	crypto_close(crypto);
	live_group_free(&live);
	service_group_free(&sg);
}

/* `all`: of a modem in all, the loader's part of it included; what no part has is the scheduler's. */
static void tell_parts(uint64_t all) {
	uint64_t few[PARTS_ALONE], many[PARTS_ALONE], a_modem[PARTS_ALONE], rest = all;

	take_parts(MODEMS, few);
	take_parts(2 * MODEMS, many);
	for (enum part p = 0; p < PARTS_ALONE; p++) {
		a_modem[p] = (many[p] - few[p]) / MODEMS;
		rest -= a_modem[p];
		print_message("%6" PRIu64 " B a modem: %s\n", a_modem[p], part_names[p]);
	}
	print_message("%6" PRIu64 " B a modem: the scheduler, and all else\n", rest);
	assert_true(all < MODEM_MAX);
	assert_true(all - a_modem[LOADED] < MODEM_SERVED_MAX);
	assert_true(all - a_modem[LOADED] - a_modem[KEYS] < MODEM_BARE_MAX);
}

TEST(what_it_takes) {
	struct rte_mempool *pool = fixture_pool("far", 127, FIXTURE_ROOM);
	struct taken one, more_modems, two, all;
	uint64_t modems;

	assert_int_equal(port_pair("memory_network", pool, 64, ports[DEVICE_NETWORK]), 0);
	assert_int_equal(port_pair("memory_rphy", pool, 64, ports[DEVICE_RPHY]), 0);
	one = measure(1, MODEMS);
	more_modems = measure(1, 2 * MODEMS);
	two = measure(2, MODEMS);
	all = measure(GROUPS, MODEMS);
	assert_true(two.rest - one.rest < GROUP_MAX + (uint64_t)MODEMS * MODEM_MAX);
	modems = more_modems.rest - one.rest;
	assert_true(two.pools + two.rest - one.pools - one.rest - modems < GROUP_ALL_MAX);
	assert_true(all.pools + all.rest < SERVER_MAX);
	for (int i = 0; i < 4; i++)
		port_close(ports[i / 2][i % 2]);
	fixture_pool_end(pool);
	print_message("%.1f kB of buffers for frames of a modem that are not whole\n",
		      (double)(more_modems.pools - one.pools) / MODEMS / 1000);
	tell_parts((more_modems.rest - one.rest) / MODEMS);
}

/* What groups may have in their queues: 16,384 and 1,024 a group more are divided, or as each says. */
TEST(shares) {
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

/* Which of its groups is the large one is the same to a server. A record of the cache of flows is a cache line, in a power
 * of two of them. */
TEST(all_groups_are_estimated) {
	struct server_config config = {.groups = groups, .group_count = 2};
	unsigned mb[2], none;

	for (unsigned large = 0; large < 2; large++) {
		load(&groups[large], 1 + large, 2 * MODEMS);
		load(&groups[!large], 1 + !large, 1);
		mb[large] = server_memory_mb(&config, NULL);
		groups[0].has_flow_cache = true;
		none = server_memory_mb(&config, NULL);
		groups[0].flow_cache = (1 << 18) + 1;
		assert_in_range(server_memory_mb(&config, NULL) - none, 31, 32);
		service_group_free(&groups[0]);
		service_group_free(&groups[1]);
	}
	assert_int_equal(mb[0], mb[1]);
}

static int start(void **state) {
	fixture_eal(1100);
	return 0;
}

ALL_TESTS(start, fixture_stop)
