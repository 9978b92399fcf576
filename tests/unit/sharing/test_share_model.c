/* SPDX-License-Identifier: BSD-3-Clause */
/* Random groups, random and broken packets: a slow model says of each what must become of it. */
#include "test_main.h"

#include "packets.h"
#include "random.h"
#include "share_model.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#include "fixture.h"

#define WORLDS 120
#define PACKETS 400
#define BURSTS 20
#define SIZE 90

static struct share_kit storage, *const rig = &storage;
static struct random dice = {.state = 20260611};
static unsigned refused, told[DROP_REASONS + 1]; /* the last: handed */

static unsigned roll(unsigned n) {
	return random_below(&dice, n);
}

/* Few values of everything, so that groups have much in common. */
static void group_random(unsigned g) {
	static const uint16_t vlans[] = {0, 10, 0x10a}; /* these differ above 8 bits */
	struct service_group *sg = &rig->groups[g];
	bool vlan = roll(2) == 0;

	sg->network.vlan = vlan ? vlans[roll(3)] : 0;
	sg->rphy_port.vlan = vlan ? vlans[roll(3)] : 0;
	sg->network.has_mac = roll(2) == 0;
	rig_mac(roll(6) ? g : 0, 2, sg->network.mac);
	rig_mac(roll(6) ? g : 0, 1, sg->rphy.core_mac);
	if (roll(4) == 0)
		rig->channels[g] = rig->channels[roll(RIG_GROUPS)];
	if (roll(6) == 0)
		sg->upstream_channel_count = 0;
	if (roll(3) == 0)
		rig->addresses[g][roll(RIG_MODEMS)][0] =
			rig->addresses[roll(RIG_GROUPS)][roll(RIG_MODEMS)][0];
	if (roll(8) == 0)
		rig->list[g] = NULL;
}

static void network_frame(uint8_t *out) {
	static const uint8_t others[][16] = {
		{10, 77}, {224, 0, 0, 1}, {255, 255, 255, 255}, {0xff, 2, [15] = 1}};
	const struct modem *m = &rig->modems[roll(RIG_GROUPS)][roll(RIG_MODEMS)];
	const uint8_t *other = others[roll(4)];
	uint8_t mac[6] = {255, 255, 255, 255, 255, 255};

	switch (roll(8)) {
	case 0:
	case 1: packet_ipv4(out, SIZE, 1, m->addresses[0].bytes); break;
	case 2: packet_ipv6(out, SIZE, 1, m->addresses[1].bytes); break;
	case 3: packet_arp(out, SIZE, 1, m->addresses[0].bytes); break;
	case 4: packet_llc(out, SIZE, 1, m->mac); return;
	case 5: packet_ipv4(out, SIZE, 1, other); break;
	case 6: packet_ipv6(out, SIZE, 1, other); break;
	default: packet_llc(out, SIZE, 1, other); break;
	}
	if (roll(3) != 0)
		rig_mac(roll(RIG_GROUPS + 1), 2, mac);
	if (roll(3) != 0)
		memcpy(out, mac, sizeof(mac));
}

static void rphy_frame(uint8_t *out) {
	static const uint32_t kinds[] = {0x10000, 0x20000, 0x30000, 0x40000};
	uint32_t session = roll(12) == 0 ? 0 : kinds[roll(4)] + roll(RIG_GROUPS);
	uint8_t mac[6];

	rig_mac(roll(RIG_GROUPS), 1, mac);
	switch (roll(4)) {
	case 0: rig_l2tp(out, 6, mac, session); break;
	case 1: rig_l2tp_udp(out, mac, session); break;
	case 2: rig_l2tp(out, 4, mac, session); break;
	default: packet_ipv4(out, SIZE, 1, rig->addresses[0][0][0].bytes);
	}
}

/* Tags, bytes that are wrong, and any end. Returns the size. */
static size_t frame_break(uint8_t *out, size_t size) {
	static const uint16_t types[] = {ETHERTYPE_VLAN, ETHERTYPE_VLAN, ETHERTYPE_VLAN,
					 ETHERTYPE_SERVICE_VLAN};
	static const uint16_t vlans[] = {0, 10, 0x10a, 12, 0xe00a};
	unsigned tags = roll(16) == 0 ? 2 : roll(2);

	while (tags-- > 0)
		size = rig_tag(out, out, size, types[roll(4)], vlans[roll(5)]);
	for (unsigned wrong = roll(4) == 0 ? 1 + roll(3) : 0; wrong > 0; wrong--)
		out[roll((unsigned)size)] = (uint8_t)roll(256);
	return roll(3) == 0 ? roll((unsigned)size + 1) : size;
}

/* The bytes that the group has are those of the frame, without its tag where it had to be taken off. */
static void take_next(unsigned group, const uint8_t *frame, size_t size, bool tag) {
	size_t from = tag ? 4 : 0;
	uint8_t got[RIG_FRAME];
	struct rte_mbuf *m;

	assert_int_equal(rig_take(rig, group, &m, 1), 1);
	fixture_check(m);
	assert_int_equal(fixture_read(m, got, sizeof(got)), size - from);
	assert_memory_equal(got, frame, RTE_MIN(size, (size_t)12));
	if (size > 12 + from)
		assert_memory_equal(got + 12, frame + 12 + from, size - 12 - from);
	rte_pktmbuf_free(m);
}

/* So many at once: each group has its own in their order, and the reasons count the others. */
static void compare(enum share_side side, unsigned n) {
	static uint8_t frames[PIPELINE_BURST][RIG_FRAME];
	uint64_t before[DROP_REASONS], expected[DROP_REASONS] = {0};
	size_t sizes[PIPELINE_BURST];

	memcpy(before, rig->s->counters.drops, sizeof(before));
	for (unsigned i = 0; i < n; i++) {
		if (side == SHARE_NETWORK)
			network_frame(frames[i]);
		else
			rphy_frame(frames[i]);
		sizes[i] = frame_break(frames[i], SIZE);
		rig_send(rig, frames[i], sizes[i], n == 1);
	}
	/* out of one stage, into the other */
	assert_int_equal(pipeline_run(&rig->s->receiving), 2 * n);
	for (unsigned i = 0; i < n; i++) {
		enum drop_reason reason;
		bool tag;
		int group = share_model(rig, side, frames[i], sizes[i], &reason, &tag);

		told[group < 0 ? reason : DROP_REASONS]++;
		if (group < 0)
			expected[reason]++;
		else
			take_next((unsigned)group, frames[i], sizes[i], tag);
	}
	for (unsigned d = 0; d < DROP_REASONS; d++) {
		uint64_t drops = rig->s->counters.drops[d] - before[d];

		if (drops != expected[d])
			fail_msg("side %d: %lu of %u dropped as %s, the model says %lu", side,
				 drops, n, drop_name((enum drop_reason)d), expected[d]);
	}
	assert_int_equal(share_pending_in(rig->s), 0);
	rig_check(rig);
}

static void world(enum share_side side) {
	char why[LIVE_LINE];

	rig_prepare(rig, RIG_GROUPS);
	for (unsigned g = 0; g < RIG_GROUPS; g++)
		group_random(g);
	if (share_model_refuses(rig, side)) {
		assert_null(share_table_create("test", side, rig->list, rig->count, why));
		/* another MAC address of the group helps where that is not what repeats */
		assert_int_equal(strstr(why, ", or where each has its own ") != NULL,
				 strstr(why, "found MAC address 02:00:") == NULL);
		refused++;
		return;
	}
	rig_open(rig, side);
	for (unsigned p = 0; p < PACKETS; p++)
		compare(side, 1);
	for (unsigned b = 0; b < BURSTS; b++)
		compare(side, 1 + roll(PIPELINE_BURST));
	rig_close(rig);
}

TEST(worlds) {
	static const enum drop_reason never[] = {DROP_PORT_CHAINED, DROP_PORT_GROUP_FULL,
						 DROP_PORT_STOPPED, DROP_PORT_UNSENT,
						 DROP_PORT_STRAY};

	for (unsigned w = 0; w < WORLDS; w++)
		world(w % 2 == 0 ? SHARE_NETWORK : SHARE_RPHY);
	/* all of it has happened */
	assert_in_range(refused, WORLDS / 20, WORLDS / 2);
	assert_in_range(told[DROP_REASONS], PACKETS, WORLDS * PACKETS);
	for (unsigned d = 0; d < DROP_REASONS; d++) {
		bool can = drop_in((enum drop_reason)d, DIRECTION_PORT);

		for (size_t i = 0; i < ARRAY_COUNT(never); i++)
			can &= d != never[i];
		if (can && told[d] == 0)
			fail_msg("%s: never met", drop_name((enum drop_reason)d));
	}
}

ALL_TESTS(rig_begin, rig_end)
