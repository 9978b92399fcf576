/* SPDX-License-Identifier: BSD-3-Clause */
#include "life_bench.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "model/load/loader.h"
#include "platform/port.h"
#include "platform/vlan.h"
#include "wire/bytes.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

#include "depi_reader.h"
#include "fixture.h"
#include "packets.h"
#include "uepi_burst.h"

#include "test.h"

#define DEPTH 1024
#define STEP_NS 20000
#define BURST 100 /* bytes of a modem's frame */
#define MESSAGE 46
#define POOL 8191

#define MAPS 3 /* sessions of theirs begin with it */

bool life_scheduled;
static bool apart; /* groups have ports of their own, and the same addresses */
static struct life_bench *served; /* NULL: none is */

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

void life_bench_load(struct service_group *sg, unsigned id, unsigned pair, unsigned upper,
		     unsigned lower, unsigned upstream) {
	bool two = lower != upper;
	unsigned n = apart ? 0 : id;
	char control[64], filled[4096];

	snprintf(control, sizeof(control), ", control: {device: net_ring_life_control%u_0}", pair);
	snprintf(filled, sizeof(filled), text, id, n, n, life_scheduled ? ", scheduler: {}" : "", n,
		 n, n, n, n, pair, pair, apart ? control : "", two ? "1ds2t" : "1ds1t",
		 LIFE_CORE + upper, two ? LIFE_CORE + lower : LIFE_CORE + upper + 1,
		 LIFE_CORE + upstream);
	group_load(sg, filled);
	if (life_card != NULL)
		life_card->edit(sg);
}

struct service_group *life_bench_group(struct life_bench *b, unsigned id, unsigned pair,
				       unsigned upper, unsigned lower, unsigned upstream) {
	life_bench_load(&b->others[id], id, pair, upper, lower, upstream);
	return &b->others[id];
}

const struct life_card *life_card;

static const char *const sides[] = {"net", "rphy", "control"};

/* Whether it is a card's, or rings are. */
static bool name_of(unsigned pair, unsigned side, char name[32]) {
	snprintf(name, 32, "life_%s%u", sides[side], pair);
	return life_card != NULL && pair == LIFE_SHARED;
}

static unsigned pairs(void) {
	return apart ? LIFE_APART : LIFE_PAIRS;
}

static unsigned ports(void) {
	return pairs() * (apart ? 3 : 2);
}

static uint16_t *far_end(struct life_bench *b, unsigned i) {
	uint16_t *const ends[] = {b->network, b->rphy, b->control};

	return &ends[i / pairs()][i % pairs()];
}

/* The other ends; what groups name is set up by the server, and closed. */
static void ports_open(struct life_bench *b) {
	for (unsigned i = 0; i < ports(); i++) {
		uint16_t ids[2];
		char name[32];

		if (name_of(i % pairs(), i / pairs(), name)) {
			life_card->pair(name, b->pool, DEPTH, ids);
		} else {
			assert_int_equal(port_pair(name, b->pool, DEPTH, ids), 0);
			assert_int_equal(rte_eth_dev_stop(ids[0]), 0);
		}
		*far_end(b, i) = ids[1];
	}
}

static void ports_close(struct life_bench *b) {
	for (unsigned i = 0; i < ports(); i++) {
		char name[32], device[48];

		port_close(*far_end(b, i));
		if (name_of(i % pairs(), i / pairs(), name)) {
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

void life_bench_plug(unsigned pair) {
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

int life_bench_try(struct life_bench *b, unsigned memory_mb) {
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

void life_bench_serve(struct life_bench *b, unsigned memory_mb) {
	assert_int_equal(life_bench_try(b, memory_mb), 0);
	assert_int_equal(server_ports_start(&b->server.ports), 0);
	server_steering_start(&b->server);
	served = b;
}

void life_bench_open(struct life_bench *b, unsigned count, unsigned most) {
	life_bench_end(NULL);
	memset(b, 0, sizeof(*b));
	life_bench_load(&b->file[0], 1, LIFE_SHARED, 0, 1, 2);
	life_bench_load(&b->file[1], 2, LIFE_SHARED, 2, 1, 0);
	b->config =
		(struct server_config){.groups = b->file, .group_count = count, .max_groups = most};
	life_bench_serve(b, 256);
	assert_int_equal(b->server.worker_count, LIFE_WORKERS);
}

void life_bench_apart(struct life_bench *b, unsigned count, const unsigned workers[][3]) {
	life_bench_end(NULL);
	memset(b, 0, sizeof(*b));
	apart = true;
	for (unsigned g = 0; g < count; g++)
		life_bench_load(&b->file[g], g + 1, g, workers[g][0], workers[g][1], workers[g][2]);
	b->config = (struct server_config){.groups = b->file, .group_count = count};
}

void life_bench_close(struct life_bench *b) {
	served = NULL; /* also where this fails */
	assert_true(server_balanced(&b->server));
	server_stop(&b->server);
	life_bench_take(b);
	server_has_nothing(&b->server);
	life_bench_free(b);
}

void life_bench_free(struct life_bench *b) {
	server_free(&b->server);
	ports_close(b);
	fixture_pool_end(b->pool);
	for (unsigned g = 0; g < LIFE_APART; g++)
		service_group_free(&b->file[g]);
	for (unsigned g = 0; g < LIFE_IDS; g++)
		service_group_free(&b->others[g]);
	life_card = NULL;
	apart = false;
}

int life_bench_end(void **state) {
	if (served != NULL)
		life_bench_close(served);
	return 0;
}

unsigned life_bench_add(struct life_bench *b, const struct service_group *sg) {
	char why[LIVE_LINE] = "";
	unsigned group = UINT32_MAX;

	if (!server_group_add(&b->server, sg, &group, why))
		fail_msg("%s", why);
	return group;
}

void life_bench_remove(struct life_bench *b, unsigned group, unsigned limit_ms) {
	char why[LIVE_LINE] = "";

	if (!server_group_remove(&b->server, group, limit_ms, why))
		fail_msg("%s", why);
}

void life_bench_comes_again(struct life_bench *b, unsigned id) {
	memset(b->depi_seen[id], 0, sizeof(b->depi_seen[id]));
	b->sequences[id] = 0;
}

static bool put(const struct life_bench *b, uint16_t port, struct rte_mbuf *m, uint64_t *sent) {
	bool took = life_card != NULL && (port == b->network[0] || port == b->rphy[0])
			    ? life_card->put(port, m)
			    : rte_eth_tx_burst(port, 0, &m, 1) == 1;

	if (took)
		__atomic_fetch_add(sent, 1, __ATOMIC_RELAXED);
	else
		rte_pktmbuf_free(m);
	return took;
}

bool life_bench_down(struct life_bench *b, unsigned pair, const struct service_group *sg,
		     size_t size, uint32_t serial) {
	uint8_t frame[PACKET_MAX];
	struct rte_mbuf *m;

	size = packet_for(&sg->modems[serial % 2], 0, frame, size, serial);
	if (sg->network.has_mac)
		memcpy(frame, sg->network.mac, sizeof(sg->network.mac));
	m = fixture_packet(b->pool, frame, size);
	if (sg->network.vlan != 0)
		packet_tag(m, sg->network.vlan);
	return put(b, b->network[pair], m, &b->sent_down);
}

static bool put_burst(struct life_bench *b, unsigned pair, const struct service_group *sg,
		      uint32_t serial, enum docsis_kind kind, bool open) {
	struct uepi_burst burst = {.session = sg->upstream_channels[0].session,
				   .sequence = b->sequences[sg->id]++,
				   .sid = 5,
				   .kind = kind,
				   .size = kind == DOCSIS_KIND_PACKET ? BURST : MESSAGE,
				   .serial = sg->id << 24 | serial,
				   .open = open};
	uint8_t packet[UEPI_BURST_MAX];
	size_t bytes = uepi_burst_write(sg, &burst, packet);
	struct rte_mbuf *m;

	memcpy(packet, sg->rphy.core_mac, sizeof(sg->rphy.core_mac));
	m = fixture_packet(b->pool, packet, bytes);
	if (sg->rphy_port.vlan != 0)
		packet_tag(m, sg->rphy_port.vlan);
	if (put(b, b->rphy[pair], m, &b->sent_up))
		return true;
	b->sequences[sg->id]--;
	return false;
}

bool life_bench_up(struct life_bench *b, unsigned pair, const struct service_group *sg,
		   uint32_t serial) {
	return put_burst(b, pair, sg, serial, DOCSIS_KIND_PACKET, false);
}

void life_bench_up_open(struct life_bench *b, unsigned pair) {
	assert_true(put_burst(b, pair, &b->file[pair], 0, DOCSIS_KIND_PACKET, true));
}

void life_bench_message(struct life_bench *b, unsigned pair) {
	assert_true(put_burst(b, pair, &b->file[pair], 0, DOCSIS_KIND_MANAGEMENT, false));
}

void life_bench_traffic(struct life_bench *b, unsigned pair, const struct service_group *sg,
			unsigned n) {
	for (unsigned i = 0; i < n; i++, b->serial++) {
		assert_true(life_bench_down(b, pair, sg, 300, b->serial));
		assert_true(life_bench_up(b, pair, sg, b->serial));
	}
}

void life_bench_serves(struct life_bench *b) {
	uint64_t before = b->taken_up[1];

	life_bench_traffic(b, LIFE_SHARED, &b->file[0], 3);
	life_bench_pass(b, 2000000);
	assert_int_equal(b->taken_up[1], before + 3);
	assert_true(server_balanced(&b->server));
}

void life_bench_downs(struct life_bench *b, unsigned pair, const struct service_group *sg,
		      unsigned n) {
	while (n-- > 0)
		assert_true(life_bench_down(b, pair, sg, 300, b->serial++));
}

void life_bench_ups(struct life_bench *b, unsigned pair, const struct service_group *sg,
		    unsigned n) {
	while (n-- > 0)
		assert_true(life_bench_up(b, pair, sg, b->serial++));
}

/* What came is without its tag from here on, but for the digest. */
static void untag(struct rte_mbuf *m) {
	if (load_be16(rte_pktmbuf_mtod(m, const uint8_t *) + VLAN_ADDRESSES) == ETHERTYPE_VLAN)
		packet_untag(m);
}

static void note(struct life_bench *b, uint32_t id, unsigned side, const void *frame, size_t size) {
	if (apart)
		bytes_digest(&b->digest[id][side], &b->now, sizeof(b->now));
	bytes_digest(&b->digest[id][side], frame, size);
}

static void look_up(struct life_bench *b, const uint8_t *frame, size_t size) {
	uint32_t serial = packet_serial(frame), id = serial >> 24;

	assert_int_equal(size, BURST);
	assert_in_range(id, 1, LIFE_IDS - 1);
	if ((serial & 0xffffff) < b->last_up[id])
		fail_msg("group %u: %u comes after %u", id, serial & 0xffffff, b->last_up[id] - 1);
	b->last_up[id] = (serial & 0xffffff) + 1;
	b->taken_up[id]++;
	note(b, id, 0, frame, size);
}

/* Those of a channel are numbered without a gap, from 0 on when the group begins. */
static void look_depi(struct life_bench *b, unsigned pair, const struct rte_mbuf *m) {
	uint8_t frame[16384];
	struct l2tp_data data;
	size_t size;
	uint16_t sequence;
	uint32_t session = depi_session(m), channel = (session & 3) - 1;
	uint32_t id = apart ? pair + 1 : session >> 8 & 0xff;

	if (session >> 16 == MAPS)
		return;
	assert_in_range(id, 1, LIFE_IDS - 1);
	assert_in_range(channel, 0, 1);
	size = fixture_read(m, frame, sizeof(frame));
	note(b, id, 1, frame, size);
	assert_int_equal(l2tp_parse(frame, size, &data), L2TP_OK);
	if ((data.payload[0] & PSP_FLOW) != 0)
		return; /* messages, which are numbered by themselves */
	sequence = load_be16(data.payload + 2);
	if (sequence != 0 && b->depi_seen[id][channel])
		assert_int_equal(sequence, b->depi_next[id][channel]);
	b->depi_seen[id][channel] = true;
	b->depi_next[id][channel] = (uint16_t)(sequence + 1);
	b->depi_frames++;
}

void life_bench_take(struct life_bench *b) {
	uint8_t frame[16384];
	struct rte_mbuf *m;

	for (unsigned p = 0; p < pairs(); p++) {
		while (rte_eth_rx_burst(b->network[p], 0, &m, 1) == 1) {
			untag(m);
			look_up(b, frame, fixture_read(m, frame, sizeof(frame)));
			rte_pktmbuf_free(m);
		}
		while (rte_eth_rx_burst(b->rphy[p], 0, &m, 1) == 1) {
			untag(m);
			look_depi(b, p, m);
			rte_pktmbuf_free(m);
		}
	}
}

static unsigned rounds(struct life_bench *b) {
	struct server *s = &b->server;
	unsigned moved = 0;

	for (unsigned w = 0; w < s->worker_count; w++) {
		s->workers[w].clock.now = b->now;
		moved += worker_round(&s->workers[w]);
	}
	life_bench_take(b);
	return moved;
}

void life_bench_pass(struct life_bench *b, uint64_t ns) {
	for (uint64_t end = b->now + ns; b->now < end; b->now += STEP_NS)
		rounds(b);
}

void life_bench_settle(struct life_bench *b, uint64_t ns) {
	for (uint64_t end = b->now + ns; b->now < end; b->now += STEP_NS) {
		for (unsigned idle = 0; idle < 3;)
			idle = rounds(b) > 0 ? 0 : idle + 1;
	}
}
