/* SPDX-License-Identifier: BSD-3-Clause */
#include "groups_bench.h"

#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include "model/load/loader.h"
#include "platform/port.h"

#include "fixture.h"
#include "packets.h"
#include "uepi_burst.h"

#include "test.h"

#define DEPTH 1024
#define STEP_NS 10000
#define SESSION 0x20001

static const char text[] =
	"name: one-of-several\n"
	"service_group: %u\n"
	"channels:\n"
	"  - {id: 1, type: ofdm, rate: 1 Gbps, session: 0x10001}\n"
	"  - {id: 2, type: ofdm, rate: 500 Mbps, session: 0x10002}\n"
	"bonding_groups: [{id: 1, channels: [1, 2]}, {id: 2, channels: [2]}]\n"
	"upstream: {verify_source: false, held: 64 kB, held_by_modem: 64 kB}\n"
	"upstream_channels: [{id: 1, type: sc-qam, rate: 30 Mbps, session: 0x20001}]\n"
	"filter_groups:\n"
	"  - id: 1\n"
	"    rules: [{family: ipv4, action: deny, protocol: udp, destination_ports: 137}]\n"
	"modems:\n"
	"  - mac: '02:01:00:00:00:01'\n"
	"    addresses: [10.0.0.1]\n"
	"    bonding_group: 1\n"
	"    filter_groups: [1]\n"
	"    security: {said: 1, cipher: none}\n"
	"    service_flows: [{id: 1, dsid: 7, buffer: 200 kB}]\n"
	"    upstream_service_flows:\n"
	"      - {id: 100, segment_header: false,\n"
	"         sid_clusters: [{id: 0, sids: [{channel: 1, sid: 5}]}]}\n"
	"  - mac: '02:01:00:00:00:02'\n"
	"    addresses: [10.0.0.2]\n"
	"    bonding_group: 2\n"
	"    security: {said: 2, cipher: aes-128, key: 000102030405060708090a0b0c0d0e0f,\n"
	"               iv: 101112131415161718191a1b1c1d1e1f, key_sequence: 5}\n"
	"    service_flows: [{id: 2, buffer: 200 kB}]\n"
	"ports: {network: {device: net_several%u, queue_size: 64},\n"
	"        rphy: {device: rphy_several%u, queue_size: 64}}\n"
	"threads: {downstream: %s, upper_mac_core: %u, lower_mac_core: %u, upstream_core: %u}\n";

void groups_bench_config(struct groups_bench *b, unsigned count,
			 const struct groups_threads *threads) {
	memset(b, 0, sizeof(*b));
	b->config = (struct server_config){.groups = b->groups, .group_count = count};
	for (unsigned g = 0; g < count; g++) {
		const struct groups_threads *t = &threads[g];
		bool two = t->lower != t->upper;
		unsigned id = g + 1;
		char filled[4096];

		snprintf(filled, sizeof(filled), text, id, id, id, two ? "1ds2t" : "1ds1t",
			 t->upper, two ? t->lower : t->upper + 1, t->upstream);
		group_load(&b->groups[g], filled);
	}
}

int groups_bench_try(struct groups_bench *b) {
	struct server *s = &b->server;
	static bool running;

	if (!running)
		fixture_eal(server_memory_mb(&b->config, NULL));
	running = true;
	assert_int_equal(server_create(&b->server, &b->config), 0);
	for (unsigned g = 0; g < b->config.group_count; g++) {
		b->network[g] = server_give(s, g, DEVICE_NETWORK, s->pools.packets, DEPTH);
		b->rphy[g] = server_give(s, g, DEVICE_RPHY, s->pools.uepi, DEPTH);
		if (b->with_control)
			b->control[g] = server_give(s, g, DEVICE_CONTROL, s->pools.packets, DEPTH);
	}
	return server_serve(&b->server);
}

void groups_bench_open(struct groups_bench *b) {
	assert_int_equal(groups_bench_try(b), 0);
}

void groups_bench_free(struct groups_bench *b) {
	for (unsigned g = 0; g < b->config.group_count; g++) {
		port_close(b->network[g]);
		port_close(b->rphy[g]);
		if (b->with_control)
			port_close(b->control[g]);
	}
	server_free(&b->server);
	for (unsigned g = 0; g < b->config.group_count; g++)
		service_group_free(&b->groups[g]);
}

void groups_bench_close(struct groups_bench *b) {
	assert_true(server_balanced(&b->server));
	server_stop(&b->server);
	server_has_nothing(&b->server);
	groups_bench_free(b);
}

void groups_bench_down(struct groups_bench *b, unsigned group, unsigned modem, uint32_t serial,
		       size_t size) {
	const struct modem *to = &b->groups[group].modems[modem];
	uint8_t frame[PACKET_MAX];
	struct rte_mbuf *m;

	size = packet_for(to, 0, frame, size, serial);
	m = fixture_packet(b->server.pools.packets, frame, size);
	assert_int_equal(rte_eth_tx_burst(b->network[group], 0, &m, 1), 1);
}

static void put_burst(struct groups_bench *b, unsigned group, struct uepi_burst burst) {
	uint8_t packet[UEPI_BURST_MAX];
	struct rte_mbuf *m;
	size_t bytes;

	burst.session = SESSION;
	burst.sequence = b->sequences[group]++;
	burst.sid = 5;
	bytes = uepi_burst_write(&b->groups[group], &burst, packet);
	m = fixture_packet(b->server.pools.uepi, packet, bytes);
	assert_int_equal(rte_eth_tx_burst(b->rphy[group], 0, &m, 1), 1);
}

void groups_bench_up(struct groups_bench *b, unsigned group, uint32_t serial, size_t size) {
	put_burst(b, group,
		  (struct uepi_burst){.kind = DOCSIS_KIND_PACKET, .size = size, .serial = serial});
}

void groups_bench_up_open(struct groups_bench *b, unsigned group) {
	put_burst(b, group,
		  (struct uepi_burst){.kind = DOCSIS_KIND_PACKET, .size = 100, .open = true});
}

void groups_bench_message(struct groups_bench *b, unsigned group) {
	put_burst(b, group, (struct uepi_burst){.kind = DOCSIS_KIND_MANAGEMENT, .size = 46});
}

static void take(struct groups_bench *b, uint16_t port, struct groups_sent *sent) {
	uint8_t frame[16384];
	struct rte_mbuf *m;

	for (; rte_eth_rx_burst(port, 0, &m, 1) == 1; sent->frames++) {
		size_t size = fixture_read(m, frame, sizeof(frame));

		bytes_digest(&sent->digest, &size, sizeof(size));
		bytes_digest(&sent->digest, &b->now, sizeof(b->now));
		bytes_digest(&sent->digest, frame, size);
		rte_pktmbuf_free(m);
	}
}

void groups_bench_settle(struct groups_bench *b) {
	struct server *s = &b->server;

	for (int idle = 0; idle < 3; idle++) {
		for (unsigned w = 0; w < s->worker_count; w++) {
			s->workers[w].clock.now = b->now;
			if (worker_round(&s->workers[w]) > 0)
				idle = -1;
		}
		for (unsigned g = 0; g < s->group_count; g++) {
			take(b, b->network[g], &b->sent[g][0]);
			take(b, b->rphy[g], &b->sent[g][1]);
		}
	}
}

void groups_bench_pass(struct groups_bench *b, uint64_t ns) {
	for (uint64_t end = b->now + ns; b->now < end; b->now += STEP_NS)
		groups_bench_settle(b);
	groups_bench_settle(b);
}
