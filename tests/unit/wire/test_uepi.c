/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests uepi.h: headers, request records and trailers of both UEPI formats, SC-QAM and OFDMA. */
#include "test_main.h"

#include "wire/bytes.h"
#include "wire/uepi.h"
#include "wire_kit.h"

#define SC UEPI_SC_QAM
#define OFDMA UEPI_OFDMA

#define BARE_SIZE 8 /* bytes of an SC-QAM trailer without equalizer block */
#define BLOCK_SIZE (8 + 104) /* bytes with the block */

_Static_assert(UEPI_TRAILER_MAX == BLOCK_SIZE + 4 + 255, "equalizer block, vendor field");

enum kind { HEADER, REQUEST, TRAILER };

struct unit {
	const char *name; /* of its vector */
	enum uepi_format format;
	enum kind kind;
	struct uepi_header h;
	struct uepi_request r;
	struct uepi_trailer t;
};

static uint8_t coefficients[UEPI_EQUALIZER_SIZE]; /* 0, 1, 2, .. */
static const uint8_t vendor_bytes[] = {0xa1, 0xb2, 0xc3};

static int set_up(void **state) {
	for (size_t i = 0; i < sizeof(coefficients); i++)
		coefficients[i] = (uint8_t)i;
	return guard_group_open(state);
}

#define VALID (UEPI_FEC_VALID | UEPI_SNR_VALID)
#define LOW (UEPI_RANGING_REQUIRED | UEPI_SNR_LOW | VALID)
#define ENERGY (UEPI_PHY_ERROR | UEPI_HIGH_ENERGY | UEPI_LOW_ENERGY)
#define BOTH_VALID (UEPI_POWER_VALID | UEPI_TIMING_VALID | VALID)
#define SID_MAX UEPI_SID_MASK

/*
 * Header: version, no burst, IUC, SID, minislot, segment header, burst, granted bytes.
 * Request: version, cluster valid, cluster, N bytes, piggyback, IUC, size, scheduled SID, SID,
 * minislot, session.
 * Trailer: version, flags, good, corrected and bad codewords, SNR, power, timing, burst, equalizer
 * block, frequency error, vendor field, vendor field length, vendor ID.
 */
static const struct unit units[] = {
	{"sc_qam_header", SC, HEADER, .h = {0, false, 5, 0x123, 0x01556601}},
	{"sc_qam_header_no_burst", SC, HEADER, .h = {3, true, 255, SID_MAX, UINT32_MAX}},
	{"ofdma_header", OFDMA, HEADER, .h = {1, false, 5, 0x123, 0x01556601, true, 7, 2048}},
	{"ofdma_header_no_burst", OFDMA, HEADER,
	 .h = {1, true, 255, SID_MAX, UINT32_MAX, false, UINT32_MAX, UINT32_MAX}},
	{"sc_qam_request", SC, REQUEST,
	 .r = {0, true, 2, true, true, 5, 16, 0x123, 0x123, 0x01556601, 0x00010007}},
	{"sc_qam_request_frame", SC, REQUEST,
	 .r = {0, false, 0, false, false, 1, 9, SID_MAX, 0x123, 0x01556601, 0x00010007}},
	{"sc_qam_request_highest", SC, REQUEST,
	 .r = {3, true, UEPI_SID_CLUSTER_MAX, true, true, 255, 0xffff, SID_MAX, SID_MAX, UINT32_MAX,
	       UINT32_MAX}},
	{"ofdma_request", OFDMA, REQUEST,
	 .r = {1, true, 2, true, true, 5, 16, 0x123, 0x123, 0x01556601, 0x00010007}},
	{"ofdma_request_frame", OFDMA, REQUEST,
	 .r = {1, false, 0, false, false, 1, 9, SID_MAX, 0x123, 0x01556601, 0x00010007}},
	{"sc_qam_trailer", SC, TRAILER, .t = {0, VALID, 5, 1, 0, 0x92}},
	{"sc_qam_trailer_flag", SC, TRAILER, .t = {0, VALID | UEPI_EQUALIZER, 5, 1, 0, 0x92}},
	{"sc_qam_trailer_block", SC, TRAILER,
	 .t = {0, LOW | UEPI_EQUALIZER, 0, 2, 255, 1, -12, -3, 0, coefficients, 16}},
	{"sc_qam_trailer_silent", SC, TRAILER,
	 .t = {0, LOW, 0, 2, 255, 1, -12, -3, 0, coefficients, 16}},
	{"sc_qam_trailer_vendor", SC, TRAILER,
	 .t = {0, VALID | UEPI_VENDOR, 5, 1, 0, 0x92, 0, 0, 0, NULL, 0, vendor_bytes, 3, 0x1095}},
	{"sc_qam_trailer_both", SC, TRAILER,
	 .t = {3, ENERGY | VALID | UEPI_EQUALIZER | UEPI_VENDOR, 0xffff, 255, 255, 0xffff,
	       INT16_MIN, INT32_MIN, 0, coefficients, INT16_MAX, vendor_bytes, 3, 0xffffff}},
	{"sc_qam_trailer_empty", SC, TRAILER, .t = {.flags = UEPI_VENDOR, .vendor_id = 0x1095}},
	{"ofdma_trailer", OFDMA, TRAILER, .t = {1, BOTH_VALID, 5, 1, 0, 0x92, -12, 3, 7}},
	{"ofdma_trailer_extreme", OFDMA, TRAILER,
	 .t = {1, LOW | ENERGY | BOTH_VALID, 0xffff, 0xffff, 0xffff, 0xffff, INT16_MIN, INT32_MIN,
	       UINT32_MAX}},
	{"ofdma_trailer_empty", OFDMA, TRAILER, .t = {1, UEPI_LOW_ENERGY, .burst_id = 8}},
};

static size_t unit_size(const struct unit *u) {
	switch (u->kind) {
	case HEADER: return uepi_header_size(u->format);
	case REQUEST: return UEPI_REQUEST_SIZE;
	default: return uepi_trailer_size(u->format, &u->t);
	}
}

static size_t unit_write(const struct unit *u, uint8_t *out) {
	switch (u->kind) {
	case HEADER: return uepi_header_write(u->format, &u->h, out);
	case REQUEST: return uepi_request_write(u->format, &u->r, out);
	default: return uepi_trailer_write(u->format, &u->t, out);
	}
}

/* Parses the unit whose format and kind `out` states. */
static enum uepi_verdict unit_read(const void *bytes, size_t size, struct unit *out) {
	const uint8_t *at = guard_copy(&guard, bytes, size);

	switch (out->kind) {
	case HEADER: return uepi_header_parse(out->format, at, size, &out->h);
	case REQUEST: return uepi_request_parse(out->format, at, size, &out->r);
	default: return uepi_trailer_parse(out->format, at, size, &out->t);
	}
}

static uint8_t unit_version(const struct unit *u) {
	return u->kind == HEADER ? u->h.version : u->kind == REQUEST ? u->r.version : u->t.version;
}

/* Asserts that parsing and writing gives the same bytes. */
static void assert_round_trip(enum uepi_format format, enum kind kind, const uint8_t *bytes,
			      size_t size) {
	struct unit read = {.format = format, .kind = kind};
	uint8_t written[UEPI_TRAILER_MAX];

	assert_int_equal(unit_read(bytes, size, &read), UEPI_OK);
	assert_int_equal(unit_version(&read), bytes[0] >> 6);
	assert_int_equal(read.t.vendor != NULL, (read.t.flags & UEPI_VENDOR) != 0);
	assert_int_equal(unit_size(&read), size);
	assert_int_equal(unit_write(&read, written), size);
	assert_memory_equal(written, bytes, size);
}

TEST(every_vector_round_trips) {
	FILE *f = vectors_open("uepi.txt");
	struct vector v;
	size_t count = 0;

	while (vector_next(f, &v))
		count++;
	fclose(f);
	assert_int_equal(count, ARRAY_COUNT(units));
	for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
		size_t size = unit_size(&units[i]);

		assert_true(units[i].kind != HEADER || size <= UEPI_HEADER_MAX);
		assert_int_equal(unit_write(&units[i], guard_tail(&guard, size)), size);
		assert_vector("uepi.txt", units[i].name, size);
		vector_get("uepi.txt", units[i].name, &v);
		assert_round_trip(units[i].format, units[i].kind, v.bytes, v.size);
	}
}

/* The verdict for a unit of `length` bytes by the rules of docs/uepi-formats.md. */
static enum uepi_verdict expected_for(const struct unit *u, const uint8_t *bytes, size_t length) {
	bool variable = u->format == SC && u->kind == TRAILER,
	     vendor = variable && bytes[1] & UEPI_VENDOR;
	size_t shortest = variable ? BARE_SIZE : unit_size(u);
	bool good = length == shortest || (variable && length == BLOCK_SIZE);

	if (length < shortest)
		return UEPI_TRUNCATED;
	if (vendor)
		good = length == BARE_SIZE + 4u + bytes[11] ||
		       length == BLOCK_SIZE + 4u + bytes[115];
	return good ? UEPI_OK : UEPI_BAD_LENGTH;
}

/* Each vector, truncated or extended to each length up to more than the longest unit. */
TEST(every_length_is_checked) {
	struct vector v;

	for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
		struct unit read = {.format = units[i].format, .kind = units[i].kind};

		vector_get("uepi.txt", units[i].name, &v);
		memset(v.bytes + v.size, 0xee, sizeof(v.bytes) - v.size);
		for (size_t length = 0; length < UEPI_TRAILER_MAX + 9; length++) {
			enum uepi_verdict expected = expected_for(&units[i], v.bytes, length);

			assert_int_equal(unit_read(v.bytes, length, &read), expected);
			if (read.kind != TRAILER || read.format != SC ||
			    expected != UEPI_BAD_LENGTH)
				continue;
			assert_int_equal(read.t.flags, units[i].t.flags);
			assert_int_equal(read.t.fec_good, units[i].t.fec_good);
			assert_int_equal(read.t.snr, units[i].t.snr);
			assert_true(read.t.equalizer == NULL && read.t.vendor == NULL);
		}
	}
}

/* SC-QAM: any version is returned. OFDMA: a version other than 1 is rejected. */
TEST(version_is_checked) {
	uint8_t bytes[20] = {0};

	for (unsigned n = 0; n < 4 * ARRAY_COUNT(units); n++) {
		struct unit read = {.format = units[n / 4].format, .kind = units[n / 4].kind};

		bytes[0] = (uint8_t)(n % 4 << 6);
		assert_int_equal(unit_read(bytes, unit_size(&read), &read),
				 read.format == SC || n % 4 == 1 ? UEPI_OK : UEPI_BAD_VERSION);
		assert_true(read.format == OFDMA || unit_version(&read) == n % 4);
	}
}

TEST(reserved_bits_are_ignored) {
	static const uint8_t first_bytes[] = {0x1f, 0x4f};
	struct unit read = {.kind = HEADER};
	uint8_t bytes[UEPI_REQUEST_SIZE] = {0, 0x25, 0xc1, 0x23};

	for (unsigned i = 0; i < 2; i++) {
		bytes[0] = first_bytes[i];
		read.format = i == 0 ? SC : OFDMA;
		assert_int_equal(unit_read(bytes, unit_size(&read), &read), UEPI_OK);
		assert_false(read.h.no_burst || read.h.segment_header);
		assert_int_equal(read.h.sid, 0x123);
	}
	memcpy(bytes, "\x38\x05\x00\x01\xc1\x23\xc4\x56", 8);
	read = (struct unit){.format = SC, .kind = REQUEST};
	assert_int_equal(unit_read(bytes, sizeof(bytes), &read), UEPI_OK);
	assert_false(read.r.cluster_valid);
	assert_int_equal(read.r.sid_cluster, 0);
	assert_int_equal(read.r.scheduled_sid, 0x123);
	assert_int_equal(read.r.sid, 0x456);
	read = (struct unit){.format = OFDMA, .kind = TRAILER};
	assert_int_equal(unit_read((uint8_t[20]){0x7f, 0xff}, 20, &read), UEPI_OK);
	assert_int_equal(read.t.flags, 0x1f3c);
	assert_true(read.t.equalizer == NULL && read.t.vendor == NULL);
}

/* If a trailer is valid with and without equalizer block, the flag of the block decides. */
TEST(equalizer_flag_resolves_ambiguous_trailer) {
	/* Flags beside UEPI_VENDOR; vendor field bytes without and with block; expected reading. */
	static const struct {
		uint8_t flag, bare, block;
		bool is_block;
	} cases[] = {
		{0, 113, 9, false},
		{UEPI_EQUALIZER, 113, 9, true},
		{UEPI_EQUALIZER, 113, 8, false}, /* valid only without block */
		{0, 112, 9, true},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint8_t bytes[BLOCK_SIZE + 4 + 9] = {0, UEPI_VENDOR | cases[i].flag};
		struct unit read = {.format = SC, .kind = TRAILER};

		bytes[BARE_SIZE + 3] = cases[i].bare;
		bytes[BLOCK_SIZE + 3] = cases[i].block;
		assert_int_equal(unit_read(bytes, sizeof(bytes), &read), UEPI_OK);
		assert_int_equal(read.t.equalizer != NULL, cases[i].is_block);
		assert_int_equal(read.t.vendor_length, cases[i].is_block ? 9 : 113);
	}
}

/* The parser would read the trailer as one with, or without, an equalizer block. */
TEST(ambiguous_trailer_is_not_written) {
	uint8_t long_vendor[113] = {0};
	uint8_t *out = guard_tail(&guard, UEPI_TRAILER_MAX);
	struct uepi_trailer t = {
		.flags = UEPI_VENDOR, .vendor = long_vendor, .vendor_length = sizeof(long_vendor)};

	long_vendor[BLOCK_SIZE + 3 - BARE_SIZE - 4] = 9;
	assert_int_equal(uepi_trailer_write(SC, &t, out), BARE_SIZE + 4 + 113);
	t.flags |= UEPI_EQUALIZER;
	assert_int_equal(uepi_trailer_write(SC, &t, out), 0);

	t.equalizer = coefficients;
	t.vendor_length = 9;
	t.frequency_error = BLOCK_SIZE + 4 + 9 - BARE_SIZE - 4; /* low byte: offset 11 */
	assert_int_equal(uepi_trailer_write(SC, &t, out), BLOCK_SIZE + 4 + 9);
	t.flags = UEPI_VENDOR;
	assert_int_equal(uepi_trailer_write(SC, &t, out), 0);
}

/* Counters saturate; other fields are masked; fields that only the other format has are omitted. */
TEST(values_are_limited_to_field_width) {
	static const struct {
		struct unit u;
		uint8_t size, from, expected[4];
	} cases[] = {
		{{"", SC, HEADER, .h = {5, false, 0, 0xffff, 0, true, 1, 2}},
		 8,
		 0,
		 "\x40\x00\x3f\xff"},
		{{"", OFDMA, HEADER, .h = {5, 0, 0, 0xffff, 0, 1, 1, 2}},
		 16,
		 0,
		 "\x50\x00\x3f\xff"},
		{{"", SC, REQUEST, .r = {6, 1, 9, .scheduled_sid = 0xc001}},
		 16,
		 0,
		 "\x8c\x00\x00\x00"},
		{{"", SC, REQUEST, .r = {6, 1, 9, .scheduled_sid = 0xc001}},
		 16,
		 4,
		 "\x00\x01\x00\x00"},
		{{"", OFDMA, REQUEST, .r = {6, 0, 9}}, 16, 0, "\x40\x00\x00\x00"},
		{{"", SC, TRAILER, .t = {5, 0xe000}}, BARE_SIZE, 0, "\x60\x00\x00\x00"},
		{{"", SC, TRAILER, .t = {5, 0, 0, 256, 0xff00}}, BARE_SIZE, 4, "\xff\xff\x00\x00"},
		{{"", SC, TRAILER, .t = {0, UEPI_VENDOR, .vendor_id = 0xff001095}},
		 BARE_SIZE + 4,
		 BARE_SIZE,
		 "\x00\x10\x95\x00"},
		{{"", SC, TRAILER,
		  .t = {0, UEPI_VENDOR, .vendor = vendor_bytes, .vendor_length = 1}},
		 BARE_SIZE + 5,
		 BARE_SIZE + 1,
		 "\x00\x00\x01\xa1"},
		{{"", OFDMA, TRAILER, .t = {5, 0xffff, .equalizer = coefficients}},
		 20,
		 0,
		 "\x5f\x3c\x00\x00"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint8_t *out = guard_tail(&guard, cases[i].size);

		assert_int_equal(unit_size(&cases[i].u), cases[i].size);
		assert_int_equal(unit_write(&cases[i].u, out), cases[i].size);
		assert_memory_equal(out + cases[i].from, cases[i].expected, 4);
	}
}

ALL_TESTS(set_up, guard_group_close)
