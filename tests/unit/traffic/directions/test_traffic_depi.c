/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the simulated R-PHY device: it reassembles DOCSIS frames from DEPI segments. Each violation
 * of DEPI is counted by kind, and loses no other packets than those of its DEPI frame. */
#include "test_main.h"
#include "traffic_kit.h"
#include "wire/ip.h"

#define PACKETS 32
#define IP_OFFSET 14
#define SESSION_OFFSET (IP_OFFSET + 20)
#define PSP_OFFSET (SESSION_OFFSET + 4)
#define ENTRY_OFFSET (PSP_OFFSET + PSP_HEADER_FIXED)
#define EXTRA_OFFSET (ENTRY_OFFSET + PSP_ENTRY_SIZE)

static struct rig_frame frames[PACKETS];
static const struct rig_frame *bonded[PACKETS];
static unsigned bonded_count;
static uint8_t depi[RIG_FRAME_MAX * 4];

/* Collects frames: those of bonded modems for channel 0 in `bonded`; sends the others. */
static void start(const char *mix) {
	rig_start(&rig, mix, 5);
	rig_collect(&rig, frames, PACKETS, NULL);
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
	rig_send_depi(&rig, depi, rig_build_depi(&rig, 0, segments, n, depi));
}

static void send_part(const struct rig_frame *f, size_t from, size_t size) {
	const struct rig_segment segment = part(f, from, size);

	send_segments(&segment, 1);
}

static void send_whole(const struct rig_frame *f) {
	send_part(f, 0, f->size);
}

/* Ends the run and asserts the numbers of lost and duplicated packets, and of violations. */
static struct traffic_result finish(unsigned lost, unsigned duplicated, unsigned violations) {
	struct traffic_result r = rig_finish(&rig);
	uint64_t count = 0;

	for (int i = 0; i < VIOLATIONS; i++)
		count += r.violations[i];
	assert_int_equal(r.sent, PACKETS);
	assert_int_equal(count, violations);
	count += r.unexpected[UNEXPECTED_NOT_DEPI] + r.unexpected[UNEXPECTED_L2TP_CONTROL];
	rig_assert_result(&r, (struct rig_errors){
				      .lost = lost, .duplicated = duplicated, .other = count > 0});
	return r;
}

/* Frames are split into segments of equal size, each in its own DEPI frame. */
TEST(frames_are_reassembled_from_any_segments) {
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

TEST(lost_segment_loses_one_packet) {
	struct traffic_result r;

	start("1280");
	for (unsigned i = 0; i < bonded_count; i++) {
		size_t third = bonded[i]->size / 3;
		struct rig_segment middle = part(bonded[i], third, third);
		size_t size;

		send_part(bonded[i], 0, third);
		size = rig_build_depi(&rig, 0, &middle, 1, depi);
		if (i != 3)
			rig_send_depi(&rig, depi, size);
		send_part(bonded[i], 2 * third, bonded[i]->size - 2 * third);
	}
	r = finish(1, 0, 3);
	assert_int_equal(r.violations[VIOLATION_SEQUENCE_GAP], 1);
	assert_int_equal(r.violations[VIOLATION_SEGMENT_UNFINISHED], 1);
	assert_int_equal(r.violations[VIOLATION_SEGMENT_ORPHAN], 1);
}

/* Two DOCSIS frames in one DEPI frame, and a frame longer than any IP packet. */
TEST(frames_above_mtu_are_violations) {
	static uint8_t large[UINT16_MAX + 2];
	struct rig_segment two[2];

	start("1280");
	for (unsigned i = 2; i < bonded_count; i++)
		send_whole(bonded[i]);
	two[0] = whole(bonded[0]);
	two[1] = whole(bonded[1]);
	send_segments(two, 2);
	rig_send_depi(&rig, large, sizeof(large));
	assert_int_equal(finish(0, 0, 2).violations[VIOLATION_MTU], 2);
}

TEST(duplicated_depi_frames_are_counted) {
	static uint8_t copy[RIG_FRAME_MAX];
	struct rig_segment twice;
	size_t size;

	start("256");
	twice = whole(bonded[0]);
	size = rig_build_depi(&rig, 0, &twice, 1, copy);
	rig_send_depi(&rig, copy, size);
	for (unsigned i = 1; i < bonded_count; i++) {
		send_part(bonded[i], 0, 50);
		if (i == 1)
			rig_send_depi(&rig, copy, size);
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
			size = rig_build_depi(&rig, 0, &segment, 1, earlier);
		else
			send_segments(&segment, 1);
		if (i == 7)
			rig_send_depi(&rig, earlier, size);
	}
	assert_int_equal(finish(0, 0, 1).violations[VIOLATION_SEQUENCE_LATE], 1);
}

/* MAP, UCD and MDD in the sessions are neither packets nor corruption. */
TEST(management_frames_are_accepted) {
	static const struct rig_frame map = {
		.size = 6 + 56,
		.bytes = {0xc2, 0x00, 0x00, 0x38, 0xba,
			  0x43, /* header of a captured MAP of 56 bytes */
			  0x01, 0xe0, 0x2f, 0x00, 0x00, 0x01},
	};

	start("84");
	send_whole(&map);
	for (unsigned i = 0; i < bonded_count; i++)
		send_whole(bonded[i]);
	assert_int_equal(finish(0, 0, 0).unexpected[UNEXPECTED_MANAGEMENT], 1);
}

/* A change of one DEPI frame that contains one packet, and its expected result. */
static const struct depi_fault {
	const char *name;
	size_t at;
	uint8_t flips[4]; /* bits to invert from `at` on */
	bool repaired; /* the IP checksum is updated */
	size_t cut, keep; /* bytes to remove from the end, or to keep; 0: all */
	bool lost; /* the packet is lost */
	unsigned gaps; /* in the PSP sequence */
	enum violation expected; /* VIOLATIONS: none */
	enum unexpected unexpected; /* UNEXPECTEDS: none */
} depi_faults[] = {
#define COUNTED(violation) .expected = VIOLATION_##violation, .unexpected = UNEXPECTEDS
#define LOST(violation) COUNTED(violation), .lost = true, .gaps = 1
#define NOT_A_PACKET(kind) \
	.expected = VIOLATIONS, .unexpected = UNEXPECTED_##kind, .lost = true, .gaps = 1
	{"source MAC", 11, {1}, COUNTED(MAC)},
	{"destination IP", IP_OFFSET + 19, {1}, true, COUNTED(ADDRESS)},
	{"DSCP", IP_OFFSET + 1, {4}, true, COUNTED(IP_FIELDS)},
	{"ECN", IP_OFFSET + 1, {1}, true, COUNTED(IP_FIELDS)},
	{"DF bit", IP_OFFSET + 6, {0x40}, true, COUNTED(IP_FIELDS)},
	{"TTL", IP_OFFSET + 8, {1}, true, COUNTED(IP_FIELDS)},
	{"reserved bit of PSP", PSP_OFFSET, {1}, COUNTED(PSP_FIELDS)},
	{"profile", EXTRA_OFFSET + 1, {1}, COUNTED(EXTRA)},
	{"counter", EXTRA_OFFSET + 1, {0x40}, COUNTED(EXTRA)},
	{"no sequence number", PSP_OFFSET, {PSP_SEQUENCE_VALID}, COUNTED(NO_SEQUENCE), .gaps = 1},
	/* RFC 6864: without fragments it has no meaning */
	{"identification",
	 IP_OFFSET + 5,
	 {1},
	 true,
	 .expected = VIOLATIONS,
	 .unexpected = UNEXPECTEDS},
	{"unknown session", SESSION_OFFSET, {1}, LOST(SESSION)},
	{"checksum", IP_OFFSET + 10, {1}, LOST(IP)},
	{"truncated", .cut = 1, LOST(IP)},
	{"table too long", PSP_OFFSET + 1, {200 ^ 1}, LOST(PSP)},
	{"segment too long", ENTRY_OFFSET, {0x01}, LOST(PSP)},
	{"runt", .keep = 10, NOT_A_PACKET(NOT_DEPI)},
	{"control message", SESSION_OFFSET, {0, 1, 0, 1}, NOT_A_PACKET(L2TP_CONTROL)},
};

static size_t apply_fault(const struct depi_fault *m, size_t size) {
	for (size_t i = 0; i < sizeof(m->flips); i++)
		depi[m->at + i] ^= m->flips[i];
	if (m->repaired)
		store_be16(depi + IP_OFFSET + 10, ipv4_checksum(depi + IP_OFFSET, 20));
	return m->keep != 0 ? m->keep : size - m->cut;
}

TEST(each_fault_is_counted_and_loses_one_packet) {
	for (size_t k = 0; k < ARRAY_COUNT(depi_faults); k++) {
		const struct depi_fault *m = &depi_faults[k];
		bool is_violation = m->expected != VIOLATIONS;
		bool unexpected = m->unexpected != UNEXPECTEDS;
		struct traffic_result r;

		print_message("  %s\n", m->name);
		start("84");
		for (unsigned i = 0; i < bonded_count; i++) {
			struct rig_segment segment = whole(bonded[i]);
			size_t size = rig_build_depi(&rig, 0, &segment, 1, depi);

			rig_send_depi(&rig, depi, i == 8 ? apply_fault(m, size) : size);
		}
		r = finish(m->lost, 0, is_violation + m->gaps);
		if (is_violation)
			assert_int_equal(r.violations[m->expected], 1);
		if (unexpected)
			assert_int_equal(r.unexpected[m->unexpected], 1);
		assert_int_equal(traffic_unexpected(&r, NULL), unexpected);
		assert_int_equal(r.violations[VIOLATION_SEQUENCE_GAP], m->gaps);
	}
}

TEST(frames_of_the_links_protocols_are_no_fault) {
	static const uint8_t lldp[60] = {1, 0x80, 0xc2, [5] = 14, [12] = 0x88, [13] = 0xcc};
	struct traffic_result r;

	start("84");
	rig_send_depi(&rig, lldp, sizeof(lldp));
	for (unsigned i = 0; i < bonded_count; i++)
		send_whole(bonded[i]);
	r = finish(0, 0, 0);
	assert_int_equal(r.unexpected[UNEXPECTED_LINK], 1);
	assert_int_equal(traffic_unexpected(&r, NULL), 0);
}

ALL_TESTS(rig_open, rig_close)
