/* SPDX-License-Identifier: BSD-3-Clause */
/* The sizes in bytes of UCD fields and burst fields, for ucd_read() and ucd_write(). */
#pragma once

#include "wire/ucd.h"

#define UCD_TLV_MAX 255
#define UCD_SNAPSHOT_SIZE 9
#define UCD_BAND_SIZE 4
#define UCD_BANDS_IN_TLV (UCD_TLV_MAX / UCD_BAND_SIZE)

/* By TLV type; 0: not a field with one number. */
static const uint8_t ucd_sizes[UCD_FIELDS] = {
	[UCD_SYMBOL_RATE] = 1,	    [UCD_FREQUENCY] = 4, [UCD_POWER_DENSITY] = 1,
	[UCD_RANGING_REQUIRED] = 1, [UCD_HOLD_OFF] = 4,	 [UCD_CLASS] = 4,
	[UCD_HIGHER] = 1,	    [UCD_CHANGES] = 2,	 [UCD_CYCLIC_PREFIX] = 1,
	[UCD_ROLL_OFF] = 1,	    [UCD_SPACING] = 1,	 [UCD_SUBCARRIER_0] = 4,
	[UCD_SYMBOLS] = 1,	    [UCD_SEED] = 3,
};

/* Valid bits of `has` in struct ucd. */
static const uint64_t ucd_known =
	UINT64_C(1) << UCD_SYMBOL_RATE | UINT64_C(1) << UCD_FREQUENCY |
	UINT64_C(1) << UCD_POWER_DENSITY | UINT64_C(1) << UCD_RANGING_REQUIRED |
	UINT64_C(1) << UCD_HOLD_OFF | UINT64_C(1) << UCD_CLASS | UINT64_C(1) << UCD_HIGHER |
	UINT64_C(1) << UCD_CHANGES | UINT64_C(1) << UCD_SNAPSHOT |
	UINT64_C(1) << UCD_CYCLIC_PREFIX | UINT64_C(1) << UCD_ROLL_OFF |
	UINT64_C(1) << UCD_SPACING | UINT64_C(1) << UCD_SUBCARRIER_0 | UINT64_C(1) << UCD_SYMBOLS |
	UINT64_C(1) << UCD_SEED;

/* By sub-TLV type. ucd_read() and ucd_write() keep types 15 to 18, which belong to S-CDMA. */
static const uint8_t ucd_burst_sizes[UCD_BURST_FIELDS] = {
	[1] = 1,  [2] = 1,  [3] = 2,  [4] = 2,	[5] = 1,  [6] = 1,  [7] = 2,
	[8] = 1,  [9] = 1,  [10] = 1, [11] = 1, [12] = 1, [13] = 2, [14] = 1,
	[15] = 1, [16] = 1, [17] = 1, [18] = 1, [19] = 2, [20] = 2, [22] = 2,
};
static const uint32_t ucd_burst_known = 0x5ffffe; /* bits 1 to 20 and 22 of `has` */

static inline bool ucd_is_burst(unsigned type) {
	return type == UCD_BURST_1 || type == UCD_BURST_2 || type == UCD_BURST_3;
}
