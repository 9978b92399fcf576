/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both directions of a group on the same two ports: on how many workers, on which cores and under
 * which names, and that each worker does its part.
 */
#include "test.h"

#include <string.h>

#include <rte_ethdev.h>

#include "model/load/loader.h"
#include "platform/pad.h"
#include "platform/port.h"
#include "server/layout.h"
#include "server/measure.h"
#include "server/server.h"

#include "fixture.h"
#include "packets.h"
#include "uepi_burst.h"

#define SESSION 0x20001
#define PACKET 100
#define MANAGEMENT 46

static const char text[] =
	"name: both\n"
	"service_group: 9\n"
	"channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: 0x10001}]\n"
	"bonding_groups: [{id: 1, channels: [1]}]\n"
	"%supstream: {verify_source: false, verify_crc: true}\n"
	"modems:\n"
	"  - mac: '02:01:00:00:00:01'\n"
	"    addresses: [10.0.0.1]\n"
	"    bonding_group: 1\n"
	"    security: {said: 1, cipher: none}\n"
	"    service_flows: [{id: 1}]\n"
	"%s"
	"threads: {downstream: %s, upper_mac_core: 3, lower_mac_core: 4, upstream_core: %u}\n";
static const char channels[] =
	"upstream_channels: [{id: 1, type: sc-qam, rate: 30 Mbps, session: 0x20001}]\n";
static const char flows[] = "    upstream_service_flows:\n"
			    "      - {id: 100, segment_header: false,\n"
			    "         sid_clusters: [{id: 0, sids: [{channel: 1, sid: 5}]}]}\n";

static struct service_group sg;
static struct lone_group lone;
static struct server server_made, *const server = &server_made;
static struct served_group *group; /* its only one */
static uint16_t far[3]; /* network, R-PHY, control */

static void load(bool upstream, const char *layout, unsigned core) {
	char config[2048];

	snprintf(config, sizeof(config), text, upstream ? channels : "", upstream ? flows : "",
		 layout, core);
	group_load(&sg, config);
}

static void open_server(bool control) {
	static unsigned opened;
	uint16_t network[2], rphy[2], side[2];
	char name[32];

	if (opened++ == 0)
		fixture_eal(server_memory_mb(lone_group_config(&lone, &sg), NULL));
	assert_int_equal(server_create(server, lone_group_config(&lone, &sg)), 0);
	snprintf(name, sizeof(name), "network%u", opened);
	assert_int_equal(port_pair(name, server->pools.packets, 64, network), 0);
	snprintf(name, sizeof(name), "rphy%u", opened);
	assert_int_equal(port_pair(name, server->pools.packets, 64, rphy), 0);
	snprintf(name, sizeof(name), "control%u", opened);
	assert_int_equal(port_pair(name, server->pools.packets, 64, side), 0);
	if (control)
		server_ports_give(&server->ports, 0, DEVICE_CONTROL, side[1]);
	server_ports_give(&server->ports, 0, DEVICE_NETWORK, network[1]);
	server_ports_give(&server->ports, 0, DEVICE_RPHY, rphy[1]);
	assert_int_equal(server_serve(server), 0);
	group = &server->groups[0];
	far[0] = network[0];
	far[1] = rphy[0];
	far[2] = side[0];
	if (!control)
		port_close(side[1]);
}

static void close_server(void) {
	for (int i = 0; i < 3; i++)
		port_close(far[i]);
	server_stop(server);
	assert_int_equal(server_held(server), 0);
	assert_int_equal(rte_mempool_in_use_count(server->pools.packets), 0);
	server_free(server);
	service_group_free(&sg);
}

/* A burst with a frame of the modem, as the R-PHY device sends it, or one that does not end. */
static void send_burst(enum docsis_kind kind, size_t size, bool whole) {
	static uint16_t sequence;
	const struct uepi_burst burst = {.session = SESSION,
					 .sequence = sequence++,
					 .sid = 5,
					 .kind = kind,
					 .size = size,
					 .serial = 7,
					 .open = !whole};
	uint8_t packet[UEPI_BURST_MAX];
	size_t bytes = uepi_burst_write(&sg, &burst, packet);
	struct rte_mbuf *m = fixture_packet(server->pools.uepi, packet, bytes);

	assert_int_equal(rte_eth_tx_burst(far[1], 0, &m, 1), 1);
}

static void send_up(enum docsis_kind kind, size_t size) {
	send_burst(kind, size, true);
}

static void send_down(void) {
	uint8_t frame[PACKET_MAX];
	struct rte_mbuf *m;

	packet_ipv4(frame, PACKET, 1, sg.modems[0].addresses[0].bytes);
	m = fixture_packet(server->pools.packets, frame, PACKET);
	assert_int_equal(rte_eth_tx_burst(far[0], 0, &m, 1), 1);
}

static unsigned take(uint16_t port, size_t size) {
	struct rte_mbuf *m;
	unsigned n = 0;

	while (rte_eth_rx_burst(port, 0, &m, 1) == 1) {
		if (size > 0)
			assert_int_equal(rte_pktmbuf_pkt_len(m), size);
		rte_pktmbuf_free(m);
		n++;
	}
	return n;
}

static void run_worker(unsigned w, int rounds) {
	for (int i = 0; i < rounds; i++) {
		server->workers[w].clock.now += 100000;
		worker_round(&server->workers[w]);
	}
}

struct placement {
	const char *downstream;
	unsigned core;
	unsigned workers, upstream; /* how many, and the one that does the upstream */
	const char *names[LAYOUT_GROUP_WORKERS];
};

static const struct placement placements[] = {
	{"1ds1t", 3, 1, 0, {"upper and lower MAC, upstream"}},
	{"1ds1t", 4, 2, 1, {"upper and lower MAC", "upstream"}},
	{"1ds2t", 3, 2, 0, {"upper MAC, upstream", "lower MAC"}},
	{"1ds2t", 4, 2, 1, {"upper MAC", "lower MAC, upstream"}},
	{"1ds2t", 5, 3, 2, {"upper MAC", "lower MAC", "upstream"}},
};

/* Only the worker of the upstream moves what goes up. */
static void check_placement(const struct placement *l) {
	static struct layout made;
	const unsigned *cores = made.cores;
	bool two = strcmp(l->downstream, "1ds2t") == 0;
	unsigned down = 0;

	load(true, l->downstream, l->core);
	assert_int_equal(layout_make(&made, lone_group_config(&lone, &sg)), 0);
	assert_int_equal(made.worker_count, l->workers);
	assert_int_equal(cores[0], 3);
	assert_int_equal(cores[l->upstream], l->core);
	if (two)
		assert_int_equal(cores[1], 4);
	open_server(false);
	assert_int_equal(server->worker_count, l->workers);
	for (unsigned w = 0; w < l->workers; w++)
		assert_string_equal(server->workers[w].name, l->names[w]);
	send_up(DOCSIS_KIND_PACKET, PACKET);
	send_down();
	for (unsigned w = 0; w < l->workers; w++) {
		run_worker(w, 10);
		assert_int_equal(take(far[0], PACKET), w == l->upstream);
	}
	for (int i = 0; i < 10; i++) {
		for (unsigned w = 0; w < l->workers; w++)
			run_worker(w, 1);
		down += take(far[1], 0);
	}
	assert_int_equal(down, 1);
	assert_int_equal(upstream_in(group->upstream, UNIT_PACKET), 1);
	assert_true(upstream_balanced(group->upstream));
	close_server();
}

static void workers_and_their_names(void **state) {
	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(placements); i++)
		check_placement(&placements[i]);
}

static void without_an_upstream(void **state) {
	(void)state;
	load(false, "1ds2t", 5);
	open_server(false);
	assert_int_equal(server->worker_count, 2);
	assert_string_equal(server->workers[0].name, "upper MAC");
	assert_null(group->upstream);
	assert_null(group->crypto.up_schedules);
	server_account(server, false);
	assert_int_equal(server_held(server), 0);
	close_server();
}

static void control_port(void **state) {
	(void)state;
	load(true, "1ds1t", 3);
	open_server(true);
	send_up(DOCSIS_KIND_MANAGEMENT, MANAGEMENT);
	run_worker(0, 5);
	assert_int_equal(take(far[2], ETHERNET_LEAST), 1);
	assert_int_equal(take(far[0], 0), 0);
	close_server();
}

/* What is held shows, until it is stopped; accounts are kept where they are asked for. */
static void held_and_accounted(void **state) {
	const struct stage_account *a;

	(void)state;
	load(true, "1ds1t", 4);
	open_server(false);
	send_up(DOCSIS_KIND_PACKET, PACKET);
	run_worker(1, 1);
	a = group->upstream->list.accounts;
	assert_true(a[0].calls == 1 && a[0].packets == 1 && a[0].cycles > 0);
	server_account(server, false);
	send_up(DOCSIS_KIND_PACKET, PACKET);
	run_worker(1, 1);
	assert_int_equal(a[0].calls, 1);
	assert_int_equal(take(far[0], PACKET), 2);
	send_burst(DOCSIS_KIND_PACKET, PACKET, false);
	run_worker(1, 1);
	assert_int_equal(server_held(server), 1);
	close_server(); /* stops it */
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workers_and_their_names),
		cmocka_unit_test(without_an_upstream),
		cmocka_unit_test(control_port),
		cmocka_unit_test(held_and_accounted),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
