/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what a shared port costs in software, in reference cycles per packet: to receive and distribute it, and to
 * dequeue it in its group. Prints both for docs/performance.md. Checks that each packet reaches its group. */
#include "test_main.h"

#include <rte_cycles.h>

#include "packets.h"
#include "share_kit.h"

#define ROUNDS 20000 /* bursts per key */
#define BURST 32
#define GROUPS 4
#define SIZE 800 /* bytes per frame */

static struct share_rig storage, *const rig = &storage;

/* The key by which the port distinguishes the groups. */
enum key { BY_VLAN, BY_MAC, BY_ADDRESS, BY_SESSION, KEYS };

static const char *const key_names[KEYS] = {"VLAN", "MAC address", "subscriber address", "session"};

static void open_groups(enum key key) {
	rig_prepare(rig, GROUPS);
	for (unsigned g = 0; g < GROUPS; g++) {
		rig->groups[g].network.vlan = (uint16_t)(key == BY_VLAN ? 100 + g : 0);
		rig->groups[g].network.has_mac = key == BY_MAC;
		rig_write_mac(g, SHARE_NETWORK, rig->groups[g].network.mac);
	}
	rig_open(rig, key == BY_SESSION ? SHARE_RPHY : SHARE_NETWORK);
}

/* Sends a frame of SIZE bytes, or a tag more, to group `serial` modulo GROUPS. */
static void send_packet(enum key key, uint32_t serial) {
	const struct service_group *sg = &rig->groups[serial % GROUPS];
	const struct modem *m = &sg->modems[serial / GROUPS % RIG_MODEMS];
	uint8_t frame[RIG_FRAME_SIZE] = {0};
	size_t size = SIZE;

	if (key == BY_SESSION) /* zeros behind the packet */
		rig_write_l2tp(frame, 4, sg->rphy.core_mac, sg->upstream_channels[0].session);
	else
		size = packet_write_to_modem(m, 0, frame, SIZE, serial);
	if (key == BY_MAC)
		memcpy(frame, sg->network.mac, 6);
	if (key == BY_VLAN)
		size = rig_add_tag(frame, frame, size, 0x8100, sg->network.vlan);
	rig_send(rig, frame, size, false);
}

TEST(packets_reach_their_group_at_measured_cost) {
	for (enum key key = 0; key < KEYS; key++) {
		uint64_t start, enqueue_cycles = 0, dequeue_cycles = 0;
		struct rte_mbuf *pkts[PIPELINE_BURST];
		uint32_t serial = 0;

		open_groups(key);
		for (unsigned round = 0; round < ROUNDS; round++) {
			for (unsigned i = 0; i < BURST; i++)
				send_packet(key, serial++);
			start = rte_rdtsc();
			pipeline_run(&rig->s->receiving);
			enqueue_cycles += rte_rdtsc() - start;
			for (unsigned g = 0; g < GROUPS; g++) {
				start = rte_rdtsc();
				assert_int_equal(rig_receive(rig, g, pkts, PIPELINE_BURST),
						 BURST / GROUPS);
				dequeue_cycles += rte_rdtsc() - start;
				rte_pktmbuf_free_bulk(pkts, BURST / GROUPS);
			}
		}
		print_message("by %s: %.0f reference cycles per packet to receive, classify and "
			      "enqueue it, %.0f to dequeue it\n",
			      key_names[key], (double)enqueue_cycles / serial,
			      (double)dequeue_cycles / serial);
		rig_close(rig);
	}
}

ALL_TESTS(rig_setup, rig_teardown)
