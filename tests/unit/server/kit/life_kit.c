/* SPDX-License-Identifier: BSD-3-Clause */
#include "life_kit.h"

#include <sched.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "model/load/loader.h"
#include "platform/port.h"

#include "fixture.h"
#include "packets.h"

#include "test.h"

#define DEPTH 1024
#define STEP_NS 20000
#define POOL 8191

bool life_scheduled;
bool life_apart;
static struct life_kit *served; /* NULL: none is */

static const char text[] =
	"name: one-that-comes\n"
	"service_group: %u\n"
	"channels:\n"
	"  - {id: 1, type: ofdm, rate: 1 Gbps, session: 0x1%02x01}\n"
	"  - {id: 2, type: ofdm, rate: 500 Mbps, session: 0x1%02x02}\n"
	"bonding_groups: [{id: 1, channels: [1, 2]}, {id: 2, channels: [2]}]\n"
	"upstream: {verify_source: false, held: 64 kB, held_by_modem: 64 kB,\n"
	"           frame_timeout: 10 ms%s}\n"
	"upstream_channels: [{id: 1, type: sc-qam, rate: 30 Mbps, session: 0x2%02x01}]\n"
	"filter_groups:\n"
	"  - id: 1\n"
	"    rules: [{family: ipv4, action: deny, protocol: udp, destination_ports: 137}]\n"
	"modems:\n"
	"  - mac: '02:01:00:00:%02x:01'\n"
	"    addresses: [10.%u.0.1]\n"
	"    bonding_group: 1\n"
	"    filter_groups: [1]\n"
	"    security: {said: 1, cipher: aes-128, key: 000102030405060708090a0b0c0d0e0f,\n"
	"               iv: 101112131415161718191a1b1c1d1e1f, key_sequence: 5}\n"
	"    service_flows: [{id: 1, dsid: 7, buffer: 200 kB}]\n"
	"  - mac: '02:01:00:00:%02x:02'\n"
	"    addresses: [10.%u.0.2]\n"
	"    bonding_group: 2\n"
	"    security: {said: 2, cipher: none}\n"
	"    service_flows: [{id: 2, buffer: 200 kB}]\n"
	"    upstream_service_flows:\n"
	"      - {id: 100, segment_header: false,\n"
	"         sid_clusters: [{id: 0, sids: [{channel: 1, sid: 5}]}]}\n"
	"max_queued: 2048\n"
	"ports: {network: {device: net_ring_life_net%u_0, queue_size: 64},\n"
	"        rphy: {device: net_ring_life_rphy%u_0, queue_size: 64}%s}\n"
	"threads: {downstream: %s, upper_mac_core: %u, lower_mac_core: %u, upstream_core: %u}\n";

void life_kit_load(struct service_group *sg, unsigned id, unsigned pair, unsigned upper,
		   unsigned lower, unsigned upstream) {
	bool two = lower != upper;
	unsigned n = life_apart ? 0 : id;
	char control[64], filled[4096];

	snprintf(control, sizeof(control), ", control: {device: net_ring_life_control%u_0}", pair);
	snprintf(filled, sizeof(filled), text, id, n, n, life_scheduled ? ", scheduler: {}" : "", n,
		 n, n, n, n, pair, pair, life_apart ? control : "", two ? "1ds2t" : "1ds1t",
		 LIFE_CORE + upper, two ? LIFE_CORE + lower : LIFE_CORE + upper + 1,
		 LIFE_CORE + upstream);
	group_load(sg, filled);
	if (life_card != NULL)
		life_card->edit(sg);
}

struct service_group *life_kit_group(struct life_kit *b, unsigned id, unsigned pair, unsigned upper,
				     unsigned lower, unsigned upstream) {
	life_kit_load(&b->others[id], id, pair, upper, lower, upstream);
	return &b->others[id];
}

const struct life_card *life_card;

static const char *const sides[] = {"net", "rphy", "control"};

/* Whether it is a card's, or rings are. */
static bool name_of(unsigned pair, unsigned side, char name[32]) {
	snprintf(name, 32, "life_%s%u", sides[side], pair);
	return life_card != NULL && pair == LIFE_SHARED;
}

static unsigned ports(void) {
	return life_pairs() * (life_apart ? 3 : 2);
}

static uint16_t *far_end(struct life_kit *b, unsigned i) {
	uint16_t *const ends[] = {b->network, b->rphy, b->control};

	return &ends[i / life_pairs()][i % life_pairs()];
}

/* The other ends; what groups name is set up by the server, and closed. */
static void ports_open(struct life_kit *b) {
	for (unsigned i = 0; i < ports(); i++) {
		uint16_t ids[2];
		char name[32];

		if (name_of(i % life_pairs(), i / life_pairs(), name)) {
			life_card->pair(name, b->pool, DEPTH, ids);
		} else {
			assert_int_equal(port_pair(name, b->pool, DEPTH, ids), 0);
			assert_int_equal(rte_eth_dev_stop(ids[0]), 0);
		}
		*far_end(b, i) = ids[1];
	}
}

static void ports_close(struct life_kit *b) {
	for (unsigned i = 0; i < ports(); i++) {
		char name[32], device[48];

		port_close(*far_end(b, i));
		if (name_of(i % life_pairs(), i / life_pairs(), name)) {
			life_card->end(name);
			continue;
		}
		for (unsigned end = 0; end < 2; end++) {
			snprintf(device, sizeof(device), "%s_%u", name, end);
			rte_ring_free(rte_ring_lookup(device));
			snprintf(device, sizeof(device), "net_ring_%s_%u", name, end);
			port_unplug(device);
		}
	}
}

void life_kit_plug(unsigned pair) {
	for (unsigned side = 0; side < 2; side++) {
		struct rte_ring *rings[2];
		char name[32], device[48];
		uint16_t id;

		if (name_of(pair, side, name))
			return;
		for (unsigned end = 0; end < 2; end++) {
			snprintf(device, sizeof(device), "%s_%u", name, end);
			rings[end] = rte_ring_lookup(device);
			assert_non_null(rings[end]);
		}
		snprintf(device, sizeof(device), "net_ring_%s_0", name);
		if (rte_eth_dev_get_port_by_name(device, &id) != 0)
			assert_true(rte_eth_from_rings(device + strlen("net_ring_"), &rings[0], 1,
						       &rings[1], 1, 0) >= 0);
	}
}

int life_kit_try(struct life_kit *b, unsigned memory_mb) {
	static bool running;

	if (!running)
		fixture_eal(memory_mb);
	running = true;
	b->pool = fixture_pool("life", POOL, FIXTURE_ROOM);
	ports_open(b);
	assert_int_equal(server_ports_find(&b->server.ports, &b->config), 0);
	assert_int_equal(server_create(&b->server, &b->config), 0);
	assert_int_equal(
		server_ports_open(&b->server.ports, b->server.pools.packets, b->server.pools.uepi),
		0);
	return server_serve(&b->server);
}

void life_kit_serve(struct life_kit *b, unsigned memory_mb) {
	assert_int_equal(life_kit_try(b, memory_mb), 0);
	assert_int_equal(server_ports_start(&b->server.ports), 0);
	server_steering_start(&b->server);
	served = b;
}

void life_kit_open(struct life_kit *b, unsigned count, unsigned most) {
	life_kit_end(NULL);
	memset(b, 0, sizeof(*b));
	life_kit_load(&b->file[0], 1, LIFE_SHARED, 0, 1, 2);
	life_kit_load(&b->file[1], 2, LIFE_SHARED, 2, 1, 0);
	b->config =
		(struct server_config){.groups = b->file, .group_count = count, .max_groups = most};
	life_kit_serve(b, 256);
	assert_int_equal(b->server.worker_count, LIFE_WORKERS);
}

void life_kit_apart(struct life_kit *b, unsigned count, const unsigned workers[][3]) {
	life_kit_end(NULL);
	memset(b, 0, sizeof(*b));
	life_apart = true;
	for (unsigned g = 0; g < count; g++)
		life_kit_load(&b->file[g], g + 1, g, workers[g][0], workers[g][1], workers[g][2]);
	b->config = (struct server_config){.groups = b->file, .group_count = count};
}

void life_kit_close(struct life_kit *b) {
	served = NULL; /* also where this fails */
	assert_true(server_balanced(&b->server));
	server_stop(&b->server);
	life_kit_take(b);
	server_has_nothing(&b->server);
	life_kit_free(b);
}

void life_kit_free(struct life_kit *b) {
	server_free(&b->server);
	ports_close(b);
	fixture_pool_end(b->pool);
	for (unsigned g = 0; g < LIFE_APART; g++)
		service_group_free(&b->file[g]);
	for (unsigned g = 0; g < LIFE_IDS; g++)
		service_group_free(&b->others[g]);
	life_card = NULL;
	life_apart = false;
}

int life_kit_end(void **state) {
	if (served != NULL)
		life_kit_close(served);
	return 0;
}

unsigned life_kit_add(struct life_kit *b, const struct service_group *sg) {
	char why[LIVE_LINE] = "";
	unsigned group = UINT32_MAX;

	if (!server_group_add(&b->server, sg, &group, why))
		fail_msg("%s", why);
	return group;
}

void life_kit_remove(struct life_kit *b, unsigned group, unsigned limit_ms) {
	char why[LIVE_LINE] = "";

	if (!server_group_remove(&b->server, group, limit_ms, why))
		fail_msg("%s", why);
}

void life_kit_comes_again(struct life_kit *b, unsigned id) {
	memset(b->depi_seen[id], 0, sizeof(b->depi_seen[id]));
	b->sequences[id] = 0;
}

static unsigned rounds(struct life_kit *b) {
	struct server *s = &b->server;
	unsigned moved = 0;

	for (unsigned w = 0; w < s->worker_count; w++) {
		s->workers[w].clock.now = b->now;
		moved += worker_round(&s->workers[w]);
	}
	life_kit_take(b);
	return moved;
}

void life_kit_pass(struct life_kit *b, uint64_t ns) {
	for (uint64_t end = b->now + ns; b->now < end; b->now += STEP_NS)
		rounds(b);
}

void life_kit_settle(struct life_kit *b, uint64_t ns) {
	for (uint64_t end = b->now + ns; b->now < end; b->now += STEP_NS) {
		for (unsigned idle = 0; idle < 3;)
			idle = rounds(b) > 0 ? 0 : idle + 1;
	}
}
