/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "ucd_channels.h"

static struct ucd ucd;

#define BREAKS(verdict, ...)                                \
	do {                                                \
		ofdma_channel(&ucd);                        \
		assert_int_equal(ucd_check(&ucd), UCD_OK);  \
		__VA_ARGS__;                                \
		assert_int_equal(ucd_check(&ucd), verdict); \
	} while (0)

TEST(an_ofdma_channel_is_checked) {
	static const enum ucd_field wanted[] = {UCD_CYCLIC_PREFIX, UCD_ROLL_OFF, UCD_SPACING,
						UCD_SUBCARRIER_0,  UCD_SYMBOLS,	 UCD_SEED};

	for (unsigned i = 0; i < ARRAY_COUNT(wanted); i++)
		BREAKS(UCD_MISSING, ucd.has &= ~(UINT64_C(1) << wanted[i]));
	BREAKS(UCD_BAD_TYPE, ucd.type = 50);
	BREAKS(UCD_MISSING, ucd.burst_count = 0);
	BREAKS(UCD_BAD_VALUE, ucd_set(&ucd, UCD_CYCLIC_PREFIX, 0));
	BREAKS(UCD_BAD_VALUE, ucd_set(&ucd, UCD_CYCLIC_PREFIX, 12));
	BREAKS(UCD_BAD_VALUE, ucd_set(&ucd, UCD_ROLL_OFF, 0));
	BREAKS(UCD_BAD_VALUE, ucd_set(&ucd, UCD_ROLL_OFF, 9));
	BREAKS(UCD_BAD_VALUE, ucd_set(&ucd, UCD_CYCLIC_PREFIX, ucd_cyclic_prefix(96));
	       ucd_set(&ucd, UCD_ROLL_OFF, ucd_roll_off(96)));
	BREAKS(UCD_BAD_VALUE, ucd_set(&ucd, UCD_SPACING, 3));
	BREAKS(UCD_BAD_VALUE, ucd_set(&ucd, UCD_SYMBOLS, 5));
	BREAKS(UCD_BAD_VALUE, ucd_set(&ucd, UCD_SYMBOLS, 37));
	BREAKS(UCD_OK, ucd_set(&ucd, UCD_SYMBOLS, 36));
	BREAKS(UCD_BAD_VALUE, ucd_set(&ucd, UCD_SEED, 0x800000));
	BREAKS(UCD_BAD_BAND, ucd.excluded[0].last = 1964);
	BREAKS(UCD_OK, ucd.excluded[0].last = 1963);
	BREAKS(UCD_BAD_BAND, ucd.excluded[1].last = 2048);
	BREAKS(UCD_OK, ucd.excluded[1].last = 4095; ucd_set(&ucd, UCD_SPACING, UCD_25_KHZ));
	BREAKS(UCD_BAD_BAND, ucd.unused[0].first = 92);
	BREAKS(UCD_OK, ucd.unused[0].first = 91); /* one subcarrier */
	BREAKS(UCD_BAD_BURST, ucd.bursts[1].iuc = 3);
	BREAKS(UCD_BAD_BURST, ucd.bursts[1].iuc = 0);
	BREAKS(UCD_BAD_BURST, ucd.bursts[1].iuc = 7);
	BREAKS(UCD_BAD_BURST, ucd.bursts[1].iuc = 8);
	BREAKS(UCD_BAD_BURST, ucd.bursts[1].iuc = 14);
	BREAKS(UCD_BAD_BURST, ucd.bursts[1].tlv = 200);
	BREAKS(UCD_MISSING, ucd.bursts[1].runs = 0);
}

TEST(an_sc_qam_channel_is_checked) {
	static const enum ucd_burst_field wanted[] = {UCD_MODULATION, UCD_PREAMBLE_LENGTH,
						      UCD_PREAMBLE_OFFSET, UCD_FEC_T,
						      UCD_GUARD_TIME};
	struct vector v;
	size_t size = captured(&v);

	for (unsigned i = 0; i < ARRAY_COUNT(wanted); i++) {
		assert_int_equal(ucd_read(&ucd, 2, v.bytes, size), UCD_OK);
		ucd.bursts[4].has &= ~(1u << wanted[i]);
		assert_int_equal(ucd_check(&ucd), UCD_MISSING);
	}
	assert_int_equal(ucd_read(&ucd, 2, v.bytes, size), UCD_OK);
	ucd.bursts[4].values[UCD_PREAMBLE_OFFSET] = 1; /* 128 bits from 1 on, of 128 */
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

TEST(codes_are_samples) {
	static const uint16_t prefixes[] = {96, 128, 160, 192, 224, 256, 288, 320, 384, 512, 640};

	for (unsigned i = 0; i < ARRAY_COUNT(prefixes); i++) {
		assert_int_equal(ucd_cyclic_prefix(prefixes[i]), i + 1);
		assert_int_equal(ucd_cyclic_prefix_samples(i + 1), prefixes[i]);
	}
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(ucd_roll_off((uint16_t)(32 * i)), i + 1);
		assert_int_equal(ucd_roll_off_samples(i + 1), 32 * i);
	}
	assert_int_equal(ucd_cyclic_prefix(95), 0);
	assert_int_equal(ucd_cyclic_prefix_samples(0), UINT16_MAX);
	assert_int_equal(ucd_cyclic_prefix_samples(12), UINT16_MAX);
	assert_int_equal(ucd_roll_off(256), 0);
	assert_int_equal(ucd_roll_off_samples(0), UINT16_MAX);
	assert_int_equal(ucd_roll_off_samples(9), UINT16_MAX);
}
