/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests ucd.h: reads, writes and checks UCD messages of types 2, 29, 35 and 51. */
#include "test_main.h"

#include "wire/management.h"
#include "wire/ucd.h"
#include "wire_kit.h"

#define BODY_MAX MANAGEMENT_BODY_MAX

static struct ucd ucd, parsed;
static uint8_t written[BODY_MAX];

static enum ucd_verdict read_guarded(uint8_t type, const void *body, size_t size) {
	return ucd_read(&parsed, type, guard_copy(&guard, body, size), size);
}

/* Loads the body of a UCD of a real core; returns its size in bytes. */
static size_t load_captured(struct vector *v) {
	struct management m;

	vector_get("management.txt", "ucd_2_frame", v);
	assert_int_equal(management_frame_read(v->bytes, v->size, &m), MANAGEMENT_OK);
	assert_int_equal(m.type, MANAGEMENT_UCD);
	assert_int_equal(m.version, ucd_version(m.type));
	v->size = m.body_size;
	memmove(v->bytes, m.body, m.body_size);
	return m.body_size;
}

/* A valid UCD of an OFDMA channel with 1,880 subcarriers of 50 kHz. */
static void make_ofdma_ucd(struct ucd *out) {
	*out = (struct ucd){.type = 51, .channel = 9, .count = 4, .downstream = 33};
	ucd_set(out, UCD_CHANGES, 0x0104);
	out->has |= UINT64_C(1) << UCD_SNAPSHOT;
	out->snapshot_time = 0x89abcdef;
	out->snapshot_division = 9;
	out->snapshot_minislot = 0x01020304;
	ucd_set(out, UCD_CYCLIC_PREFIX, ucd_cyclic_prefix(256));
	ucd_set(out, UCD_ROLL_OFF, ucd_roll_off(64));
	ucd_set(out, UCD_SPACING, UCD_50_KHZ);
	ucd_set(out, UCD_SUBCARRIER_0, 104800000);
	ucd_set(out, UCD_SYMBOLS, 6);
	ucd_set(out, UCD_SEED, 0x654321);
	out->excluded[out->excluded_count++] = (struct ucd_band){0, 83};
	out->excluded[out->excluded_count++] = (struct ucd_band){1964, 2047};
	out->unused[out->unused_count++] = (struct ucd_band){84, 91};

	struct ucd_burst *initial = &out->bursts[out->burst_count++];
	struct ucd_burst *data = &out->bursts[out->burst_count++];

	*initial = (struct ucd_burst){.tlv = UCD_BURST_3, .iuc = 3};
	ucd_burst_set(initial, UCD_INITIAL_SUBCARRIERS, 64);
	ucd_burst_set(initial, UCD_IR_POWER, 0x4004);
	*data = (struct ucd_burst){.tlv = UCD_BURST_3, .iuc = 13, .runs = 2};
	data->profile[0] = (struct ucd_run){.modulation = 10, .pilots = 1, .minislots = 200};
	data->profile[1] = (struct ucd_run){.modulation = 0, .pilots = 4, .minislots = 256};
}

/* A truncated UCD is valid if it ends with a TLV. */
TEST(captured_ucd_round_trips) {
	struct vector v;
	size_t size = load_captured(&v), whole = 0;

	for (size_t less = 0; less < size; less++) {
		enum ucd_verdict verdict = read_guarded(2, v.bytes, less);

		assert_true(verdict == UCD_OK || verdict == UCD_TRUNCATED);
		if (verdict == UCD_OK)
			assert_int_equal(ucd_write(written, sizeof(written), &parsed), less);
		whole += verdict == UCD_OK;
	}
	assert_int_equal(whole, 8); /* after the header and after each TLV but the last */
	assert_int_equal(read_guarded(2, v.bytes, size), UCD_OK);
	assert_int_equal(parsed.channel, 1);
	assert_int_equal(parsed.count, 0);
	assert_int_equal(parsed.minislot_ticks, 2);
	assert_int_equal(parsed.downstream, 1);
	assert_int_equal(parsed.values[UCD_SYMBOL_RATE], 16);
	assert_int_equal(parsed.values[UCD_FREQUENCY], 30000000);
	assert_int_equal(parsed.preamble_size, 16);
	assert_int_equal(parsed.burst_count, 5);
	assert_int_equal(parsed.bursts[3].values[UCD_MAX_BURST], 11);
	assert_int_equal(parsed.unknown, 0);
	assert_int_equal(ucd_check(&parsed), UCD_OK);
	for (size_t less = 0; less <= size; less++)
		assert_int_equal(ucd_write(guard_tail(&guard, less), less, &parsed),
				 less < size ? 0 : size);
	assert_memory_equal(guard.base + guard.size - size, v.bytes, size);
}

TEST(ofdma_ucd_is_encoded_as_specified) {
	static const uint8_t expected[] = {
		9,  4, 0,    33, /* header */
		24, 2, 0x01, 0x04, /* changes */
		25, 9, 0x08, 0x9a, 0xbc, 0xde, 0xf9, 1,	   2,	 3,    4, /* snapshot */
		26, 1, 6, /* 256 samples */
		27, 1, 3, /* 64 samples */
		28, 1, 2, /* 50 kHz */
		29, 4, 0x06, 0x3f, 0x1f, 0x00, /* 104.8 MHz */
		30, 8, 0,    0,	   0,	 83,   0x07, 0xac, 0x07, 0xff, /* excluded */
		31, 4, 0,    84,   0,	 91, /* unused */
		32, 1, 6, /* symbols */
		33, 3, 0x65, 0x43, 0x21, /* seed */
		23, 9, 3,    19,   2,	 0,    64,   22,   2,	 0x40, 0x04,
		23, 7, 13,   21,   4,	 0xa1, 199,  0x04, 255,
	};

	make_ofdma_ucd(&ucd);
	assert_int_equal(ucd_check(&ucd), UCD_OK);
	assert_int_equal(ucd_write(written, sizeof(written), &ucd), sizeof(expected));
	assert_memory_equal(written, expected, sizeof(expected));
	assert_int_equal(read_guarded(51, expected, sizeof(expected)), UCD_OK);
	assert_memory_equal(&parsed, &ucd, sizeof(ucd));
}

/* All fields at their limits, for each message type. */
TEST(maximal_ucd_round_trips) {
	static const uint8_t types[] = {2, 29, 35, 51}, versions[] = {1, 3, 4, 5};
	size_t size;

	for (unsigned t = 0; t < 4; t++) {
		make_ofdma_ucd(&ucd);
		ucd.type = types[t];
		ucd.minislot_ticks = 16;
		ucd_set(&ucd, UCD_SYMBOL_RATE, 255);
		ucd_set(&ucd, UCD_FREQUENCY, UINT32_MAX);
		ucd_set(&ucd, UCD_POWER_DENSITY, 1);
		ucd_set(&ucd, UCD_RANGING_REQUIRED, 2);
		ucd_set(&ucd, UCD_HOLD_OFF, 0x80000000);
		ucd_set(&ucd, UCD_CLASS, 1);
		ucd_set(&ucd, UCD_HIGHER, 1);
		ucd.preamble_size = UCD_PREAMBLE_MAX;
		memset(ucd.preamble, 0xc3, UCD_PREAMBLE_MAX);
		ucd.extended_preamble_size = UCD_EXTENDED_PREAMBLE_MAX;
		memset(ucd.extended_preamble, 0x5a, UCD_EXTENDED_PREAMBLE_MAX);
		ucd.excluded_count = ucd.unused_count = UCD_BANDS_MAX; /* two TLVs each */
		for (unsigned i = 0; i < UCD_BANDS_MAX; i++)
			ucd.excluded[i] = ucd.unused[i] =
				(struct ucd_band){(uint16_t)(16 * i), (uint16_t)(16 * i + 3)};
		for (unsigned field = 1; field <= 20; field++)
			ucd_burst_set(&ucd.bursts[0], field, (uint16_t)(10 * field));
		ucd.bursts[1].runs = UCD_PROFILE_MAX;
		for (unsigned i = 0; i < UCD_PROFILE_MAX; i++)
			ucd.bursts[1].profile[i] = (struct ucd_run){
				(uint8_t)(i % 16), (uint8_t)(i / 8), (uint16_t)(i + 1)};
		size = ucd_write(written, sizeof(written), &ucd);
		assert_int_not_equal(size, 0);
		assert_int_equal(read_guarded(types[t], written, size), UCD_OK);
		assert_memory_equal(&parsed, &ucd, sizeof(ucd));
		assert_int_equal(ucd_version(types[t]), versions[t]);
	}
	assert_int_equal(ucd_version(3), 0);
	assert_int_equal(read_guarded(3, written, size), UCD_BAD_TYPE);
}

struct tlv_case {
	uint8_t bytes[20];
	uint8_t size;
	enum ucd_verdict expected;
};

TEST(malformed_tlvs_are_rejected) {
	static const struct tlv_case cases[] = {
		{{1}, 1, UCD_TRUNCATED},
		{{1, 1}, 2, UCD_TRUNCATED},
		{{1, 2, 3, 4}, 4, UCD_BAD_LENGTH},
		{{1, 0}, 2, UCD_BAD_LENGTH},
		{{1, 1, 16, 1, 1, 16}, 6, UCD_REPEATED},
		{{2, 3, 1, 2, 3}, 5, UCD_BAD_LENGTH},
		{{3, 0}, 2, UCD_BAD_LENGTH},
		{{3, 1, 9, 3, 1, 9}, 6, UCD_REPEATED},
		{{6, 1, 9, 6, 1, 9}, 6, UCD_REPEATED},
		{{25, 8, 0, 0, 0, 0, 0, 0, 0, 0}, 10, UCD_BAD_LENGTH},
		{{25, 9, 0x10, 0, 0, 0, 0, 0, 0, 0, 0}, 11, UCD_RESERVED},
		{{25, 9, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0}, 11, UCD_OK},
		{{30, 0}, 2, UCD_BAD_LENGTH},
		{{30, 6, 0, 0, 0, 1, 0, 2}, 8, UCD_BAD_LENGTH},
		{{30, 4, 0, 0, 0, 1, 30, 4, 0, 2, 0, 3}, 12, UCD_OK},
		{{4, 0}, 2, UCD_BAD_LENGTH},
		{{4, 1, 5}, 3, UCD_OK},
		{{4, 2, 5, 1}, 4, UCD_TRUNCATED},
		{{4, 3, 5, 1, 1}, 5, UCD_TRUNCATED},
		{{4, 3, 5, 1, 1, 1}, 6, UCD_TRUNCATED}, /* exceeds its burst descriptor */
		{{4, 4, 5, 3, 1, 1}, 6, UCD_BAD_LENGTH},
		{{4, 7, 5, 1, 1, 1, 1, 1, 1}, 9, UCD_REPEATED},
		{{23, 3, 5, 21, 0}, 5, UCD_BAD_LENGTH},
		{{23, 4, 5, 21, 1, 0x10}, 6, UCD_BAD_LENGTH},
		{{23, 9, 5, 21, 2, 0x10, 0, 21, 2, 0x10, 0}, 11, UCD_REPEATED},
	};
	uint8_t body[UCD_HEADER + 20] = {1};

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		memcpy(body + UCD_HEADER, cases[i].bytes, cases[i].size);
		assert_int_equal(read_guarded(51, body, UCD_HEADER + (size_t)cases[i].size),
				 cases[i].expected);
	}
	for (size_t size = 0; size < UCD_HEADER; size++)
		assert_int_equal(read_guarded(51, body, size), UCD_TRUNCATED);
	assert_int_equal(read_guarded(51, body, UCD_HEADER), UCD_OK);
}

TEST(unknown_tlvs_are_counted) {
	static const uint8_t body[] = {
		1, 0, 2, 1, 7, 1, 1, 200, 0, 14, 2, 1, 2, 0, 0, 23, 6, 5, 99, 1, 1, 21 + 9, 0,
	};

	assert_int_equal(read_guarded(2, body, sizeof(body)), UCD_OK);
	assert_int_equal(parsed.unknown, 6);
	assert_int_equal(parsed.burst_count, 1);
	assert_int_equal(ucd_write(written, sizeof(written), &parsed), UCD_HEADER + 3);
}

TEST(too_many_bursts_or_bands_are_rejected) {
	uint8_t body[UCD_HEADER + 4 * (UCD_BANDS_MAX + 1) + 4] = {1};

	for (unsigned i = 0; i <= UCD_BURSTS_MAX; i++)
		memcpy(body + UCD_HEADER + 3 * i, (uint8_t[]){4, 1, 5}, 3);
	assert_int_equal(read_guarded(2, body, UCD_HEADER + 3 * UCD_BURSTS_MAX), UCD_OK);
	assert_int_equal(ucd_write(written, sizeof(written), &parsed),
			 UCD_HEADER + 3 * UCD_BURSTS_MAX);
	assert_int_equal(read_guarded(2, body, UCD_HEADER + 3 * (UCD_BURSTS_MAX + 1)),
			 UCD_TOO_MANY);
	parsed.burst_count = UCD_BURSTS_MAX + 1;
	assert_int_equal(ucd_write(written, sizeof(written), &parsed), 0);
	memset(body, 0, sizeof(body));
	body[UCD_HEADER] = UCD_UNUSED;
	body[UCD_HEADER + 1] = 252;
	body[UCD_HEADER + 254] = UCD_UNUSED;
	body[UCD_HEADER + 255] = 4;
	assert_int_equal(read_guarded(51, body, UCD_HEADER + 254 + 6), UCD_OK);
	assert_int_equal(parsed.unused_count, UCD_BANDS_MAX);
	body[UCD_HEADER + 255] = 8;
	assert_int_equal(read_guarded(51, body, UCD_HEADER + 254 + 10), UCD_TOO_MANY);
}

static bool is_writable(void) {
	return ucd_write(written, sizeof(written), &ucd) > 0;
}

#define ASSERT_NOT_WRITABLE(...)             \
	do {                                 \
		make_ofdma_ucd(&ucd);        \
		assert_true(is_writable());  \
		__VA_ARGS__;                 \
		assert_false(is_writable()); \
	} while (0)

TEST(value_too_large_for_field_is_not_written) {
	ASSERT_NOT_WRITABLE(ucd.type = 3);
	ASSERT_NOT_WRITABLE(ucd_set(&ucd, UCD_SPACING, 256));
	ASSERT_NOT_WRITABLE(ucd_set(&ucd, UCD_CHANGES, 0x10000));
	ASSERT_NOT_WRITABLE(ucd_set(&ucd, UCD_SEED, 0x1000000));
	ASSERT_NOT_WRITABLE(ucd_set(&ucd, UCD_PREAMBLE, 1)); /* not a numeric field */
	ASSERT_NOT_WRITABLE(ucd_set(&ucd, 7, 1)); /* not a field */
	ASSERT_NOT_WRITABLE(ucd.snapshot_division = 16);
	ASSERT_NOT_WRITABLE(ucd.preamble_size = UCD_PREAMBLE_MAX + 1);
	ASSERT_NOT_WRITABLE(ucd.extended_preamble_size = UCD_EXTENDED_PREAMBLE_MAX + 1);
	ASSERT_NOT_WRITABLE(ucd.excluded_count = UCD_BANDS_MAX + 1);
	ASSERT_NOT_WRITABLE(ucd.unused_count = UCD_BANDS_MAX + 1);
	ASSERT_NOT_WRITABLE(ucd.bursts[0].tlv = 22);
	ASSERT_NOT_WRITABLE(ucd_burst_set(&ucd.bursts[0], UCD_MODULATION, 256));
	ASSERT_NOT_WRITABLE(ucd_burst_set(&ucd.bursts[0], UCD_PROFILE, 0));
	ASSERT_NOT_WRITABLE(ucd.bursts[0].has |= 1u << UCD_BURST_FIELDS);
	ASSERT_NOT_WRITABLE(ucd.bursts[1].runs = UCD_PROFILE_MAX + 1);
	ASSERT_NOT_WRITABLE(
		ucd.bursts[1].runs = UCD_PROFILE_MAX; /* the runs fill the descriptor */
		for (unsigned i = 2; i < UCD_PROFILE_MAX; i++) ucd.bursts[1].profile[i].minislots =
			1;
		ucd_burst_set(&ucd.bursts[1], UCD_MODULATION, 1));
	ASSERT_NOT_WRITABLE(ucd.bursts[1].profile[0].minislots = 0);
	ASSERT_NOT_WRITABLE(ucd.bursts[1].profile[1].minislots = 257);
	ASSERT_NOT_WRITABLE(ucd.bursts[1].profile[0].modulation = 16);
	ASSERT_NOT_WRITABLE(ucd.bursts[1].profile[0].pilots = 16);
}

#define ASSERT_CHECK(verdict, ...)                          \
	do {                                                \
		make_ofdma_ucd(&ucd);                       \
		assert_int_equal(ucd_check(&ucd), UCD_OK);  \
		__VA_ARGS__;                                \
		assert_int_equal(ucd_check(&ucd), verdict); \
	} while (0)

TEST(ofdma_channel_is_validated) {
	static const enum ucd_field required[] = {UCD_CYCLIC_PREFIX, UCD_ROLL_OFF, UCD_SPACING,
						  UCD_SUBCARRIER_0,  UCD_SYMBOLS,  UCD_SEED};

	for (unsigned i = 0; i < ARRAY_COUNT(required); i++)
		ASSERT_CHECK(UCD_MISSING, ucd.has &= ~(UINT64_C(1) << required[i]));
	ASSERT_CHECK(UCD_BAD_TYPE, ucd.type = 50);
	ASSERT_CHECK(UCD_MISSING, ucd.burst_count = 0);
	ASSERT_CHECK(UCD_BAD_VALUE, ucd_set(&ucd, UCD_CYCLIC_PREFIX, 0));
	ASSERT_CHECK(UCD_BAD_VALUE, ucd_set(&ucd, UCD_CYCLIC_PREFIX, 12));
	ASSERT_CHECK(UCD_BAD_VALUE, ucd_set(&ucd, UCD_ROLL_OFF, 0));
	ASSERT_CHECK(UCD_BAD_VALUE, ucd_set(&ucd, UCD_ROLL_OFF, 9));
	ASSERT_CHECK(UCD_BAD_VALUE, ucd_set(&ucd, UCD_CYCLIC_PREFIX, ucd_cyclic_prefix(96));
		     ucd_set(&ucd, UCD_ROLL_OFF, ucd_roll_off(96)));
	ASSERT_CHECK(UCD_BAD_VALUE, ucd_set(&ucd, UCD_SPACING, 3));
	ASSERT_CHECK(UCD_BAD_VALUE, ucd_set(&ucd, UCD_SYMBOLS, 5));
	ASSERT_CHECK(UCD_BAD_VALUE, ucd_set(&ucd, UCD_SYMBOLS, 37));
	ASSERT_CHECK(UCD_OK, ucd_set(&ucd, UCD_SYMBOLS, 36));
	ASSERT_CHECK(UCD_BAD_VALUE, ucd_set(&ucd, UCD_SEED, 0x800000));
	ASSERT_CHECK(UCD_BAD_BAND, ucd.excluded[0].last = 1964);
	ASSERT_CHECK(UCD_OK, ucd.excluded[0].last = 1963);
	ASSERT_CHECK(UCD_BAD_BAND, ucd.excluded[1].last = 2048);
	ASSERT_CHECK(UCD_OK, ucd.excluded[1].last = 4095; ucd_set(&ucd, UCD_SPACING, UCD_25_KHZ));
	ASSERT_CHECK(UCD_BAD_BAND, ucd.unused[0].first = 92);
	ASSERT_CHECK(UCD_OK, ucd.unused[0].first = 91); /* one subcarrier */
	ASSERT_CHECK(UCD_BAD_BURST, ucd.bursts[1].iuc = 3);
	ASSERT_CHECK(UCD_BAD_BURST, ucd.bursts[1].iuc = 0);
	ASSERT_CHECK(UCD_BAD_BURST, ucd.bursts[1].iuc = 7);
	ASSERT_CHECK(UCD_BAD_BURST, ucd.bursts[1].iuc = 8);
	ASSERT_CHECK(UCD_BAD_BURST, ucd.bursts[1].iuc = 14);
	ASSERT_CHECK(UCD_BAD_BURST, ucd.bursts[1].tlv = 200);
	ASSERT_CHECK(UCD_MISSING, ucd.bursts[1].runs = 0);
}

TEST(sc_qam_channel_is_validated) {
	static const enum ucd_burst_field required[] = {UCD_MODULATION, UCD_PREAMBLE_LENGTH,
							UCD_PREAMBLE_OFFSET, UCD_FEC_T,
							UCD_GUARD_TIME};
	struct vector v;
	size_t size = load_captured(&v);

	for (unsigned i = 0; i < ARRAY_COUNT(required); i++) {
		assert_int_equal(ucd_read(&ucd, 2, v.bytes, size), UCD_OK);
		ucd.bursts[4].has &= ~(1u << required[i]);
		assert_int_equal(ucd_check(&ucd), UCD_MISSING);
	}
	assert_int_equal(ucd_read(&ucd, 2, v.bytes, size), UCD_OK);
	ucd.bursts[4].values[UCD_PREAMBLE_OFFSET] = 1; /* bits 1 to 128 of a preamble of 128 bits */
	assert_int_equal(ucd_check(&ucd), UCD_BAD_BURST);
	ucd.extended_preamble_size = 1;
	assert_int_equal(ucd_check(&ucd), UCD_OK);
	ucd.preamble_size = 0;
	assert_int_equal(ucd_check(&ucd), UCD_MISSING);
	ucd.preamble_size = 16;
	for (unsigned rate = 0; rate < 256; rate++) {
		bool good = rate == 1 || rate == 2 || rate == 4 || rate == 8 || rate == 16 ||
			    rate == 32;

		ucd_set(&ucd, UCD_SYMBOL_RATE, rate);
		assert_int_equal(ucd_check(&ucd), good ? UCD_OK : UCD_BAD_VALUE);
	}
	ucd_set(&ucd, UCD_SYMBOL_RATE, 32);
	ucd.minislot_ticks = 0;
	assert_int_equal(ucd_check(&ucd), UCD_BAD_VALUE);
	ucd.minislot_ticks = 3;
	assert_int_equal(ucd_check(&ucd), UCD_BAD_VALUE);
	ucd.minislot_ticks = 1;
	assert_int_equal(ucd_check(&ucd), UCD_OK);
	ucd.has &= ~(UINT64_C(1) << UCD_FREQUENCY);
	assert_int_equal(ucd_check(&ucd), UCD_MISSING);
}

TEST(sample_codes_convert_both_ways) {
	static const uint16_t prefixes[] = {96, 128, 160, 192, 224, 256, 288, 320, 384, 512, 640};

	for (unsigned i = 0; i <= ARRAY_COUNT(prefixes) + 1; i++)
		assert_int_equal(ucd_cyclic_prefix_samples(i),
				 i - 1 < ARRAY_COUNT(prefixes) ? prefixes[i - 1] : UINT16_MAX);
	for (unsigned i = 0; i < ARRAY_COUNT(prefixes); i++)
		assert_int_equal(ucd_cyclic_prefix(prefixes[i]), i + 1);
	for (unsigned i = 0; i <= 9; i++) {
		assert_int_equal(ucd_roll_off_samples(i), i - 1 < 8 ? 32 * (i - 1) : UINT16_MAX);
		assert_int_equal(ucd_roll_off((uint16_t)(32 * i)), i < 8 ? i + 1 : 0);
	}
	assert_int_equal(ucd_cyclic_prefix(95), 0);
}

ALL_TESTS(guard_group_open, guard_group_close)
