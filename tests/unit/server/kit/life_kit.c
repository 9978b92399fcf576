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

#define DEPTH 1024 /* packets of a virtual port */
#define STEP_NS 20000 /* simulated time per round */
#define POOL 8191

bool life_upstream_scheduler;
bool life_separate_ports;
static struct life_kit *open_kit; /* or NULL */

static const char config_text[] =
	"name: test-group\n"
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
	bool two_threads = lower != upper;
	unsigned number = life_separate_ports ? 0 : id;
	char control[64], text[4096];

	snprintf(control, sizeof(control), ", control: {device: net_ring_life_control%u_0}", pair);
	snprintf(text, sizeof(text), config_text, id, number, number,
		 life_upstream_scheduler ? ", scheduler: {}" : "", number, number, number, number,
		 number, pair, pair, life_separate_ports ? control : "",
		 two_threads ? "1ds2t" : "1ds1t", LIFE_FIRST_CORE + upper,
		 two_threads ? LIFE_FIRST_CORE + lower : LIFE_FIRST_CORE + upper + 1,
		 LIFE_FIRST_CORE + upstream);
	group_load_text(sg, text);
	if (life_nic != NULL)
		life_nic->edit_group(sg);
}

struct service_group *life_kit_load_extra(struct life_kit *k, unsigned id, unsigned pair,
					  unsigned upper, unsigned lower, unsigned upstream) {
	life_kit_load(&k->extra[id], id, pair, upper, lower, upstream);
	return &k->extra[id];
}

const struct life_nic *life_nic;

static const char *const side_names[] = {"net", "rphy", "control"};

/* Writes the name of a virtual port. Returns whether life_nic provides it. */
static bool port_name(unsigned pair, unsigned side, char name[32]) {
	snprintf(name, 32, "life_%s%u", side_names[side], pair);
	return life_nic != NULL && pair == LIFE_SHARED;
}

static unsigned port_count(void) {
	return life_pairs() * (life_separate_ports ? 3 : 2);
}

static uint16_t *test_port(struct life_kit *k, unsigned i) {
	uint16_t *const ends[] = {k->network, k->rphy, k->control};

	return &ends[i / life_pairs()][i % life_pairs()];
}

/* Creates the ports. The test uses one end; the server configures, starts and closes the other. */
static void ports_open(struct life_kit *k) {
	for (unsigned i = 0; i < port_count(); i++) {
		uint16_t ids[2];
		char name[32];

		if (port_name(i % life_pairs(), i / life_pairs(), name)) {
			life_nic->create(name, k->pool, DEPTH, ids);
		} else {
			assert_int_equal(port_pair(name, k->pool, DEPTH, ids), 0);
			assert_int_equal(rte_eth_dev_stop(ids[0]), 0);
		}
		*test_port(k, i) = ids[1];
	}
}

static void ports_close(struct life_kit *k) {
	for (unsigned i = 0; i < port_count(); i++) {
		char name[32], device[48];

		port_close(*test_port(k, i));
		if (port_name(i % life_pairs(), i / life_pairs(), name)) {
			life_nic->destroy(name);
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

void life_kit_restore_devices(unsigned pair) {
	for (unsigned side = 0; side < 2; side++) {
		struct rte_ring *rings[2];
		char name[32], device[48];
		uint16_t id;

		if (port_name(pair, side, name))
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

int life_kit_try_serve(struct life_kit *k, unsigned memory_mb) {
	static bool running;

	if (!running)
		fixture_start_eal(memory_mb);
	running = true;
	k->pool = fixture_pool_create("life", POOL, FIXTURE_BUFFER_SIZE);
	ports_open(k);
	assert_int_equal(server_ports_find(&k->server.ports, &k->config), 0);
	assert_int_equal(server_create(&k->server, &k->config), 0);
	assert_int_equal(
		server_ports_open(&k->server.ports, k->server.pools.packets, k->server.pools.uepi),
		0);
	return server_serve(&k->server);
}

void life_kit_serve(struct life_kit *k, unsigned memory_mb) {
	assert_int_equal(life_kit_try_serve(k, memory_mb), 0);
	assert_int_equal(server_ports_start(&k->server.ports), 0);
	server_steering_start(&k->server);
	open_kit = k;
}

void life_kit_open(struct life_kit *k, unsigned count, unsigned max_groups) {
	life_kit_teardown(NULL);
	memset(k, 0, sizeof(*k));
	life_kit_load(&k->file[0], 1, LIFE_SHARED, 0, 1, 2);
	life_kit_load(&k->file[1], 2, LIFE_SHARED, 2, 1, 0);
	k->config = (struct server_config){
		.groups = k->file, .group_count = count, .max_groups = max_groups};
	life_kit_serve(k, 256);
	assert_int_equal(k->server.worker_count, LIFE_WORKERS);
}

void life_kit_configure_separate(struct life_kit *k, unsigned count, const unsigned workers[][3]) {
	life_kit_teardown(NULL);
	memset(k, 0, sizeof(*k));
	life_separate_ports = true;
	for (unsigned g = 0; g < count; g++)
		life_kit_load(&k->file[g], g + 1, g, workers[g][0], workers[g][1], workers[g][2]);
	k->config = (struct server_config){.groups = k->file, .group_count = count};
}

void life_kit_close(struct life_kit *k) {
	open_kit = NULL; /* also if a check below fails */
	assert_true(server_balanced(&k->server));
	server_stop(&k->server);
	life_kit_receive(k);
	server_check_empty(&k->server);
	life_kit_free(k);
}

void life_kit_free(struct life_kit *k) {
	server_free(&k->server);
	ports_close(k);
	fixture_pool_free(k->pool);
	for (unsigned g = 0; g < LIFE_SEPARATE; g++)
		service_group_free(&k->file[g]);
	for (unsigned g = 0; g < LIFE_IDS; g++)
		service_group_free(&k->extra[g]);
	life_nic = NULL;
	life_separate_ports = false;
}

int life_kit_teardown(void **state) {
	if (open_kit != NULL)
		life_kit_close(open_kit);
	return 0;
}

unsigned life_kit_add(struct life_kit *k, const struct service_group *sg) {
	char why[LIVE_LINE] = "";
	unsigned group = UINT32_MAX;

	if (!server_group_add(&k->server, sg, &group, why))
		fail_msg("%s", why);
	return group;
}

void life_kit_remove(struct life_kit *k, unsigned group, unsigned limit_ms) {
	char why[LIVE_LINE] = "";

	if (!server_group_remove(&k->server, group, limit_ms, why))
		fail_msg("%s", why);
}

void life_kit_reset_sequences(struct life_kit *k, unsigned id) {
	memset(k->depi_seen[id], 0, sizeof(k->depi_seen[id]));
	k->sequences[id] = 0;
}

static unsigned run_rounds(struct life_kit *k) {
	struct server *s = &k->server;
	unsigned packets = 0;

	for (unsigned w = 0; w < s->worker_count; w++) {
		s->workers[w].clock.now = k->now;
		packets += worker_round(&s->workers[w]);
	}
	life_kit_receive(k);
	return packets;
}

void life_kit_run(struct life_kit *k, uint64_t ns) {
	for (uint64_t end = k->now + ns; k->now < end; k->now += STEP_NS)
		run_rounds(k);
}

void life_kit_settle(struct life_kit *k, uint64_t ns) {
	for (uint64_t end = k->now + ns; k->now < end; k->now += STEP_NS) {
		for (unsigned idle = 0; idle < 3;)
			idle = run_rounds(k) > 0 ? 0 : idle + 1;
	}
}
