/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The R-PHY device: segments become frames in the order of their sequence numbers. What is wrong with a DEPI frame has a
 * name, and costs no more than the packets that it hides.
 */
#include "test_main.h"
#include "traffic_kit.h"
#include "wire/ip.h"

#define PACKETS 32
#define AT_IP 14
#define AT_SESSION (AT_IP + 20)
#define AT_PSP (AT_SESSION + 4)
#define AT_ENTRY (AT_PSP + PSP_HEADER_FIXED)
#define AT_EXTRA (AT_ENTRY + PSP_ENTRY_SIZE)

static struct rig_frame frames[PACKETS];
static const struct rig_frame *bonded[PACKETS];
static unsigned bonded_count;
static uint8_t depi[RIG_FRAME_MAX * 4];

/* The bonded modems' frames go on channel 0, so that segments of different frames can meet; the others are sent. */
static void start(const char *mix) {
	rig_start(&rig, mix, 5);
	rig_take(&rig, frames, PACKETS, NULL);
	bonded_count = 0;
	for (unsigned i = 0; i < PACKETS; i++) {
		if (frames[i].modem == 1) { /* the one that is not bonded */
			rig_send_frame(&rig, &frames[i]);
			continue;
		}
		frames[i].channel = 0;
		bonded[bonded_count++] = &frames[i];
	}
}

static struct rig_segment part(const struct rig_frame *f, size_t from, size_t size) {
	return (struct rig_segment){f->bytes + from, size, from == 0, from + size == f->size};
}

static struct rig_segment whole(const struct rig_frame *f) {
	return part(f, 0, f->size);
}

static void send_segments(const struct rig_segment *segments, unsigned n) {
	rig_send(&rig, depi, rig_depi(&rig, 0, segments, n, depi));
}

static void send_part(const struct rig_frame *f, size_t from, size_t size) {
	const struct rig_segment segment = part(f, from, size);

	send_segments(&segment, 1);
}

static void send_whole(const struct rig_frame *f) {
	send_part(f, 0, f->size);
}

/* Ends the run: so many packets did not come back, or came twice, and so many violations were seen. */
static struct traffic_result finish(unsigned lost, unsigned duplicated, unsigned violations) {
	struct traffic_result r = rig_finish(&rig);
	uint64_t seen = 0;

	for (int i = 0; i < VIOLATIONS; i++)
		seen += r.violations[i];
	assert_int_equal(r.sent, PACKETS);
	assert_int_equal(seen, violations);
	seen += r.unexpected[UNEXPECTED_NOT_DEPI] + r.unexpected[UNEXPECTED_L2TP_CONTROL];
	rig_expect(&r,
		   (struct rig_wrong){.lost = lost, .duplicated = duplicated, .more = seen > 0});
	return r;
}

/* One stream of bytes, cut every `step` bytes into DEPI frames of their own. */
TEST(frames_may_be_cut_anywhere) {
	static const size_t steps[] = {1, 7, 100, 300, 301};

	for (size_t s = 0; s < ARRAY_COUNT(steps); s++) {
		start("256");
		for (unsigned i = 0; i < bonded_count; i++) {
			size_t size = bonded[i]->size;

			for (size_t at = 0; at < size; at += steps[s])
				send_part(bonded[i], at,
					  size - at < steps[s] ? size - at : steps[s]);
		}
		finish(0, 0, 0);
	}
}

TEST(a_lost_part_costs_one_packet) {
	struct traffic_result r;

	start("1280");
	for (unsigned i = 0; i < bonded_count; i++) {
		size_t third = bonded[i]->size / 3;
		struct rig_segment middle = part(bonded[i], third, third);
		size_t size;

		send_part(bonded[i], 0, third);
		size = rig_depi(&rig, 0, &middle, 1, depi);
		if (i != 3)
			rig_send(&rig, depi, size);
		send_part(bonded[i], 2 * third, bonded[i]->size - 2 * third);
	}
	r = finish(1, 0, 3);
	assert_int_equal(r.violations[VIOLATION_SEQUENCE_GAP], 1);
	assert_int_equal(r.violations[VIOLATION_SEGMENT_UNFINISHED], 1);
	assert_int_equal(r.violations[VIOLATION_SEGMENT_ORPHAN], 1);
}

/* Two frames in one; and more than an IP packet has: what its header says is not looked at. */
TEST(frames_above_the_mtu_are_named) {
	static uint8_t large[UINT16_MAX + 2];
	struct rig_segment two[2];

	start("1280");
	for (unsigned i = 2; i < bonded_count; i++)
		send_whole(bonded[i]);
	two[0] = whole(bonded[0]);
	two[1] = whole(bonded[1]);
	send_segments(two, 2);
	rig_send(&rig, large, sizeof(large));
	assert_int_equal(finish(0, 0, 2).violations[VIOLATION_MTU], 2);
}

TEST(duplicated_depi_frames_are_counted) {
	static uint8_t copy[RIG_FRAME_MAX];
	struct rig_segment twice;
	size_t size;

	start("256");
	twice = whole(bonded[0]);
	size = rig_depi(&rig, 0, &twice, 1, copy);
	rig_send(&rig, copy, size);
	for (unsigned i = 1; i < bonded_count; i++) {
		send_part(bonded[i], 0, 50);
		if (i == 1)
			rig_send(&rig, copy, size);
		send_part(bonded[i], 50, bonded[i]->size - 50);
	}
	assert_int_equal(finish(0, 1, 1).violations[VIOLATION_SEQUENCE_DUPLICATE], 1);
}

TEST(swapped_depi_frames_are_late) {
	static uint8_t earlier[RIG_FRAME_MAX];
	size_t size = 0;

	start("84");
	for (unsigned i = 0; i < bonded_count; i++) {
		struct rig_segment segment = whole(bonded[i]);

		if (i == 6)
			size = rig_depi(&rig, 0, &segment, 1, earlier);
		else
			send_segments(&segment, 1);
		if (i == 7)
			rig_send(&rig, earlier, size);
	}
	assert_int_equal(finish(0, 0, 1).violations[VIOLATION_SEQUENCE_LATE], 1);
}

/* MAP, UCD and MDD travel in the same sessions: not packets, and not corrupted ones. */
TEST(management_frames_are_let_pass) {
	static const struct rig_frame map = {
		.size = 6 + 56,
		.bytes = {0xc2, 0x00, 0x00, 0x38, 0xba,
			  0x43, /* a real MAP's header, then 56 bytes */
			  0x01, 0xe0, 0x2f, 0x00, 0x00, 0x01},
	};

	start("84");
	send_whole(&map);
	for (unsigned i = 0; i < bonded_count; i++)
		send_whole(bonded[i]);
	assert_int_equal(finish(0, 0, 0).unexpected[UNEXPECTED_MANAGEMENT], 1);
}

/* What is done to one DEPI frame, which holds one packet. */
static const struct mistake {
	const char *name;
	size_t at;
	uint8_t flips[4]; /* from there on */
	bool repaired; /* the checksum is right */
	size_t cut, keep; /* bytes; 0: all */
	bool lost; /* with its packet */
	unsigned gaps;
	enum violation expected; /* VIOLATIONS: none */
	enum unexpected unexpected; /* UNEXPECTEDS: nothing */
} mistakes[] = {
#define IS(violation) .expected = VIOLATION_##violation, .unexpected = UNEXPECTEDS
#define COSTS(violation) IS(violation), .lost = true, .gaps = 1
#define NO_DEPI(kind) \
	.expected = VIOLATIONS, .unexpected = UNEXPECTED_##kind, .lost = true, .gaps = 1
	{"source MAC", 11, {1}, IS(MAC)},
	{"destination IP", AT_IP + 19, {1}, true, IS(ADDRESS)},
	{"DSCP", AT_IP + 1, {4}, true, IS(IP_FIELDS)},
	{"ECN", AT_IP + 1, {1}, true, IS(IP_FIELDS)},
	{"may be fragmented", AT_IP + 6, {0x40}, true, IS(IP_FIELDS)},
	{"TTL", AT_IP + 8, {1}, true, IS(IP_FIELDS)},
	{"reserved bit of PSP", AT_PSP, {1}, IS(PSP_FIELDS)},
	{"profile", AT_EXTRA + 1, {1}, IS(EXTRA)},
	{"counter", AT_EXTRA + 1, {0x40}, IS(EXTRA)},
	{"no sequence number", AT_PSP, {PSP_SEQUENCE_VALID}, IS(NO_SEQUENCE), .gaps = 1},
	/* RFC 6864: without fragments it means nothing. */
	{"identification", AT_IP + 5, {1}, true, .expected = VIOLATIONS, .unexpected = UNEXPECTEDS},
	{"unknown session", AT_SESSION, {1}, COSTS(SESSION)},
	{"checksum", AT_IP + 10, {1}, COSTS(IP)},
	{"cut short", .cut = 1, COSTS(IP)},
	{"table too long", AT_PSP + 1, {200 ^ 1}, COSTS(PSP)},
	{"segment too long", AT_ENTRY, {0x01}, COSTS(PSP)},
	{"runt", .keep = 10, NO_DEPI(NOT_DEPI)},
	{"control message", AT_SESSION, {0, 1, 0, 1}, NO_DEPI(L2TP_CONTROL)},
};

static size_t make_mistake(const struct mistake *m, size_t size) {
	for (size_t i = 0; i < sizeof(m->flips); i++)
		depi[m->at + i] ^= m->flips[i];
	if (m->repaired)
		store_be16(depi + AT_IP + 10, ipv4_checksum(depi + AT_IP, 20));
	return m->keep != 0 ? m->keep : size - m->cut;
}

TEST(mistakes_are_named_and_cost_one_packet) {
	for (size_t k = 0; k < ARRAY_COUNT(mistakes); k++) {
		const struct mistake *m = &mistakes[k];
		bool named = m->expected != VIOLATIONS;
		bool unexpected = m->unexpected != UNEXPECTEDS;
		struct traffic_result r;

		print_message("  %s\n", m->name);
		start("84");
		for (unsigned i = 0; i < bonded_count; i++) {
			struct rig_segment segment = whole(bonded[i]);
			size_t size = rig_depi(&rig, 0, &segment, 1, depi);

			rig_send(&rig, depi, i == 8 ? make_mistake(m, size) : size);
		}
		r = finish(m->lost, 0, named + m->gaps);
		if (named)
			assert_int_equal(r.violations[m->expected], 1);
		if (unexpected)
			assert_int_equal(r.unexpected[m->unexpected], 1);
		assert_int_equal(traffic_unexpected(&r, NULL), unexpected);
		assert_int_equal(r.violations[VIOLATION_SEQUENCE_GAP], m->gaps);
	}
}

ALL_TESTS(rig_open, rig_close)
