/* SPDX-License-Identifier: BSD-3-Clause */
/* The R-PHY device: segments become frames in the order of their sequence numbers. */
#include "test.h"
#include "traffic_depi_rig.h"

static void segments_of_several_frames_are_taken_apart(void **state) {
	struct depi_rig *d = *state;
	const struct rig_frame *bonded[DEPI_RIG_PACKETS];
	struct traffic_result r;
	unsigned n;

	depi_rig_start(d, "84");
	n = depi_rig_bonded(d, bonded);
	for (unsigned i = 0; i < n; i += 8) {
		struct rig_segment segments[8];
		unsigned count = 0;

		for (; count < 8 && i + count < n; count++)
			segments[count] = rig_whole(bonded[i + count]);
		rig_send(&d->rig, d->depi, rig_depi(&d->rig, 0, segments, count, d->depi));
	}
	r = rig_finish(&d->rig);
	depi_rig_check_proven(&r);
	assert_true(traffic_result_good(&r));
}

/* One stream of bytes, cut every `step` bytes into DEPI frames of their own. */
static void frames_may_be_cut_anywhere(void **state) {
	struct depi_rig *d = *state;
	static const size_t steps[] = {1, 7, 100, 300, 301};

	for (size_t s = 0; s < ARRAY_COUNT(steps); s++) {
		const struct rig_frame *bonded[DEPI_RIG_PACKETS];
		struct traffic_result r;
		unsigned n;

		depi_rig_start(d, "256");
		n = depi_rig_bonded(d, bonded);
		for (unsigned i = 0; i < n; i++) {
			const struct rig_frame *f = bonded[i];

			for (size_t at = 0; at < f->size; at += steps[s]) {
				size_t left = f->size - at;
				size_t size = left < steps[s] ? left : steps[s];
				struct rig_segment part = {f->bytes + at, size, at == 0,
							   size == left};

				rig_send(&d->rig, d->depi, rig_depi(&d->rig, 0, &part, 1, d->depi));
			}
		}
		r = rig_finish(&d->rig);
		depi_rig_check_proven(&r);
		assert_true(traffic_result_good(&r));
	}
}

/* A middle part is lost with its DEPI frame: one packet, not more. */
static void a_lost_part_costs_one_packet(void **state) {
	struct depi_rig *d = *state;
	const struct rig_frame *bonded[DEPI_RIG_PACKETS];
	struct traffic_result r;
	unsigned n;

	depi_rig_start(d, "1280");
	n = depi_rig_bonded(d, bonded);
	for (unsigned i = 0; i < n; i++) {
		const struct rig_frame *f = bonded[i];
		size_t third = f->size / 3;
		struct rig_segment parts[3] = {
			{f->bytes, third, true, false},
			{f->bytes + third, third, false, false},
			{f->bytes + 2 * third, f->size - 2 * third, false, true},
		};

		for (unsigned p = 0; p < 3; p++) {
			size_t size = rig_depi(&d->rig, 0, &parts[p], 1, d->depi);

			if (i != 3 || p != 1)
				rig_send(&d->rig, d->depi, size);
		}
	}
	r = rig_finish(&d->rig);
	assert_int_equal(r.proven, DEPI_RIG_PACKETS - 1);
	assert_int_equal(r.lost, 1);
	assert_int_equal(r.corrupted + r.duplicated + r.reordered, 0);
	assert_int_equal(r.violations[VIOLATION_SEQUENCE_GAP], 1);
	assert_int_equal(r.violations[VIOLATION_SEGMENT_UNFINISHED], 1);
	assert_int_equal(r.violations[VIOLATION_SEGMENT_ORPHAN], 1);
	assert_false(traffic_result_good(&r));
}

static void frames_above_the_mtu_are_named(void **state) {
	struct depi_rig *d = *state;
	const struct rig_frame *bonded[DEPI_RIG_PACKETS];
	struct rig_segment segments[2];
	struct traffic_result r;
	unsigned n;

	depi_rig_start(d, "1280");
	n = depi_rig_bonded(d, bonded);
	for (unsigned i = 0; i < n; i++) {
		segments[0] = rig_whole(bonded[i]);
		if (i != 2) {
			rig_send(&d->rig, d->depi, rig_depi(&d->rig, 0, segments, 1, d->depi));
			continue;
		}
		segments[1] = rig_whole(bonded[++i]);
		rig_send(&d->rig, d->depi, rig_depi(&d->rig, 0, segments, 2, d->depi));
	}
	r = rig_finish(&d->rig);
	depi_rig_check_proven(&r);
	assert_int_equal(r.violations[VIOLATION_MTU], 1);
	assert_int_equal(rig_violations(&r), 1);
}

/* A DEPI frame that comes twice brings its packet twice; the open frame around it goes on. */
static void duplicated_depi_frames_are_counted(void **state) {
	struct depi_rig *d = *state;
	const struct rig_frame *bonded[DEPI_RIG_PACKETS];
	static uint8_t copy[RIG_FRAME_MAX];
	struct traffic_result r;
	size_t copy_size = 0;
	unsigned n;

	depi_rig_start(d, "256");
	n = depi_rig_bonded(d, bonded);
	for (unsigned i = 0; i < n; i++) {
		const struct rig_frame *f = bonded[i];
		struct rig_segment a = {f->bytes, 50, true, false};
		struct rig_segment b = {f->bytes + 50, f->size - 50, false, true};
		struct rig_segment all = rig_whole(f);

		if (i == 4) {
			copy_size = rig_depi(&d->rig, 0, &all, 1, copy);
			rig_send(&d->rig, copy, copy_size);
			continue;
		}
		rig_send(&d->rig, d->depi, rig_depi(&d->rig, 0, &a, 1, d->depi));
		if (i == 5)
			rig_send(&d->rig, copy, copy_size);
		rig_send(&d->rig, d->depi, rig_depi(&d->rig, 0, &b, 1, d->depi));
	}
	r = rig_finish(&d->rig);
	assert_int_equal(r.proven, DEPI_RIG_PACKETS);
	assert_int_equal(r.duplicated, 1);
	assert_int_equal(r.lost + r.corrupted + r.reordered, 0);
	assert_int_equal(r.violations[VIOLATION_SEQUENCE_DUPLICATE], 1);
	assert_int_equal(rig_violations(&r), 1);
}

/* Two DEPI frames change places: late is late, but nothing is missing in the end. */
static void swapped_depi_frames_are_late(void **state) {
	struct depi_rig *d = *state;
	static uint8_t earlier[RIG_FRAME_MAX];
	const struct rig_frame *bonded[DEPI_RIG_PACKETS];
	struct traffic_result r;
	size_t size = 0;
	unsigned n;

	depi_rig_start(d, "84");
	n = depi_rig_bonded(d, bonded);
	for (unsigned i = 0; i < n; i++) {
		struct rig_segment segment = rig_whole(bonded[i]);

		if (i == 6) {
			size = rig_depi(&d->rig, 0, &segment, 1, earlier);
			continue;
		}
		rig_send(&d->rig, d->depi, rig_depi(&d->rig, 0, &segment, 1, d->depi));
		if (i == 7)
			rig_send(&d->rig, earlier, size);
	}
	r = rig_finish(&d->rig);
	depi_rig_check_proven(&r); /* the modems' resequencing repairs it */
	assert_int_equal(r.violations[VIOLATION_SEQUENCE_LATE], 1);
	assert_int_equal(rig_violations(&r), 1);
	assert_false(traffic_result_good(&r));
}

/* MAP, UCD and MDD travel in the same sessions: not packets, and not corrupted ones. */
static void management_frames_are_let_pass(void **state) {
	struct depi_rig *d = *state;
	static const uint8_t map[] = {
		0xc2, 0x00, 0x00, 0x38, 0xba, 0x43, /* a real MAP's header, then 56 bytes */
		0x01, 0xe0, 0x2f, 0x00, 0x00, 0x01,
	};
	struct rig_frame frame = {.channel = 0, .size = 6 + 56};
	struct traffic_result r;

	depi_rig_start(d, "84");
	memcpy(frame.bytes, map, sizeof(map));
	rig_send_frame(&d->rig, &frame);
	for (unsigned i = 0; i < DEPI_RIG_PACKETS; i++)
		rig_send_frame(&d->rig, &d->frames[i]);
	r = rig_finish(&d->rig);
	depi_rig_check_proven(&r);
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

	return cmocka_run_group_tests(tests, depi_rig_open, depi_rig_close);
}
