/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels that UCDs of tests describe. */
#pragma once

#include "vectors.h"
#include "wire/management.h"
#include "wire/ucd.h"

/* The body of the UCD of a real core; returns its size. */
static inline size_t captured(struct vector *v) {
	struct management m;

	vector_get("management.txt", "ucd_2_frame", v);
	assert_int_equal(management_frame_read(v->bytes, v->size, &m), MANAGEMENT_OK);
	assert_int_equal(m.type, MANAGEMENT_UCD);
	assert_int_equal(m.version, ucd_version(m.type));
	v->size = m.body_size;
	memmove(v->bytes, m.body, m.body_size);
	return m.body_size;
}

/* An OFDMA channel of 1,880 subcarriers of 50 kHz: all that a configuration says of one. */
static inline void ofdma_channel(struct ucd *out) {
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
