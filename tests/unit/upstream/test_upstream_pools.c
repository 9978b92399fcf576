/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests an upstream with the pools that a server creates for it. Pending buffers leave enough for
 * the port: gaps in some sessions do not block others. */

#include <rte_ethdev.h>

#include "model/load/loader.h"
#include "platform/port.h"
#include "server/server.h"

#include "packets.h"
#include "upstream_cases.h"

#define MODEMS 4000 /* each has a SID cluster, which can have an incomplete frame */
#define CHANNELS 20
#define SESSION KIT_SC_QAM /* of the first channel */
#define SID 5
#define GOOD 0 /* channel without gaps */
#define PACKET 100 /* bytes */
#define RING 64 /* packets per port */

static const char head[] = "name: pools\n"
			   "service_group: 9\n"
			   "channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: 0x10001}]\n"
			   "bonding_groups: [{id: 1, channels: [1]}]\n"
			   "upstream: {verify_source: false, held: 64 kB, held_by_modem: 64 kB}\n"
			   "ports: {network: {queue_size: 64}, rphy: {queue_size: 64}}\n"
			   "threads: {downstream: 1ds1t, upper_mac_core: 3, upstream_core: 3}\n"
			   "upstream_channels:\n";
static const char channel[] = "  - {id: %u, type: sc-qam, rate: 30 Mbps, session: %u}\n";
static const char modem[] = "  - mac: '02:01:00:00:%02x:%02x'\n"
			    "    addresses: [10.0.%u.%u]\n"
			    "    bonding_group: 1\n"
			    "    security: {said: %u, cipher: none}\n"
			    "    service_flows: [{id: %u}]\n"
			    "    upstream_service_flows:\n"
			    "      - {id: %u, segment_header: false,\n"
			    "         sid_clusters: [{id: 0, sids: [{channel: 1, sid: %u}]}]}\n";

static struct service_group sg;
static struct single_group lone;
static struct server server_made, *const server = &server_made;
static struct upstream *up; /* of its only group */
static uint16_t far[2]; /* the test's ends of the ports: network, R-PHY */

static void load(void) {
	char *text = malloc(sizeof(head) + 4096 + MODEMS * 400ul), *at = text;

	assert_non_null(text);
	at += sprintf(at, "%s", head);
	for (unsigned c = 0; c < CHANNELS; c++)
		at += sprintf(at, channel, c + 1, SESSION + c);
	at += sprintf(at, "modems:\n");
	for (unsigned m = 0; m < MODEMS; m++)
		at += sprintf(at, modem, m >> 8, m & 255, m >> 8, m & 255, m + 1, m + 1,
			      MODEMS + m + 1, m + 1);
	group_load_text(&sg, text);
	free(text);
}

static void open_server(uint32_t mtu) {
	static unsigned opened;
	uint16_t network[2], rphy[2];
	char names[2][24];

	load();
	sg.rphy.mtu = mtu;
	if (opened++ == 0)
		fixture_start_eal(server_memory_mb(single_group_config(&lone, &sg), NULL));
	snprintf(names[0], sizeof(names[0]), "network%u", opened);
	snprintf(names[1], sizeof(names[1]), "rphy%u", opened);
	assert_int_equal(server_create(server, single_group_config(&lone, &sg)), 0);
	assert_int_equal(port_pair(names[0], server->pools.packets, RING, network), 0);
	assert_int_equal(port_pair(names[1], server->pools.packets, RING, rphy), 0);
	server_ports_set(&server->ports, 0, DEVICE_NETWORK, network[1]);
	server_ports_set(&server->ports, 0, DEVICE_RPHY, rphy[1]);
	assert_int_equal(server_serve(server), 0);
	up = server->groups[0].upstream;
	far[0] = network[0];
	far[1] = rphy[0];
	kit_set_defaults(kit);
	kit->sg = sg; /* for what the device sends */
}

static void close_server(void) {
	for (int i = 0; i < 2; i++)
		port_close(far[i]);
	server_stop(server);
	assert_true(upstream_balanced(up));
	assert_int_equal(server_pending(server), 0);
	assert_int_equal(rte_mempool_in_use_count(server->pools.uepi), 0);
	assert_int_equal(rte_mempool_in_use_count(server->pools.pieces), 0);
	server_free(server);
	service_group_free(&sg);
}

static uint64_t counter_of(enum counter which) {
	return up->counters.values[which];
}

/* Sends the packet. The port always has a buffer for it. */
static void send_psp(const struct psp_packet *p) {
	uint8_t packet[KIT_PACKET_MAX];
	struct rte_mbuf *m;

	m = fixture_packet_create(server->pools.uepi, packet, psp_write(p, packet));
	assert_int_equal(rte_eth_tx_burst(far[1], 0, &m, 1), 1);
}

/* Sends a whole burst with a whole frame on channel GOOD. */
static void send_good(void) {
	uint8_t ethernet[PACKET], frame[256];
	struct psp_packet p;

	packet_write_ipv4(ethernet, PACKET, 7, (const uint8_t[]){198, 51, 100, 1});
	kit_begin_burst(&p, SESSION + GOOD, SID);
	psp_add_segment(&p, false, false, frame,
			kit_write_clear_frame(0, DOCSIS_KIND_PACKET, ethernet, PACKET, frame));
	psp_add_trailer(&p);
	send_psp(&p);
}

static unsigned receive_all(void) {
	struct rte_mbuf *m;
	unsigned n = 0;

	while (rte_eth_rx_burst(far[0], 0, &m, 1) == 1) {
		assert_int_equal(rte_pktmbuf_pkt_len(m), PACKET);
		rte_pktmbuf_free(m);
		n++;
	}
	return n;
}

/* Runs the worker at the present time. The buffers in use stay within us_buffers(). */
static void run_rounds(void) {
	struct us_buffers most = us_buffers(&sg, NULL);

	for (int i = 0; i < 4; i++) {
		worker_round(&server->workers[0]);
		assert_true(upstream_balanced(up));
		assert_in_range(rte_mempool_in_use_count(server->pools.uepi), 0, most.packets);
		assert_in_range(rte_mempool_in_use_count(server->pools.pieces), 0, most.pieces);
	}
}

/* If packets are longer than frames, frames have their own pool: attached, they would keep more. */
CASE(frames_and_packets_share_pool_if_same_size, .self_started = true) {
	static const uint32_t mtus[] = {2031, 2030};

	for (unsigned i = 0; i < ARRAY_COUNT(mtus); i++) {
		bool shared = i == 1;

		open_server(mtus[i]);
		assert_int_equal(server->pools.frames == server->pools.uepi, shared);
		assert_int_equal(up->r.attach_frames, shared);
		assert_ptr_equal(up->r.frames, server->pools.frames);
		assert_in_range(server->pools.uepi->size,
				server->pools.max.uepi + (shared ? server->pools.max.frames : 0),
				UINT32_MAX);
		assert_in_range(server->pools.pieces->size, server->pools.max.pieces, UINT32_MAX);
		send_good();
		run_rounds();
		assert_int_equal(receive_all(), 1);
		close_server();
	}
}

/* On all other channels, the second packet of each flow is missing, and more packets follow than
 * may be pending. Good packets come between them. */
CASE(gaps_do_not_block_other_sessions, .self_started = true) {
	unsigned sent = 0, good = 0, received = 0;

	open_server(1500);
	assert_true((CHANNELS - 1) * US_PSP_FLOWS * (US_PSP_WINDOW - 1) >
		    2 * us_buffers(&sg, NULL).packets);
	for (uint16_t number = 0; number <= US_PSP_WINDOW; number += number == 0 ? 2 : 1) {
		for (unsigned c = GOOD + 1; c < CHANNELS; c++) {
			for (uint8_t f = 0; f < US_PSP_FLOWS; f++, sent++) /* empty packets */
				send_psp(&(struct psp_packet){SESSION + c, f, .numbered = true,
							      .sequence = number});
			send_good();
			good++;
			run_rounds();
			received += receive_all();
			assert_int_equal(received, good);
		}
	}
	assert_int_equal(counter_of(COUNTER_RECEIVED), sent + good);
	assert_true(up->uepi.pending_packets > 0);
	for (int i = 0; i < 3; i++) {
		server->workers[0].clock.now += 100000000;
		run_rounds();
	}
	/* packets that left the reorder queue for memory are not lost */
	assert_int_equal(up->uepi.pending_packets, 0);
	assert_int_equal(counter_of(COUNTER_PSP_PACKETS), sent + good);
	assert_int_equal(counter_of(COUNTER_PSP_MISSING), (CHANNELS - 1) * US_PSP_FLOWS);
	assert_int_equal(counters_dropped_units(&up->counters, UNIT_PACKET), 0);
	close_server();
}

/* Limits follow from the configuration, and pools from limits. */
CASE(buffers_follow_from_configuration, .self_started = true) {
	struct us_buffers b;
	uint32_t pending;

	load();
	b = us_buffers(&sg, NULL);
	assert_int_equal(b.pending_packets, US_BURST_PIECES); /* 64 kB would be fewer */
	assert_int_equal(b.pending_frames, (MODEMS + 1) * 5 / 4);
	sg.upstream.pending = 4000000;
	pending = 4000000 / us_packet_size(&sg);
	b = us_buffers(&sg, NULL);
	assert_true(pending > US_BURST_PIECES);
	assert_int_equal(b.pending_packets, pending);
	assert_int_equal(b.pending_frames, (MODEMS + 1) * 5 / 4);
	assert_in_range(b.packets, pending + US_QUEUED + US_BURST_PIECES + US_RECEIVE_BURST,
			UINT32_MAX);
	assert_in_range(b.frames,
			b.pending_frames + US_STOCK + US_TRANSMIT_CAPACITY + PIPELINE_BURST,
			UINT32_MAX);
	assert_in_range(b.pieces, pending + US_QUEUED + US_RECEIVE_BURST * US_BURSTS_MAX,
			UINT32_MAX);
	sg.upstream.pending = 40000000;
	assert_int_equal(us_buffers(&sg, NULL).pending_frames, 40000000 / US_FRAME_BUFFER);
	sg.upstream.pending = 4000000;
	sg.rphy.mtu = 9000;
	assert_int_equal(us_packet_size(&sg), RTE_PKTMBUF_HEADROOM + 9000 + 14 + 4);
	assert_int_equal(us_buffers(&sg, NULL).pending_packets, 4000000 / us_packet_size(&sg));
	sg.rphy.mtu = 1500;
	assert_int_equal(us_packet_size(&sg), RTE_PKTMBUF_HEADROOM + 2048);
	service_group_free(&sg);
}

/* A start fails if a pool has one buffer less, also if packets and frames share a pool. */
CASE(pool_with_a_buffer_less_is_refused, .self_started = true) {
	static struct rte_mempool packets, frames, pieces;
	struct rte_mempool *const pools[] = {&packets, &frames, &pieces};
	struct us_buffers b;

	load();
	b = us_buffers(&sg, NULL);
	for (unsigned shared = 0; shared < 2; shared++) {
		const struct us_resources r = {.packets = &packets,
					       .frames = shared ? &packets : &frames,
					       .pieces = &pieces};

		packets.size = b.packets + (shared ? b.frames : 0);
		frames.size = b.frames;
		pieces.size = b.pieces;
		for (unsigned i = 0; i < ARRAY_COUNT(pools); i++) {
			assert_int_equal(us_pools_check(&sg, &r), 0);
			pools[i]->size--;
			assert_int_equal(us_pools_check(&sg, &r), shared && i == 1 ? 0 : -1);
			pools[i]->size++;
		}
	}
	service_group_free(&sg);
}
