/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests uplink_grant.h: at low rates grants are smaller, so that a modem completes a frame within
 * the CMTS's timeout. Tests which packets the uplink makes and recognizes. */

#include <rte_cycles.h>

#include "directions/uplink_parts.h"
#include "group_defaults.h"
#include "modems/uplink_flow.h"
#include "modems/uplink_frames.h"
#include "modems/uplink_grant.h"
#include "modems/uplink_packets.h"
#include "test_main.h"
#include "uplink_kit.h"

#define SECOND 1000000000ull
#define MODEMS 300
#define PAUSE 200 /* ms of each 300 ms */
#define IMIX "upstream-imix"

static struct mix parse_mix(const char *text) {
	struct mix mix;
	char error[128];

	assert_int_equal(mix_parse(text, PACKET_SIZE_MAX, &mix, error, sizeof(error)), 0);
	return mix;
}

/* A group of MODEMS modems with one flow each, as in the published profiles. */
static struct service_group *make_group(bool segment_header, size_t clusters) {
	static struct modem modems[MODEMS];
	static struct upstream_service_flow flow;
	static struct sid_cluster all[8];
	static struct service_group sg;

	assert_in_range(clusters, 0, sizeof(all) / sizeof(*all));
	flow = (struct upstream_service_flow){1, segment_header, all, clusters};
	for (int m = 0; m < MODEMS; m++)
		modems[m] = (struct modem){
			.address_count = 1,
			.upstream_flows = &flow,
			.upstream_flow_count = 1,
		};
	sg = (struct service_group){.modems = modems, .modem_count = MODEMS};
	service_group_set_defaults(&sg);
	return &sg;
}

/* The bytes granted from one grant of a stream to its next: a grant for each of 300 modems. */
TEST(grant_span_is_one_grant_per_modem) {
	struct mix imix = parse_mix(IMIX), small = parse_mix("84"), large = parse_mix("1996");
	struct service_group *sg = make_group(true, 1);

	assert_int_equal(uplink_grant_span(make_group(true, 1), &imix, 2048), 300 * 2048);
	assert_int_equal(uplink_grant_span(make_group(true, 2), &imix, 2048), 2 * 300 * 2048);
	assert_int_equal(uplink_grant_span(make_group(true, 1), &imix, 1306), 300 * 1306);
	assert_int_equal(uplink_grant_span(make_group(true, 1), &imix, 1305), 2 * 300 * 1305);
	assert_int_equal(uplink_grant_span(make_group(true, 1), &imix, 256), 6 * 300 * 256);
	assert_int_equal(uplink_grant_span(make_group(true, 1), &small, 256), 300 * 256);
	assert_int_equal(uplink_grant_span(make_group(true, 1), &large, 256), 9 * 300 * 256);
	/* Pre-3.0: 2,048 + 6 + 1,299 bytes in fragments of 2,023. */
	assert_int_equal(uplink_grant_span(make_group(false, 1), &imix, 2048), 300 * 2048);
	assert_int_equal(uplink_grant_span(make_group(false, 1), &imix, 256), 6 * 300 * 256);
	/* modems without an address get no grants */
	for (int m = 0; m < MODEMS - 1; m++)
		sg->modems[m].address_count = 0;
	assert_int_equal(uplink_grant_span(sg, &imix, 2048), 2048);
}

TEST(grant_size_falls_with_rate) {
	struct service_group *sg = make_group(true, 1);
	struct mix imix = parse_mix(IMIX);

	assert_int_equal(uplink_grant_size(sg, &imix, 0), UPLINK_GRANT);
	assert_int_equal(uplink_grant_size(sg, &imix, SECOND), UPLINK_GRANT);
	assert_int_equal(uplink_grant_size(sg, &imix, 7500000), UPLINK_GRANT);
	/* 300 * 8 * n bits in 1 s */
	assert_int_equal(uplink_grant_size(sg, &imix, 4500000), 1874);
	assert_int_equal(uplink_grant_size(sg, &imix, 3300000), 1374);
	sg->upstream.frame_timeout_ns = SECOND / 2;
	assert_int_equal(uplink_grant_size(sg, &imix, 13500000), 1406);
	sg = make_group(true, 2); /* each cluster gets half of its flow's grants */
	assert_int_equal(uplink_grant_size(sg, &imix, 9000000), 1874);
}

TEST(lowest_rate_gives_small_grants) {
	struct service_group *sg = make_group(true, 1);
	struct mix imix = parse_mix(IMIX);
	uint64_t lowest = uplink_grant_lowest(sg, &imix, 1306);

	assert_int_equal(lowest, 300 * 1306 * 8 + 1); /* a frame spans two grants */
	assert_int_equal(uplink_grant_size(sg, &imix, lowest), 1306);
	assert_int_equal(uplink_grant_size(sg, &imix, lowest - 1), UPLINK_GRANT_MIN);
	assert_int_equal(uplink_grant_size(sg, &imix, 1), UPLINK_GRANT_MIN);
}

/* Runs the uplink for simulated `seconds`, except for `pause` ms of each 300 ms. Returns the
 * longest time, in TSC cycles, between bursts of one of two clusters of a flow. */
static uint64_t longest_gap(uint64_t rate, unsigned seconds, unsigned pause) {
	uint64_t hz = rte_get_tsc_hz(), start = hz, step = hz / 5000;
	uint64_t period = hz * 3 / 10, paused = hz / 1000 * pause;
	uint64_t last = 0, longest = 0;
	size_t done = 0;

	uplink_kit_start(IMIX, rate);
	uplink_begin(rig.uplink, start);
	for (uint64_t now = start; now < start + seconds * hz; now += step) {
		if ((now - start) % period < paused)
			continue;
		uplink_send(rig.uplink, now);
		uplink_kit_receive();
		for (; done < rig.received.burst_count; done++) {
			const struct rig_burst *b = rig.received.bursts[done];

			if (b->header.sid != 0x11 || b->kind != RIG_DATA)
				continue;
			if (last != 0)
				longest = RTE_MAX(longest, now - last);
			last = now;
		}
	}
	uplink_kit_run(0);
	return longest;
}

/* 60 s at the lowest rate. A sender that is paused 2/3 of the time loses rate, but no frames. */
TEST(frames_complete_within_timeout) {
	struct mix imix = parse_mix(IMIX);
	uint64_t lowest = uplink_grant_lowest(&rig.sg, &imix, 1306), hz = rte_get_tsc_hz();

	assert_in_range(lowest, 50000, 200000);
	/* a frame spans at most two grants */
	assert_in_range(uplink_grant_size(&rig.sg, &imix, lowest), 1306, UPLINK_GRANT);
	assert_in_range(longest_gap(lowest, 60, 0), hz / 2, 2 * hz - 1);
	for (uint32_t s = 0; s < UPLINK_KIT_STREAMS; s++)
		assert_true(uplink_made(rig.uplink, s) > 20);
	uplink_kit_tear_down(state);
	uplink_kit_set_up(state);
	assert_in_range(longest_gap(lowest, 60, PAUSE), hz, 2 * hz - 1);
	/* the pauses reduce the rate */
	assert_in_range(uplink_sent_bytes(rig.uplink) * 8, lowest * 60 / 2, lowest * 60 * 9 / 10);
}

static struct uplink_packets packets;
static uint8_t frame[PACKET_SIZE_MAX + PACKET_START_MAX];

/* Creates `packets`, which makes the same packets as the uplink. */
static void create_packets(void) {
	struct mix mix = parse_mix(IMIX);

	uplink_kit_start(IMIX, 0);
	uplink_kit_run(1000);
	assert_int_equal(uplink_packets_create(&packets, &rig.sg, &mix, UPLINK_KIT_SEED), 0);
	packets.magic = rig.uplink->frames.packets.magic;
}

/* Writes a packet of the first stream to `frame`; returns size, tag and the offset of the tag. */
static uint32_t make_packet(uint32_t sequence, struct packet_tag *tag, uint32_t *at) {
	uint32_t size;

	*tag = (struct packet_tag){packets.magic, 0, sequence, 12345};
	size = uplink_packet_write(&packets, 0, tag, frame);
	*at = (uint32_t)packet_tag_find(frame, size);
	assert_true(*at > 0);
	return size;
}

/* Whether the packet has a checksum, which is optional for UDP over IPv4. */
static bool has_checksum(void) {
	return load_be16(frame + 12) != 0x0800 || frame[23] != 17 || load_be16(frame + 40) != 0;
}

/* A change of any byte is detected, except of the time in the tag of a packet without checksum. */
TEST(changed_packet_does_not_match) {
	struct packet_tag tag, other;
	uint32_t at, size, sequence = 0, made;

	create_packets();
	do
		size = make_packet(sequence++, &tag, &at);
	while (has_checksum());
	assert_true(uplink_matches(rig.uplink, &tag, frame, size));
	for (uint32_t i = 0; i < size; i++) {
		frame[i] ^= 0x10;
		packet_tag_read(frame + at, &other);
		assert_int_equal(uplink_matches(rig.uplink, &other, frame, size),
				 i >= at + 12 && i < at + 20);
		frame[i] ^= 0x10;
	}
	assert_false(uplink_matches(rig.uplink, &tag, frame, size - 1));
	made = uplink_made(rig.uplink, 0);
	for (int i = 0; i < 4; i++) {
		const struct packet_tag variants[] = {
			{tag.magic, 0, sequence, tag.tsc},
			{tag.magic, 0, made, tag.tsc},
			{tag.magic, UPLINK_KIT_STREAMS, tag.sequence, tag.tsc},
			{tag.magic, UINT32_MAX, tag.sequence, tag.tsc},
		};

		assert_false(uplink_matches(rig.uplink, &variants[i], frame, size));
	}
	size = make_packet(made - 1, &tag, &at);
	assert_true(uplink_matches(rig.uplink, &tag, frame, size));
	size = make_packet(made, &tag, &at); /* not yet sent */
	assert_false(uplink_matches(rig.uplink, &tag, frame, size));
	uplink_packets_free(&packets);
}

/* Compares the newest keys by sequence number, key schedule and IV. */
TEST(keys_differ_by_any_part) {
	static struct uplink_modem a, b;
	const struct crypto_key key = {.schedule = &a, .iv = {[15] = 1}, .sequence = 3};
	const struct crypto_key variants[] = {
		{.schedule = &b, .iv = {[15] = 1}, .sequence = 3},
		{.schedule = &a, .iv = {[15] = 1}, .sequence = 4},
		{.schedule = &a, .iv = {[15] = 2}, .sequence = 3},
	};

	a.key_count = 2;
	a.keys[1] = key;
	b = a;
	b.keys[0].sequence = 9;
	assert_true(uplink_key_same(&a, &b));
	for (size_t i = 0; i < ARRAY_COUNT(variants); i++) {
		b.keys[1] = variants[i];
		assert_false(uplink_key_same(&a, &b));
	}
	b.key_count = 0;
	assert_false(uplink_key_same(&a, &b));
	assert_false(uplink_key_same(&b, &a));
	a.key_count = 0;
	assert_true(uplink_key_same(&a, &b));
}

TEST(invalid_mix_grant_or_group_is_rejected) {
	assert_null(uplink_kit_create("70", 0, 0)); /* too short for the modem with IPv6 only */
	assert_null(uplink_kit_create("upstream-imix-70", 0, 0));
	assert_null(uplink_kit_create("84", 0, 255));
	assert_null(uplink_kit_create("84", 0, 4097));
	rig.sg.modem_count = 0;
	assert_null(uplink_kit_create("84", 0, 0));
	rig.sg.modems = &rig.sg.modems[4]; /* without an address */
	rig.sg.modem_count = 1;
	assert_null(uplink_kit_create("84", 0, 0));
}

EACH_TEST(uplink_kit_set_up, uplink_kit_tear_down)
ALL_TESTS(uplink_kit_open, uplink_kit_close)
