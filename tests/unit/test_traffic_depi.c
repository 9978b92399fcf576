/* SPDX-License-Identifier: BSD-3-Clause */
/* The R-PHY device: segments become frames in the order of their sequence numbers. */
#include "test.h"
#include "traffic_rig.h"

#define PACKETS 32

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
		cmocka_unit_test(frames_above_the_mtu_are_named),
		cmocka_unit_test(duplicated_depi_frames_are_counted),
		cmocka_unit_test(swapped_depi_frames_are_late),
		cmocka_unit_test(management_frames_are_let_pass),
	};

	return cmocka_run_group_tests(tests, open_rig, close_rig);
}
