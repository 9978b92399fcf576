/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a DEPI frame has a name, and costs no more than the packets that it hides. */
#include "test.h"
#include "traffic_depi_rig.h"
#include "wire/ip.h"

#define AT_IP 14
#define AT_SESSION (14 + 20)
#define AT_PSP (14 + 20 + 4)

/* Sends everything, and frame 8 of channel 0 as `change` leaves it. Packet and DEPI frame are one. */
static struct traffic_result run_changed(struct depi_rig *d,
					 size_t (*change)(uint8_t *frame, size_t size),
					 const char *mix) {
	const struct rig_frame *bonded[DEPI_RIG_PACKETS];
	unsigned n;

	depi_rig_start(d, mix);
	n = depi_rig_bonded(d, bonded);
	for (unsigned i = 0; i < n; i++) {
		struct rig_segment segment = rig_whole(bonded[i]);
		size_t size = rig_depi(&d->rig, 0, &segment, 1, d->depi);

		rig_send(&d->rig, d->depi, i == 8 ? change(d->depi, size) : size);
	}
	return rig_finish(&d->rig);
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

static size_t dscp(uint8_t *frame, size_t size) {
	frame[AT_IP + 1] ^= 4;
	checksum_repair(frame);
	return size;
}

static size_t ecn(uint8_t *frame, size_t size) {
	frame[AT_IP + 1] ^= 1;
	checksum_repair(frame);
	return size;
}

static size_t may_be_fragmented(uint8_t *frame, size_t size) {
	frame[AT_IP + 6] ^= 0x40;
	checksum_repair(frame);
	return size;
}

static size_t ttl(uint8_t *frame, size_t size) {
	frame[AT_IP + 8]--;
	checksum_repair(frame);
	return size;
}

static size_t identification(uint8_t *frame, size_t size) {
	frame[AT_IP + 5] ^= 1;
	checksum_repair(frame);
	return size;
}

static size_t psp_reserved_bit(uint8_t *frame, size_t size) {
	frame[AT_PSP] |= 1;
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
	struct depi_rig *d = *state;
	static const struct {
		size_t (*change)(uint8_t *, size_t);
		enum violation expected;
		uint64_t count;
	} rows[] = {
		{source_mac, VIOLATION_MAC, 1},
		{destination_ip, VIOLATION_ADDRESS, 1},
		{dscp, VIOLATION_IP_FIELDS, 1},
		{ecn, VIOLATION_IP_FIELDS, 1},
		{may_be_fragmented, VIOLATION_IP_FIELDS, 1},
		{ttl, VIOLATION_IP_FIELDS, 1},
		{psp_reserved_bit, VIOLATION_PSP_FIELDS, 1},
		{profile, VIOLATION_EXTRA, 1},
		{counter, VIOLATION_EXTRA, 1},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct traffic_result r = run_changed(d, rows[i].change, "84");

		depi_rig_check_proven(&r);
		assert_int_equal(r.violations[rows[i].expected], rows[i].count);
		assert_int_equal(rig_violations(&r), rows[i].count);
		assert_false(traffic_result_good(&r));
	}
}

/* RFC 6864: without fragments it means nothing. */
static void the_identification_may_differ(void **state) {
	struct traffic_result r = run_changed(*state, identification, "84");

	depi_rig_check_proven(&r);
	assert_true(traffic_result_good(&r));
}

static void a_number_that_is_not_valid_leaves_a_gap(void **state) {
	struct depi_rig *d = *state;
	struct traffic_result r = run_changed(d, no_sequence_flag, "84");

	depi_rig_check_proven(&r);
	assert_int_equal(r.violations[VIOLATION_NO_SEQUENCE], 1);
	assert_int_equal(r.violations[VIOLATION_SEQUENCE_GAP], 1);
	assert_int_equal(rig_violations(&r), 2);
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
	struct depi_rig *d = *state;
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

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct traffic_result r = run_changed(d, rows[i].change, "84");

		assert_int_equal(r.proven, DEPI_RIG_PACKETS - 1);
		assert_int_equal(r.lost, 1);
		assert_int_equal(r.corrupted + r.duplicated + r.reordered, 0);
		if (rows[i].expected != VIOLATIONS)
			assert_int_equal(r.violations[rows[i].expected], 1);
		else
			assert_int_equal(r.unexpected[rows[i].unexpected], 1);
		assert_int_equal(traffic_unexpected(&r, NULL), rows[i].expected == VIOLATIONS);
		assert_int_equal(r.violations[VIOLATION_SEQUENCE_GAP], 1);
		assert_false(traffic_result_good(&r));
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(harmless_mistakes_are_named),
		cmocka_unit_test(the_identification_may_differ),
		cmocka_unit_test(a_number_that_is_not_valid_leaves_a_gap),
		cmocka_unit_test(frames_that_cannot_be_read_cost_their_packet),
	};

	return cmocka_run_group_tests(tests, depi_rig_open, depi_rig_close);
}
