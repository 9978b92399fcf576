/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "wire/bytes.h"
#include "wire/uepi.h"
#include "wire_kit.h"

#define BARE 8
#define BLOCK (8 + 104)

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

/*
 * As in the structure: version, flags, codewords good, corrected and not, SNR, power, timing, burst, equalizer block,
 * frequency error, vendor field, its length and its ID.
 */
static const struct {
	const char *name;
	enum uepi_format format;
	struct uepi_trailer t;
} cases[] = {
	{"sc_qam_trailer", UEPI_SC_QAM, {0, VALID, 5, 1, 0, 0x92}},
	{"sc_qam_trailer_flag", UEPI_SC_QAM, {0, VALID | UEPI_EQUALIZER, 5, 1, 0, 0x92}},
	{"sc_qam_trailer_block",
	 UEPI_SC_QAM,
	 {0, LOW | UEPI_EQUALIZER, 0, 2, 255, 1, -12, -3, 0, coefficients, 16}},
	{"sc_qam_trailer_silent",
	 UEPI_SC_QAM,
	 {0, LOW, 0, 2, 255, 1, -12, -3, 0, coefficients, 16}},
	{"sc_qam_trailer_vendor",
	 UEPI_SC_QAM,
	 {0, VALID | UEPI_VENDOR, 5, 1, 0, 0x92, 0, 0, 0, NULL, 0, vendor_bytes, 3, 0x1095}},
	{"sc_qam_trailer_both",
	 UEPI_SC_QAM,
	 {3, ENERGY | VALID | UEPI_EQUALIZER | UEPI_VENDOR, 0xffff, 255, 255, 0xffff, INT16_MIN,
	  INT32_MIN, 0, coefficients, INT16_MAX, vendor_bytes, 3, 0xffffff}},
	{"sc_qam_trailer_empty", UEPI_SC_QAM, {.flags = UEPI_VENDOR, .vendor_id = 0x1095}},
	{"ofdma_trailer",
	 UEPI_OFDMA,
	 {1, UEPI_POWER_VALID | UEPI_TIMING_VALID | VALID, 5, 1, 0, 0x92, -12, 3, 7}},
	{"ofdma_trailer_extreme",
	 UEPI_OFDMA,
	 {1, LOW | ENERGY | UEPI_POWER_VALID | UEPI_TIMING_VALID, 0xffff, 0xffff, 0xffff, 0xffff,
	  INT16_MIN, INT32_MIN, UINT32_MAX}},
	{"ofdma_trailer_empty", UEPI_OFDMA, {1, UEPI_LOW_ENERGY, .burst_id = 8}},
};

static enum uepi_verdict parse(enum uepi_format format, const uint8_t *bytes, size_t size,
			       struct uepi_trailer *out) {
	return uepi_trailer_parse(format, guard_copy(&guard, bytes, size), size, out);
}

/* What is read of the bytes is written as the same bytes. */
static void comes_back(enum uepi_format format, const uint8_t *bytes, size_t size) {
	uint8_t written[UEPI_TRAILER_MAX];
	struct uepi_trailer t;

	assert_int_equal(parse(format, bytes, size, &t), UEPI_OK);
	assert_int_equal(t.version, bytes[0] >> 6);
	assert_int_equal(t.vendor != NULL, (t.flags & UEPI_VENDOR) != 0);
	assert_int_equal(uepi_trailer_size(format, &t), size);
	assert_int_equal(uepi_trailer_write(format, &t, written), size);
	assert_memory_equal(written, bytes, size);
}

TEST(reads_and_writes_trailers) {
	struct vector v;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		size_t size = uepi_trailer_size(cases[i].format, &cases[i].t);
		uint8_t *out = guard_take(&guard, size);

		assert_int_equal(uepi_trailer_write(cases[i].format, &cases[i].t, out), size);
		is_vector("uepi.txt", cases[i].name, size);
		vector_get("uepi.txt", cases[i].name, &v);
		comes_back(cases[i].format, v.bytes, v.size);
	}
}

/* docs/uepi-formats.md: the lengths that these bytes may have. */
static enum uepi_verdict wanted_verdict(enum uepi_format format, const uint8_t *bytes,
					size_t length) {
	bool vendor = bytes[1] & UEPI_VENDOR;
	bool good = length == BARE || length == BLOCK;

	if (length < (format == UEPI_OFDMA ? 20 : BARE))
		return UEPI_TRUNCATED;
	if (format == UEPI_OFDMA)
		good = length == 20;
	else if (vendor)
		good = length == BARE + 4u + bytes[11] || length == BLOCK + 4u + bytes[115];
	return good ? UEPI_OK : UEPI_BAD_LENGTH;
}

/* A vector without a case above would be of no use. */
TEST(knows_every_vector) {
	assert_int_equal(vectors_count("uepi.txt", "_trailer"), ARRAY_COUNT(cases));
}

/* Every length of every vector, up to more than any trailer has. */
TEST(tells_every_length) {
	struct uepi_trailer read;
	struct vector v;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		vector_get("uepi.txt", cases[i].name, &v);
		memset(v.bytes + v.size, 0xee, sizeof(v.bytes) - v.size);
		for (size_t length = 0; length < UEPI_TRAILER_MAX + 9; length++) {
			enum uepi_verdict wanted = wanted_verdict(cases[i].format, v.bytes, length);

			assert_int_equal(parse(cases[i].format, v.bytes, length, &read), wanted);
			if (cases[i].format == UEPI_OFDMA || wanted != UEPI_BAD_LENGTH)
				continue;
			assert_int_equal(read.flags, cases[i].t.flags);
			assert_int_equal(read.fec_good, cases[i].t.fec_good);
			assert_int_equal(read.snr, cases[i].t.snr);
			assert_true(read.equalizer == NULL && read.vendor == NULL);
		}
	}
}

/* With a vendor field both readings may fit: then the flag of the block decides. */
TEST(lets_the_flag_decide_between_two_readings) {
	uint8_t bytes[BLOCK + 4 + 9] = {0, UEPI_VENDOR};
	struct uepi_trailer t;

	bytes[BARE + 3] = sizeof(bytes) - BARE - 4;
	bytes[BLOCK + 3] = 9;
	assert_int_equal(parse(UEPI_SC_QAM, bytes, sizeof(bytes), &t), UEPI_OK);
	assert_null(t.equalizer);
	assert_int_equal(t.vendor_length, 113);

	bytes[1] |= UEPI_EQUALIZER;
	assert_int_equal(parse(UEPI_SC_QAM, bytes, sizeof(bytes), &t), UEPI_OK);
	assert_non_null(t.equalizer);
	assert_int_equal(t.vendor_length, 9);

	/* The flag does not help where only the other reading fits. */
	bytes[BLOCK + 3] = 8;
	assert_int_equal(parse(UEPI_SC_QAM, bytes, sizeof(bytes), &t), UEPI_OK);
	assert_null(t.equalizer);
	bytes[1] = UEPI_VENDOR;
	bytes[BLOCK + 3] = 9;
	bytes[BARE + 3]--;
	assert_int_equal(parse(UEPI_SC_QAM, bytes, sizeof(bytes), &t), UEPI_OK);
	assert_non_null(t.equalizer);
}

/* What would be read otherwise is not written. */
TEST(refuses_what_would_be_misread) {
	uint8_t long_vendor[113] = {0};
	uint8_t *out = guard_take(&guard, UEPI_TRAILER_MAX);
	struct uepi_trailer t = {
		.flags = UEPI_VENDOR, .vendor = long_vendor, .vendor_length = sizeof(long_vendor)};

	long_vendor[BLOCK + 3 - BARE - 4] = 9;
	assert_int_equal(uepi_trailer_write(UEPI_SC_QAM, &t, out), BARE + 4 + 113);
	t.flags |= UEPI_EQUALIZER;
	assert_int_equal(uepi_trailer_write(UEPI_SC_QAM, &t, out), 0);

	t.equalizer = coefficients;
	t.vendor_length = 9;
	t.frequency_error = BLOCK + 4 + 9 - BARE - 4; /* its low byte stands at 11 */
	assert_int_equal(uepi_trailer_write(UEPI_SC_QAM, &t, out), BLOCK + 4 + 9);
	t.flags = UEPI_VENDOR;
	assert_int_equal(uepi_trailer_write(UEPI_SC_QAM, &t, out), 0);
}

TEST(cuts_values_to_their_fields) {
	struct uepi_trailer t = {.version = 5,
				 .flags = 0xe000,
				 .fec_corrected = 256,
				 .fec_uncorrectable = 0xff00,
				 .vendor_id = 0xff001095};
	uint8_t *out = guard_take(&guard, UEPI_TRAILER_MAX);
	struct uepi_trailer read;

	assert_int_equal(uepi_trailer_write(UEPI_SC_QAM, &t, out), BARE);
	assert_int_equal(load_be16(out), 0x6000);
	assert_int_equal(load_be16(out + 4), 0xffff); /* counters stop at their highest */
	t.flags = UEPI_VENDOR;
	t.vendor = out;
	assert_int_equal(uepi_trailer_write(UEPI_SC_QAM, &t, out), BARE + 4);
	assert_int_equal(load_be32(out + BARE), 0x00109500);

	/* OFDMA knows neither equaliser nor vendor. */
	t.flags = 0xffff;
	t.equalizer = coefficients;
	assert_int_equal(uepi_trailer_size(UEPI_OFDMA, &t), 20);
	assert_int_equal(uepi_trailer_write(UEPI_OFDMA, &t, out), 20);
	assert_int_equal(load_be16(out), 0x5f3c);
	store_be16(out, 0x7fff);
	assert_int_equal(parse(UEPI_OFDMA, out, 20, &read), UEPI_OK);
	assert_int_equal(read.flags, 0x1f3c);
	assert_null(read.equalizer);
	assert_null(read.vendor);
}

/* Vendor fields of every length, with the block and without. */
TEST(reads_back_every_vendor_field) {
	uint8_t vendor[255], unit[UEPI_TRAILER_MAX];

	memset(vendor, 0x85, sizeof(vendor));
	for (unsigned n = 0; n < 2 * 256; n++) {
		struct uepi_trailer t = {
			.flags = n & 1 ? UEPI_VENDOR | UEPI_EQUALIZER : UEPI_VENDOR,
			.equalizer = n & 1 ? coefficients : NULL,
			.vendor = vendor,
			.vendor_length = (uint8_t)(n / 2),
		};
		size_t size = uepi_trailer_size(UEPI_SC_QAM, &t);

		assert_int_equal(size == sizeof(unit), n == 2 * 256 - 1);
		assert_int_equal(uepi_trailer_write(UEPI_SC_QAM, &t, guard_take(&guard, size)),
				 size);
		memcpy(unit, guard.base + guard.room - size, size);
		assert_memory_equal(unit + size - n / 2, vendor, n / 2);
		comes_back(UEPI_SC_QAM, unit, size);
	}
}

/* OFDMA: a version that is not ours is refused, SC-QAM's is handed on. */
TEST(looks_at_the_version) {
	uint8_t bytes[20] = {0};
	struct uepi_trailer t;

	for (unsigned version = 0; version < 4; version++) {
		bytes[0] = (uint8_t)(version << 6);
		assert_int_equal(parse(UEPI_SC_QAM, bytes, BARE, &t), UEPI_OK);
		assert_int_equal(t.version, version);
		assert_int_equal(parse(UEPI_OFDMA, bytes, 20, &t),
				 version == 1 ? UEPI_OK : UEPI_BAD_VERSION);
	}
}

ALL_TESTS(set_up, guard_group_close)
