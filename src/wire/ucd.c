/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/ucd.h"

#include "wire/bytes.h"
#include "wire/ucd_fields.h"

/* The output position; `at` is NULL once the buffer was too small. */
struct out {
	uint8_t *at, *end;
};

static void put(struct out *out, const void *bytes, size_t size) {
	if (out->at == NULL || (size_t)(out->end - out->at) < size) {
		out->at = NULL;
		return;
	}
	memcpy(out->at, bytes, size);
	out->at += size;
}

static void put_byte(struct out *out, unsigned value) {
	uint8_t byte = (uint8_t)value;

	put(out, &byte, 1);
}

/* A value that exceeds its size fails the message. */
static void put_number(struct out *out, unsigned type, uint32_t value, size_t size) {
	uint8_t bytes[4];

	if (size < sizeof(bytes) && value >> (8 * size) != 0)
		out->at = NULL;
	put_byte(out, type);
	put_byte(out, (unsigned)size);
	store_be32(bytes, value);
	put(out, bytes + sizeof(bytes) - size, size);
}

static void put_bytes(struct out *out, unsigned type, const uint8_t *bytes, size_t size,
		      size_t max) {
	if (size == 0)
		return;
	if (size > max) {
		out->at = NULL;
		return;
	}
	put_byte(out, type);
	put_byte(out, (unsigned)size);
	put(out, bytes, size);
}

static void put_snapshot(struct out *out, const struct ucd *ucd) {
	uint8_t value[UCD_SNAPSHOT_SIZE];

	if (ucd->snapshot_division > 0x0f)
		out->at = NULL;
	value[0] = (uint8_t)(ucd->snapshot_time >> 28);
	store_be32(value + 1, ucd->snapshot_time << 4 | ucd->snapshot_division);
	store_be32(value + 5, ucd->snapshot_minislot);
	put_bytes(out, UCD_SNAPSHOT, value, sizeof(value), sizeof(value));
}

static void put_bands(struct out *out, unsigned type, const struct ucd_band *bands, size_t count) {
	uint8_t value[UCD_BAND_SIZE * UCD_BANDS_IN_TLV];

	if (count > UCD_BANDS_MAX)
		out->at = NULL;
	while (count > 0 && out->at != NULL) {
		size_t now = count < UCD_BANDS_IN_TLV ? count : UCD_BANDS_IN_TLV;

		for (size_t i = 0; i < now; i++) {
			store_be16(value + UCD_BAND_SIZE * i, bands[i].first);
			store_be16(value + UCD_BAND_SIZE * i + 2, bands[i].last);
		}
		put_bytes(out, type, value, UCD_BAND_SIZE * now, sizeof(value));
		bands += now;
		count -= now;
	}
}

static void put_profile(struct out *out, const struct ucd_burst *burst) {
	put_byte(out, UCD_PROFILE);
	put_byte(out, burst->runs * 2u);
	for (unsigned i = 0; i < burst->runs; i++) {
		const struct ucd_run *run = &burst->profile[i];

		if (run->modulation > 0x0f || run->pilots > 0x0f || run->minislots == 0 ||
		    run->minislots > 256)
			out->at = NULL;
		put_byte(out, (unsigned)run->modulation << 4 | run->pilots);
		put_byte(out, run->minislots - 1u);
	}
}

/* The length of a descriptor is known only after writing it: it must not exceed 255 bytes. */
static void put_burst(struct out *out, const struct ucd_burst *burst) {
	uint8_t value[UCD_TLV_MAX];
	struct out inner = {value, value + sizeof(value)};

	if (burst->runs > UCD_PROFILE_MAX || (burst->has & ~ucd_burst_known) != 0) {
		out->at = NULL;
		return;
	}
	put_byte(&inner, burst->iuc);
	for (unsigned type = 1; type < UCD_BURST_FIELDS; type++) {
		if (type == UCD_PROFILE && burst->runs > 0)
			put_profile(&inner, burst);
		else if (burst->has >> type & 1)
			put_number(&inner, type, burst->values[type], ucd_burst_sizes[type]);
	}
	if (inner.at == NULL)
		out->at = NULL;
	else
		put_bytes(out, burst->tlv, value, (size_t)(inner.at - value), UCD_TLV_MAX);
}

static void put_field(struct out *out, const struct ucd *ucd, unsigned type) {
	switch (type) {
	case UCD_PREAMBLE:
		put_bytes(out, type, ucd->preamble, ucd->preamble_size, UCD_PREAMBLE_MAX);
		break;
	case UCD_EXTENDED_PREAMBLE:
		put_bytes(out, type, ucd->extended_preamble, ucd->extended_preamble_size,
			  UCD_EXTENDED_PREAMBLE_MAX);
		break;
	case UCD_EXCLUDED: put_bands(out, type, ucd->excluded, ucd->excluded_count); break;
	case UCD_UNUSED: put_bands(out, type, ucd->unused, ucd->unused_count); break;
	case UCD_SNAPSHOT:
		if (ucd->has >> type & 1)
			put_snapshot(out, ucd);
		break;
	default:
		if (ucd->has >> type & 1)
			put_number(out, type, ucd->values[type], ucd_sizes[type]);
	}
}

size_t ucd_write(uint8_t *body, size_t size, const struct ucd *ucd) {
	struct out out = {body, body + size};

	if (ucd_version(ucd->type) == 0 || ucd->burst_count > UCD_BURSTS_MAX ||
	    (ucd->has & ~ucd_known) != 0)
		return 0;
	put_byte(&out, ucd->channel);
	put_byte(&out, ucd->count);
	put_byte(&out, ucd->minislot_ticks);
	put_byte(&out, ucd->downstream);
	for (unsigned type = 1; type < UCD_FIELDS; type++)
		put_field(&out, ucd, type);
	for (unsigned i = 0; i < ucd->burst_count; i++) {
		if (!ucd_is_burst(ucd->bursts[i].tlv))
			return 0;
		put_burst(&out, &ucd->bursts[i]);
	}
	return out.at != NULL ? (size_t)(out.at - body) : 0;
}

uint8_t ucd_version(uint8_t type) {
	switch (type) {
	case 2: return 1;
	case 29: return 3;
	case 35: return 4;
	case 51: return 5;
	}
	return 0;
}
