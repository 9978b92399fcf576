/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a shared port costs a packet where software tells it apart: told here, for docs/performance.md. What is asserted
 * is that each packet came to its group.
 */
#include "test_main.h"

#include <rte_cycles.h>

#include "packets.h"
#include "share_kit.h"

#define ROUNDS 20000
#define BURST 32
#define GROUPS 4
#define SIZE 800

static struct share_kit storage, *const rig = &storage;

/* By what the groups are told apart. */
enum way { BY_VLAN, BY_MAC, BY_ADDRESS, BY_SESSION, WAYS };

static const char *const names[WAYS] = {"VLAN", "MAC address", "subscriber's address", "session"};

static void open_groups(enum way way) {
	rig_prepare(rig, GROUPS);
	for (unsigned g = 0; g < GROUPS; g++) {
		rig->groups[g].network.vlan = (uint16_t)(way == BY_VLAN ? 100 + g : 0);
		rig->groups[g].network.has_mac = way == BY_MAC;
		rig_mac(g, 2, rig->groups[g].network.mac);
	}
	rig_open(rig, way == BY_SESSION ? SHARE_RPHY : SHARE_NETWORK);
}

static void send_packet(enum way way, uint32_t serial) {
	const struct service_group *sg = &rig->groups[serial % GROUPS];
	const struct modem *m = &sg->modems[serial / GROUPS % RIG_MODEMS];
	uint8_t frame[RIG_FRAME];
	size_t size;

	if (way == BY_SESSION)
		size = rig_l2tp(frame, 4, sg->rphy.core_mac, sg->upstream_channels[0].session);
	else
		size = packet_for(m, 0, frame, SIZE, serial);
	if (way == BY_MAC)
		memcpy(frame, sg->network.mac, 6);
	if (way == BY_VLAN)
		size = rig_tag(frame, frame, size, 0x8100, sg->network.vlan);
	rig_send(rig, frame, size, false);
}

TEST(what_it_costs) {
	for (enum way way = 0; way < WAYS; way++) {
		uint64_t start, told = 0, taken = 0;
		struct rte_mbuf *pkts[PIPELINE_BURST];
		uint32_t serial = 0;

		open_groups(way);
		for (unsigned round = 0; round < ROUNDS; round++) {
			for (unsigned i = 0; i < BURST; i++)
				send_packet(way, serial++);
			start = rte_rdtsc();
			pipeline_run(&rig->s->receiving);
			told += rte_rdtsc() - start;
			for (unsigned g = 0; g < GROUPS; g++) {
				start = rte_rdtsc();
				assert_int_equal(rig_take(rig, g, pkts, PIPELINE_BURST),
						 BURST / GROUPS);
				taken += rte_rdtsc() - start;
				rte_pktmbuf_free_bulk(pkts, BURST / GROUPS);
			}
		}
		print_message("by %s: %.0f reference cycles a packet to receive, tell apart and "
			      "put into a ring, %.0f to take it out\n",
			      names[way], (double)told / serial, (double)taken / serial);
		rig_close(rig);
	}
}

ALL_TESTS(rig_begin, rig_end)
