/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a shared port costs a packet where software tells it apart: told here, for docs/performance.md. What is asserted
 * is that each packet came to its group.
 */
#include "test_main.h"

#include <string.h>

#include <rte_cycles.h>

#include "fixture.h"
#include "packets.h"
#include "share_rig.h"

#define ROUNDS 20000
#define BURST 32
#define GROUPS 4
#define SIZE 800

static struct share_rig storage, *const rig = &storage;

/* By what the groups are told apart. */
enum way { BY_VLAN, BY_MAC, BY_ADDRESS, BY_SESSION, WAYS };

static const char *const names[WAYS] = {"VLAN", "MAC address", "subscriber's address", "session"};

static void groups_differ(enum way way) {
	rig_prepare(rig, GROUPS);
	for (unsigned g = 0; g < GROUPS; g++) {
		if (way == BY_VLAN)
			rig->groups[g].network.vlan = (uint16_t)(100 + g);
		rig->groups[g].network.has_mac = way == BY_MAC;
		rig_mac(g, 2, rig->groups[g].network.mac);
	}
}

static size_t packet(enum way way, uint32_t serial, uint8_t *frame) {
	unsigned g = serial % GROUPS;
	uint8_t plain[RIG_FRAME];
	size_t size;

	if (way == BY_SESSION) {
		rig_mac(g, 1, plain);
		return rig_l2tp(frame, 4, plain, rig->channels[g].session);
	}
	size = packet_for(&rig->modems[g][serial / GROUPS % RIG_MODEMS], 0, frame, SIZE, serial);
	if (way == BY_MAC)
		memcpy(frame, rig->groups[g].network.mac, 6);
	if (way != BY_VLAN)
		return size;
	memcpy(plain, frame, size);
	return rig_tag(frame, plain, size, 0x8100, rig->groups[g].network.vlan);
}

static void take(uint64_t *cycles) {
	struct rte_mbuf *pkts[PIPELINE_BURST];
	uint16_t n;

	for (unsigned g = 0; g < GROUPS; g++) {
		uint64_t start = rte_rdtsc();

		n = rig_take(rig, g, pkts, PIPELINE_BURST);
		*cycles += rte_rdtsc() - start;
		assert_int_equal(n, BURST / GROUPS);
		rte_pktmbuf_free_bulk(pkts, n);
	}
}

TEST(what_it_costs) {
	for (enum way way = 0; way < WAYS; way++) {
		uint64_t told = 0, taken = 0, most = (uint64_t)ROUNDS * BURST;
		uint8_t frame[RIG_FRAME];

		groups_differ(way);
		rig_open(rig, way == BY_SESSION ? SHARE_RPHY : SHARE_NETWORK);
		for (uint32_t round = 0, serial = 0; round < ROUNDS; round++) {
			uint64_t start;

			for (unsigned i = 0; i < BURST; i++, serial++) {
				size_t size = packet(way, serial, frame);

				rig_send(rig, frame, size, false);
			}
			start = rte_rdtsc();
			pipeline_run(&rig->s->receiving);
			told += rte_rdtsc() - start;
			take(&taken);
		}
		for (unsigned g = 0; g < GROUPS; g++)
			assert_int_equal(rig->taken[g], most / GROUPS);
		print_message("by %s: %.0f reference cycles a packet to receive, tell apart and "
			      "put into a ring, %.0f to take it out\n",
			      names[way], (double)told / (double)most,
			      (double)taken / (double)most);
		rig_close(rig);
	}
}

ALL_TESTS(rig_begin, rig_end)
