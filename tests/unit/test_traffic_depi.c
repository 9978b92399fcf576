/* SPDX-License-Identifier: BSD-3-Clause */
/* The R-PHY device: segments become frames, and what is wrong with a DEPI frame has a name. */
#include "test_traffic_rig.h"

#define PACKETS 32
#define AT_IP 14
#define AT_SESSION (14 + 20)
#define AT_PSP (14 + 20 + 4)

static struct rig rig;
static struct rig_frame frames[PACKETS];
static uint8_t depi[RIG_FRAME_MAX * 4];

static int open_rig(void **state) {
	(void)state;
	rig_open(&rig);
	return 0;
}

static int close_rig(void **state) {
	(void)state;
	rig_close(&rig);
	return 0;
}

static void start(const char *mix) {
	rig_start(&rig, mix, 5);
	rig_take(&rig, frames, PACKETS, NULL);
}

/* All on one channel, so that segments of different frames can meet: what is alone stays alone. */
static unsigned take_bonded(const struct rig_frame **out) {
	unsigned n = 0;

	for (unsigned i = 0; i < PACKETS; i++) {
		if (frames[i].modem == 1) {
			rig_send_frame(&rig, &frames[i]);
			continue;
		}
		frames[i].channel = 0;
		out[n++] = &frames[i];
	}
	return n;
}

static struct rig_segment whole(const struct rig_frame *f) {
	return (struct rig_segment){f->bytes, f->size, true, true};
}

static void assert_all_proven(const struct traffic_result *r) {
	assert_int_equal(r->sent, PACKETS);
	assert_int_equal(r->proven, PACKETS);
	assert_int_equal(r->lost + r->corrupted + r->duplicated + r->reordered, 0);
}

static uint64_t violations(const struct traffic_result *r) {
	uint64_t sum = 0;

	for (int i = 0; i < VIOLATIONS; i++)
		sum += r->violations[i];
	return sum;
}

static void segments_of_several_frames_are_taken_apart(void **state) {
	const struct rig_frame *bonded[PACKETS];
	struct traffic_result r;
	unsigned n;

	(void)state;
	start("84");
	n = take_bonded(bonded);
	for (unsigned i = 0; i < n; i += 8) {
		struct rig_segment segments[8];
		unsigned count = 0;

		for (; count < 8 && i + count < n; count++)
			segments[count] = whole(bonded[i + count]);
		rig_send(&rig, depi, rig_depi(&rig, 0, segments, count, depi));
	}
	r = rig_finish(&rig);
	assert_all_proven(&r);
	assert_true(traffic_result_good(&r));
}

/* One stream of bytes, cut every `step` bytes into DEPI frames of their own. */
static void frames_may_be_cut_anywhere(void **state) {
	static const size_t steps[] = {1, 7, 100, 300, 301};

	(void)state;
	for (size_t s = 0; s < ARRAY_COUNT(steps); s++) {
		const struct rig_frame *bonded[PACKETS];
		struct traffic_result r;
		unsigned n;

		start("256");
		n = take_bonded(bonded);
		for (unsigned i = 0; i < n; i++) {
			const struct rig_frame *f = bonded[i];

			for (size_t at = 0; at < f->size; at += steps[s]) {
				size_t left = f->size - at;
				size_t size = left < steps[s] ? left : steps[s];
				struct rig_segment part = {f->bytes + at, size, at == 0,
							   size == left};

				rig_send(&rig, depi, rig_depi(&rig, 0, &part, 1, depi));
			}
		}
		r = rig_finish(&rig);
		assert_all_proven(&r);
		assert_true(traffic_result_good(&r));
	}
}

/* A middle part is lost with its DEPI frame: one packet, not more. */
static void a_lost_part_costs_one_packet(void **state) {
	const struct rig_frame *bonded[PACKETS];
	struct traffic_result r;
	unsigned n;

	(void)state;
	start("1280");
	n = take_bonded(bonded);
	for (unsigned i = 0; i < n; i++) {
		const struct rig_frame *f = bonded[i];
		size_t third = f->size / 3;
		struct rig_segment parts[3] = {
			{f->bytes, third, true, false},
			{f->bytes + third, third, false, false},
			{f->bytes + 2 * third, f->size - 2 * third, false, true},
		};

		for (unsigned p = 0; p < 3; p++) {
			size_t size = rig_depi(&rig, 0, &parts[p], 1, depi);

			if (i != 3 || p != 1)
				rig_send(&rig, depi, size);
		}
	}
	r = rig_finish(&rig);
	assert_int_equal(r.proven, PACKETS - 1);
	assert_int_equal(r.lost, 1);
	assert_int_equal(r.corrupted + r.duplicated + r.reordered, 0);
	assert_int_equal(r.violations[VIOLATION_SEQUENCE_GAP], 1);
	assert_int_equal(r.violations[VIOLATION_SEGMENT_UNFINISHED], 1);
	assert_int_equal(r.violations[VIOLATION_SEGMENT_ORPHAN], 1);
	assert_false(traffic_result_good(&r));
}

/* Sends everything, and frame 8 of channel 0 as `change` leaves it. Packet and DEPI frame are one. */
static struct traffic_result run_changed(size_t (*change)(uint8_t *frame, size_t size),
					 const char *mix) {
	const struct rig_frame *bonded[PACKETS];
	unsigned n;

	start(mix);
	n = take_bonded(bonded);
	for (unsigned i = 0; i < n; i++) {
		struct rig_segment segment = whole(bonded[i]);
		size_t size = rig_depi(&rig, 0, &segment, 1, depi);

		rig_send(&rig, depi, i == 8 ? change(depi, size) : size);
	}
	return rig_finish(&rig);
}

static void checksum_repair(uint8_t *frame) {
	store_be16(frame + AT_IP + 10, ipv4_checksum(frame + AT_IP, 20));
}

static size_t source_mac(uint8_t *frame, size_t size) {
	frame[11] ^= 1;
	return size;
}

static size_t destination_ip(uint8_t *frame, size_t size) {
	frame[AT_IP + 19] ^= 1;
	checksum_repair(frame);
	return size;
}

static size_t profile(uint8_t *frame, size_t size) {
	frame[AT_PSP + 4 + 2 + 1] ^= 1;
	return size;
}

static size_t counter(uint8_t *frame, size_t size) {
	frame[AT_PSP + 4 + 2 + 1] ^= 0x40;
	return size;
}

static size_t no_sequence_flag(uint8_t *frame, size_t size) {
	frame[AT_PSP] &= (uint8_t)~PSP_SEQUENCE_VALID;
	return size;
}

/* Errors that leave the packets whole. */
static void harmless_mistakes_are_named(void **state) {
	static const struct {
		size_t (*change)(uint8_t *, size_t);
		enum violation expected;
		uint64_t count;
	} rows[] = {
		{source_mac, VIOLATION_MAC, 1},
		{destination_ip, VIOLATION_ADDRESS, 1},
		{profile, VIOLATION_EXTRA, 1},
		{counter, VIOLATION_EXTRA, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct traffic_result r = run_changed(rows[i].change, "84");

		assert_all_proven(&r);
		assert_int_equal(r.violations[rows[i].expected], rows[i].count);
		assert_int_equal(violations(&r), rows[i].count);
		assert_false(traffic_result_good(&r));
	}
}

static void a_number_that_is_not_valid_leaves_a_gap(void **state) {
	struct traffic_result r = run_changed(no_sequence_flag, "84");

	(void)state;
	assert_all_proven(&r);
	assert_int_equal(r.violations[VIOLATION_NO_SEQUENCE], 1);
	assert_int_equal(r.violations[VIOLATION_SEQUENCE_GAP], 1);
	assert_int_equal(violations(&r), 2);
}

static size_t unknown_session(uint8_t *frame, size_t size) {
	frame[AT_SESSION] ^= 1;
	return size;
}

static size_t bad_checksum(uint8_t *frame, size_t size) {
	frame[AT_IP + 10] ^= 1;
	return size;
}

static size_t cut_short(uint8_t *frame, size_t size) {
	(void)frame;
	return size - 1;
}

static size_t table_too_long(uint8_t *frame, size_t size) {
	frame[AT_PSP + 1] = 200;
	return size;
}

static size_t segment_too_long(uint8_t *frame, size_t size) {
	frame[AT_PSP + 5]++;
	return size;
}

static size_t runt(uint8_t *frame, size_t size) {
	(void)frame;
	(void)size;
	return 10;
}

static size_t control(uint8_t *frame, size_t size) {
	memset(frame + AT_SESSION, 0, 4);
	return size;
}

/* Errors for which the whole DEPI frame, and so one packet, is lost. */
static void frames_that_cannot_be_read_cost_their_packet(void **state) {
	static const struct {
		size_t (*change)(uint8_t *, size_t);
		enum violation expected; /* VIOLATIONS: none, but `unexpected` */
		enum unexpected unexpected;
	} rows[] = {
		{unknown_session, VIOLATION_SESSION, 0},
		{bad_checksum, VIOLATION_IP, 0},
		{cut_short, VIOLATION_IP, 0},
		{table_too_long, VIOLATION_PSP, 0},
		{segment_too_long, VIOLATION_PSP, 0},
		{runt, VIOLATIONS, UNEXPECTED_NOT_DEPI},
		{control, VIOLATIONS, UNEXPECTED_L2TP_CONTROL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct traffic_result r = run_changed(rows[i].change, "84");

		assert_int_equal(r.proven, PACKETS - 1);
		assert_int_equal(r.lost, 1);
		assert_int_equal(r.corrupted + r.duplicated + r.reordered, 0);
		if (rows[i].expected != VIOLATIONS)
			assert_int_equal(r.violations[rows[i].expected], 1);
		else
			assert_int_equal(r.unexpected[rows[i].unexpected], 1);
		assert_int_equal(r.violations[VIOLATION_SEQUENCE_GAP], 1);
		assert_false(traffic_result_good(&r));
	}
}

static void frames_above_the_mtu_are_named(void **state) {
	const struct rig_frame *bonded[PACKETS];
	struct rig_segment segments[2];
	struct traffic_result r;
	unsigned n;

	(void)state;
	start("1280");
	n = take_bonded(bonded);
	for (unsigned i = 0; i < n; i++) {
		segments[0] = whole(bonded[i]);
		if (i != 2) {
			rig_send(&rig, depi, rig_depi(&rig, 0, segments, 1, depi));
			continue;
		}
		segments[1] = whole(bonded[++i]);
		rig_send(&rig, depi, rig_depi(&rig, 0, segments, 2, depi));
	}
	r = rig_finish(&rig);
	assert_all_proven(&r);
	assert_int_equal(r.violations[VIOLATION_MTU], 1);
	assert_int_equal(violations(&r), 1);
}

/* A DEPI frame that comes twice brings its packet twice; the open frame around it goes on. */
static void duplicated_depi_frames_are_counted(void **state) {
	const struct rig_frame *bonded[PACKETS];
	static uint8_t copy[RIG_FRAME_MAX];
	struct traffic_result r;
	size_t copy_size = 0;
	unsigned n;

	(void)state;
	start("256");
	n = take_bonded(bonded);
	for (unsigned i = 0; i < n; i++) {
		const struct rig_frame *f = bonded[i];
		struct rig_segment a = {f->bytes, 50, true, false};
		struct rig_segment b = {f->bytes + 50, f->size - 50, false, true};
		struct rig_segment all = whole(f);

		if (i == 4) {
			copy_size = rig_depi(&rig, 0, &all, 1, copy);
			rig_send(&rig, copy, copy_size);
			continue;
		}
		rig_send(&rig, depi, rig_depi(&rig, 0, &a, 1, depi));
		if (i == 5)
			rig_send(&rig, copy, copy_size);
		rig_send(&rig, depi, rig_depi(&rig, 0, &b, 1, depi));
	}
	r = rig_finish(&rig);
	assert_int_equal(r.proven, PACKETS);
	assert_int_equal(r.duplicated, 1);
	assert_int_equal(r.lost + r.corrupted + r.reordered, 0);
	assert_int_equal(r.violations[VIOLATION_SEQUENCE_DUPLICATE], 1);
	assert_int_equal(violations(&r), 1);
}

/* Two DEPI frames change places: late is late, but nothing is missing in the end. */
static void swapped_depi_frames_are_late(void **state) {
	static uint8_t earlier[RIG_FRAME_MAX];
	const struct rig_frame *bonded[PACKETS];
	struct traffic_result r;
	size_t size = 0;
	unsigned n;

	(void)state;
	start("84");
	n = take_bonded(bonded);
	for (unsigned i = 0; i < n; i++) {
		struct rig_segment segment = whole(bonded[i]);

		if (i == 6) {
			size = rig_depi(&rig, 0, &segment, 1, earlier);
			continue;
		}
		rig_send(&rig, depi, rig_depi(&rig, 0, &segment, 1, depi));
		if (i == 7)
			rig_send(&rig, earlier, size);
	}
	r = rig_finish(&rig);
	assert_all_proven(&r); /* the modems' resequencing repairs it */
	assert_int_equal(r.violations[VIOLATION_SEQUENCE_LATE], 1);
	assert_int_equal(violations(&r), 1);
	assert_false(traffic_result_good(&r));
}

/* MAP, UCD and MDD travel in the same sessions: not packets, and not corrupted ones. */
static void management_frames_are_let_pass(void **state) {
	static const uint8_t map[] = {
		0xc2, 0x00, 0x00, 0x38, 0xba, 0x43, /* a real MAP's header, then 56 bytes */
		0x01, 0xe0, 0x2f, 0x00, 0x00, 0x01,
	};
	struct rig_frame frame = {.channel = 0, .size = 6 + 56};
	struct traffic_result r;

	(void)state;
	start("84");
	memcpy(frame.bytes, map, sizeof(map));
	rig_send_frame(&rig, &frame);
	for (unsigned i = 0; i < PACKETS; i++)
		rig_send_frame(&rig, &frames[i]);
	r = rig_finish(&rig);
	assert_all_proven(&r);
	assert_true(traffic_result_good(&r));
	assert_int_equal(r.unexpected[UNEXPECTED_MANAGEMENT], 1);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_of_several_frames_are_taken_apart),
		cmocka_unit_test(frames_may_be_cut_anywhere),
		cmocka_unit_test(a_lost_part_costs_one_packet),
		cmocka_unit_test(harmless_mistakes_are_named),
		cmocka_unit_test(a_number_that_is_not_valid_leaves_a_gap),
		cmocka_unit_test(frames_that_cannot_be_read_cost_their_packet),
		cmocka_unit_test(frames_above_the_mtu_are_named),
		cmocka_unit_test(duplicated_depi_frames_are_counted),
		cmocka_unit_test(swapped_depi_frames_are_late),
		cmocka_unit_test(management_frames_are_let_pass),
	};

	return cmocka_run_group_tests(tests, open_rig, close_rig);
}
