/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/bytes.h"
#include "wire/ucd.h"
#include "wire/ucd_fields.h"

struct tlv {
	unsigned type;
	size_t length;
	const uint8_t *value;
};

/* Reads the TLV at `*at`, which moves behind it. Returns false if it is incomplete. */
static bool next(const uint8_t *bytes, size_t size, size_t *at, struct tlv *out) {
	if (size - *at < 2 || bytes[*at + 1] > size - *at - 2)
		return false;
	*out = (struct tlv){bytes[*at], bytes[*at + 1], bytes + *at + 2};
	*at += 2 + out->length;
	return true;
}

static uint32_t number(const struct tlv *tlv) {
	uint32_t value = 0;

	for (size_t i = 0; i < tlv->length; i++)
		value = value << 8 | tlv->value[i];
	return value;
}

static enum ucd_verdict read_profile(struct ucd_burst *burst, const struct tlv *tlv) {
	if (tlv->length == 0 || tlv->length % 2 != 0 || tlv->length / 2 > UCD_PROFILE_MAX)
		return UCD_BAD_LENGTH;
	if (burst->runs > 0)
		return UCD_REPEATED;
	burst->runs = (uint8_t)(tlv->length / 2);
	for (unsigned i = 0; i < burst->runs; i++)
		burst->profile[i] = (struct ucd_run){
			.modulation = tlv->value[2 * i] >> 4,
			.pilots = tlv->value[2 * i] & 0x0f,
			.minislots = (uint16_t)(tlv->value[2 * i + 1] + 1),
		};
	return UCD_OK;
}

static enum ucd_verdict read_burst_field(struct ucd *ucd, struct ucd_burst *burst,
					 const struct tlv *tlv) {
	if (tlv->type == UCD_PROFILE)
		return read_profile(burst, tlv);
	if (tlv->type >= UCD_BURST_FIELDS || ucd_burst_sizes[tlv->type] == 0) {
		ucd->unknown++;
		return UCD_OK;
	}
	if (tlv->length != ucd_burst_sizes[tlv->type])
		return UCD_BAD_LENGTH;
	if (ucd_burst_has(burst, tlv->type))
		return UCD_REPEATED;
	ucd_burst_set(burst, tlv->type, (uint16_t)number(tlv));
	return UCD_OK;
}

static enum ucd_verdict read_burst(struct ucd *ucd, const struct tlv *tlv) {
	struct ucd_burst *burst = &ucd->bursts[ucd->burst_count];
	struct tlv field;

	if (tlv->length == 0)
		return UCD_BAD_LENGTH;
	if (ucd->burst_count == UCD_BURSTS_MAX)
		return UCD_TOO_MANY;
	ucd->burst_count++;
	*burst = (struct ucd_burst){.tlv = (uint8_t)tlv->type, .iuc = tlv->value[0]};
	for (size_t at = 1; at < tlv->length;) {
		if (!next(tlv->value, tlv->length, &at, &field))
			return UCD_TRUNCATED;

		enum ucd_verdict verdict = read_burst_field(ucd, burst, &field);

		if (verdict != UCD_OK)
			return verdict;
	}
	return UCD_OK;
}

static enum ucd_verdict read_bytes(const struct tlv *tlv, uint8_t *out, uint8_t *size, size_t max) {
	if (tlv->length == 0 || tlv->length > max)
		return UCD_BAD_LENGTH;
	if (*size > 0)
		return UCD_REPEATED;
	*size = (uint8_t)tlv->length;
	memcpy(out, tlv->value, tlv->length);
	return UCD_OK;
}

static enum ucd_verdict read_bands(const struct tlv *tlv, struct ucd_band *bands, uint8_t *count) {
	if (tlv->length == 0 || tlv->length % UCD_BAND_SIZE != 0)
		return UCD_BAD_LENGTH;
	if (tlv->length / UCD_BAND_SIZE > (size_t)(UCD_BANDS_MAX - *count))
		return UCD_TOO_MANY;
	for (size_t at = 0; at < tlv->length; at += UCD_BAND_SIZE)
		bands[(*count)++] = (struct ucd_band){
			.first = load_be16(tlv->value + at),
			.last = load_be16(tlv->value + at + 2),
		};
	return UCD_OK;
}

static enum ucd_verdict read_snapshot(struct ucd *ucd, const struct tlv *tlv) {
	if (tlv->length != UCD_SNAPSHOT_SIZE)
		return UCD_BAD_LENGTH;
	if (ucd_has(ucd, UCD_SNAPSHOT))
		return UCD_REPEATED;
	if (tlv->value[0] & 0xf0)
		return UCD_RESERVED;
	ucd->has |= UINT64_C(1) << UCD_SNAPSHOT;
	ucd->snapshot_time = (uint32_t)tlv->value[0] << 28 | load_be32(tlv->value + 1) >> 4;
	ucd->snapshot_division = tlv->value[4] & 0x0f;
	ucd->snapshot_minislot = load_be32(tlv->value + 5);
	return UCD_OK;
}

static enum ucd_verdict read_number(struct ucd *ucd, const struct tlv *tlv) {
	if (tlv->type >= UCD_FIELDS || ucd_sizes[tlv->type] == 0) {
		ucd->unknown++;
		return UCD_OK;
	}
	if (tlv->length != ucd_sizes[tlv->type])
		return UCD_BAD_LENGTH;
	if (ucd_has(ucd, tlv->type))
		return UCD_REPEATED;
	ucd_set(ucd, tlv->type, number(tlv));
	return UCD_OK;
}

static enum ucd_verdict read_field(struct ucd *ucd, const struct tlv *tlv) {
	switch (tlv->type) {
	case UCD_BURST_1:
	case UCD_BURST_2:
	case UCD_BURST_3: return read_burst(ucd, tlv);
	case UCD_PREAMBLE:
		return read_bytes(tlv, ucd->preamble, &ucd->preamble_size, UCD_PREAMBLE_MAX);
	case UCD_EXTENDED_PREAMBLE:
		return read_bytes(tlv, ucd->extended_preamble, &ucd->extended_preamble_size,
				  UCD_EXTENDED_PREAMBLE_MAX);
	case UCD_SNAPSHOT: return read_snapshot(ucd, tlv);
	case UCD_EXCLUDED: return read_bands(tlv, ucd->excluded, &ucd->excluded_count);
	case UCD_UNUSED: return read_bands(tlv, ucd->unused, &ucd->unused_count);
	}
	return read_number(ucd, tlv);
}

enum ucd_verdict ucd_read(struct ucd *out, uint8_t type, const uint8_t *body, size_t size) {
	struct tlv tlv;

	if (ucd_version(type) == 0)
		return UCD_BAD_TYPE;
	if (size < UCD_HEADER)
		return UCD_TRUNCATED;
	*out = (struct ucd){
		.type = type,
		.channel = body[0],
		.count = body[1],
		.minislot_ticks = body[2],
		.downstream = body[3],
	};
	for (size_t at = UCD_HEADER; at < size;) {
		if (!next(body, size, &at, &tlv))
			return UCD_TRUNCATED;

		enum ucd_verdict verdict = read_field(out, &tlv);

		if (verdict != UCD_OK)
			return verdict;
	}
	return UCD_OK;
}
