/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends random and malformed packets, and compares group or drop reason with share_model.c. */
#include "test_main.h"

#include "packets.h"
#include "random.h"
#include "share_model.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#include "fixture.h"

#define CONFIGURATIONS 120
#define PACKETS 400 /* per configuration, one per round */
#define BURSTS 20 /* per configuration */
#define SIZE 90 /* bytes per frame, before tags */

static struct share_rig storage, *const rig = &storage;
static struct random rng = {.state = 20260611};
static unsigned conflicts, results[DROP_REASONS + 1]; /* packets per drop reason; last: delivered */

static unsigned draw(unsigned n) {
	return random_below(&rng, n);
}

/* Chooses from few values per setting, so that groups often have the same. */
static void randomize_group(unsigned g) {
	static const uint16_t vlans[] = {0, 10, 0x10a}; /* these differ above 8 bits */
	struct service_group *sg = &rig->groups[g];
	bool vlan = draw(2) == 0;

	sg->network.vlan = vlan ? vlans[draw(3)] : 0;
	sg->rphy_port.vlan = vlan ? vlans[draw(3)] : 0;
	sg->network.has_mac = draw(2) == 0;
	rig_write_mac(draw(6) ? g : 0, SHARE_NETWORK, sg->network.mac);
	rig_write_mac(draw(6) ? g : 0, SHARE_RPHY, sg->rphy.core_mac);
	if (draw(4) == 0)
		rig->channels[g] = rig->channels[draw(RIG_GROUPS)];
	if (draw(6) == 0)
		sg->upstream_channel_count = 0;
	if (draw(3) == 0)
		rig->addresses[g][draw(RIG_MODEMS)][0] =
			rig->addresses[draw(RIG_GROUPS)][draw(RIG_MODEMS)][0];
	if (draw(8) == 0)
		rig->list[g] = NULL;
}

static void write_network_frame(uint8_t *out) {
	static const uint8_t unknown[][16] = {
		{10, 77}, {224, 0, 0, 1}, {255, 255, 255, 255}, {0xff, 2, [15] = 1}};
	const struct modem *m = &rig->modems[draw(RIG_GROUPS)][draw(RIG_MODEMS)];
	const uint8_t *address = unknown[draw(4)];
	uint8_t mac[6] = {255, 255, 255, 255, 255, 255};

	switch (draw(8)) {
	case 0:
	case 1: packet_write_ipv4(out, SIZE, 1, m->addresses[0].bytes); break;
	case 2: packet_write_ipv6(out, SIZE, 1, m->addresses[1].bytes); break;
	case 3: packet_write_arp(out, SIZE, 1, m->addresses[0].bytes); break;
	case 4: packet_write_llc(out, SIZE, 1, m->mac); return;
	case 5: packet_write_ipv4(out, SIZE, 1, address); break;
	case 6: packet_write_ipv6(out, SIZE, 1, address); break;
	default: packet_write_llc(out, SIZE, 1, address); break;
	}
	if (draw(3) != 0)
		rig_write_mac(draw(RIG_GROUPS + 1), SHARE_NETWORK, mac);
	if (draw(3) != 0)
		memcpy(out, mac, sizeof(mac));
}

static void write_rphy_frame(uint8_t *out) {
	static const uint32_t kinds[] = {0x10000, 0x20000, 0x30000, 0x40000};
	uint32_t session = draw(12) == 0 ? 0 : kinds[draw(4)] + draw(RIG_GROUPS);
	uint8_t mac[6];

	rig_write_mac(draw(RIG_GROUPS), SHARE_RPHY, mac);
	switch (draw(4)) {
	case 0: rig_write_l2tp(out, 6, mac, session); break;
	case 1: rig_write_l2tp_udp(out, mac, session); break;
	case 2: rig_write_l2tp(out, 4, mac, session); break;
	default: packet_write_ipv4(out, SIZE, 1, rig->addresses[0][0][0].bytes);
	}
}

/* Adds VLAN tags, changes bytes and truncates the frame at random. Returns the new size. */
static size_t damage_frame(uint8_t *out, size_t size) {
	static const uint16_t types[] = {ETHERTYPE_VLAN, ETHERTYPE_VLAN, ETHERTYPE_VLAN,
					 ETHERTYPE_SERVICE_VLAN};
	static const uint16_t vlans[] = {0, 10, 0x10a, 12, 0xe00a};
	unsigned tags = draw(16) == 0 ? 2 : draw(2);

	while (tags-- > 0)
		size = rig_add_tag(out, out, size, types[draw(4)], vlans[draw(5)]);
	for (unsigned wrong = draw(4) == 0 ? 1 + draw(3) : 0; wrong > 0; wrong--)
		out[draw((unsigned)size)] = (uint8_t)draw(256);
	return draw(3) == 0 ? draw((unsigned)size + 1) : size;
}

/* Checks the bytes of the group's next packet: the frame, without its tag if `tag` is set. */
static void check_next_packet(unsigned group, const uint8_t *frame, size_t size, bool tag) {
	size_t from = tag ? 4 : 0;
	uint8_t received[RIG_FRAME_SIZE];
	struct rte_mbuf *m;

	assert_int_equal(rig_receive(rig, group, &m, 1), 1);
	fixture_packet_check(m);
	assert_int_equal(fixture_packet_read(m, received, sizeof(received)), size - from);
	assert_memory_equal(received, frame, RTE_MIN(size, (size_t)12));
	if (size > 12 + from)
		assert_memory_equal(received + 12, frame + 12 + from, size - 12 - from);
	rte_pktmbuf_free(m);
}

/* Sends `n` packets in one burst, and compares received packets and drops with the model. */
static void compare_burst(enum share_side side, unsigned n) {
	static uint8_t frames[PIPELINE_BURST][RIG_FRAME_SIZE];
	uint64_t before[DROP_REASONS], expected[DROP_REASONS] = {0};
	size_t sizes[PIPELINE_BURST];

	memcpy(before, rig->s->counters.drops, sizeof(before));
	for (unsigned i = 0; i < n; i++) {
		if (side == SHARE_NETWORK)
			write_network_frame(frames[i]);
		else
			write_rphy_frame(frames[i]);
		sizes[i] = damage_frame(frames[i], SIZE);
		rig_send(rig, frames[i], sizes[i], n == 1);
	}
	/* counted at both stages, receive and tell_apart */
	assert_int_equal(pipeline_run(&rig->s->receiving), 2 * n);
	for (unsigned i = 0; i < n; i++) {
		enum drop_reason reason;
		bool tag;
		int group = share_model_group(rig, side, frames[i], sizes[i], &reason, &tag);

		results[group < 0 ? reason : DROP_REASONS]++;
		if (group < 0)
			expected[reason]++;
		else
			check_next_packet((unsigned)group, frames[i], sizes[i], tag);
	}
	for (unsigned d = 0; d < DROP_REASONS; d++) {
		uint64_t drops = rig->s->counters.drops[d] - before[d];

		if (drops != expected[d])
			fail_msg("side %d: %lu of %u packets dropped as %s, expected %lu", side,
				 drops, n, drop_name((enum drop_reason)d), expected[d]);
	}
	assert_int_equal(share_pending_in(rig->s), 0);
	rig_check(rig);
}

static void test_configuration(enum share_side side) {
	char why[LIVE_LINE];

	rig_prepare(rig, RIG_GROUPS);
	for (unsigned g = 0; g < RIG_GROUPS; g++)
		randomize_group(g);
	if (share_model_conflicts(rig, side)) {
		assert_null(share_table_create("test", side, rig->list, rig->count, why));
		/* the message proposes MAC addresses, unless these are the conflict */
		assert_int_equal(strstr(why, ", or each its own ") != NULL,
				 strstr(why, "have MAC address 02:00:") == NULL);
		conflicts++;
		return;
	}
	rig_open(rig, side);
	for (unsigned p = 0; p < PACKETS; p++)
		compare_burst(side, 1);
	for (unsigned b = 0; b < BURSTS; b++)
		compare_burst(side, 1 + draw(PIPELINE_BURST));
	rig_close(rig);
}

TEST(random_packets_match_model) {
	static const enum drop_reason untested[] = {DROP_PORT_CHAINED, DROP_PORT_GROUP_FULL,
						    DROP_PORT_STOPPED, DROP_PORT_UNSENT,
						    DROP_PORT_MISDIRECTED};

	for (unsigned w = 0; w < CONFIGURATIONS; w++)
		test_configuration(w % 2 == 0 ? SHARE_NETWORK : SHARE_RPHY);
	/* the random cases cover everything */
	assert_in_range(conflicts, CONFIGURATIONS / 20, CONFIGURATIONS / 2);
	assert_in_range(results[DROP_REASONS], PACKETS, CONFIGURATIONS * PACKETS);
	for (unsigned d = 0; d < DROP_REASONS; d++) {
		bool can = drop_in((enum drop_reason)d, DIRECTION_PORT);

		for (size_t i = 0; i < ARRAY_COUNT(untested); i++)
			can &= d != untested[i];
		if (can && results[d] == 0)
			fail_msg("%s: no packet was dropped for this reason",
				 drop_name((enum drop_reason)d));
	}
}

ALL_TESTS(rig_setup, rig_teardown)
