/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/uepi.h"

#include <string.h>

#include "wire/bytes.h"

#define SC_QAM_HEADER_SIZE 8
#define SC_QAM_TRAILER_FIXED 8
#define SC_QAM_BLOCK_SIZE (8 + UEPI_EQUALIZER_SIZE)
#define SC_QAM_VENDOR_FIXED 4 /* ID and length */
#define OFDMA_HEADER_SIZE 16
#define OFDMA_TRAILER_SIZE 20

#define VERSION_SHIFT 6
#define NO_BURST 0x20
#define SEGMENT_HEADER_PRESENT 0x10
#define TRAILER_FLAGS 0x3fff
#define OFDMA_FLAGS                                                                 \
	(UEPI_RANGING_REQUIRED | UEPI_SNR_LOW | UEPI_PHY_ERROR | UEPI_HIGH_ENERGY | \
	 UEPI_LOW_ENERGY | UEPI_POWER_VALID | UEPI_TIMING_VALID | UEPI_FEC_VALID | UEPI_SNR_VALID)

#define REQUEST_CLUSTER_SHIFT 3
#define REQUEST_CLUSTER_VALID 0x04
#define REQUEST_N_BYTES 0x02
#define REQUEST_PIGGYBACK 0x01

/* Checks the common part of both formats: a length, and the version in the first bits. */
static enum uepi_verdict check_unit(enum uepi_format format, const uint8_t *bytes, size_t size,
				    size_t wanted) {
	if (size < wanted)
		return UEPI_TRUNCATED;
	if (format == UEPI_OFDMA && bytes[0] >> VERSION_SHIFT != UEPI_OFDMA_VERSION)
		return UEPI_BAD_VERSION;
	return size > wanted ? UEPI_BAD_LENGTH : UEPI_OK;
}

static unsigned version_bits(enum uepi_format format, uint8_t version) {
	unsigned sent = format == UEPI_OFDMA ? UEPI_OFDMA_VERSION : version;

	return sent << VERSION_SHIFT & 0xff;
}

size_t uepi_header_size(enum uepi_format format) {
	return format == UEPI_OFDMA ? OFDMA_HEADER_SIZE : SC_QAM_HEADER_SIZE;
}

enum uepi_verdict uepi_header_parse(enum uepi_format format, const uint8_t *bytes, size_t size,
				    struct uepi_header *out) {
	enum uepi_verdict verdict = check_unit(format, bytes, size, uepi_header_size(format));

	if (verdict != UEPI_OK)
		return verdict;
	*out = (struct uepi_header){
		.version = bytes[0] >> VERSION_SHIFT,
		.no_burst = (bytes[0] & NO_BURST) != 0,
		.iuc = bytes[1],
		.sid = load_be16(bytes + 2) & UEPI_SID_MASK,
		.start_minislot = load_be32(bytes + 4),
	};
	if (format == UEPI_OFDMA) {
		out->segment_header = (bytes[0] & SEGMENT_HEADER_PRESENT) != 0;
		out->burst_id = load_be32(bytes + 8);
		out->grant_size = load_be32(bytes + 12);
	}
	return UEPI_OK;
}

size_t uepi_header_write(enum uepi_format format, const struct uepi_header *h, uint8_t *out) {
	out[0] = (uint8_t)(version_bits(format, h->version) | (h->no_burst ? NO_BURST : 0));
	out[1] = h->iuc;
	store_be16(out + 2, h->sid & UEPI_SID_MASK);
	store_be32(out + 4, h->start_minislot);
	if (format == UEPI_OFDMA) {
		out[0] |= h->segment_header ? SEGMENT_HEADER_PRESENT : 0;
		store_be32(out + 8, h->burst_id);
		store_be32(out + 12, h->grant_size);
	}
	return uepi_header_size(format);
}

/* Whether a vendor field that fills all remaining bytes starts at `at`. */
static bool vendor_fits(const uint8_t *bytes, size_t size, size_t at) {
	return size >= at + SC_QAM_VENDOR_FIXED &&
	       bytes[at + SC_QAM_VENDOR_FIXED - 1] == size - at - SC_QAM_VENDOR_FIXED;
}

/*
 * Bytes before the vendor field, with or without the equaliser block; 0 if neither fits.
 *
 * The source does not say whether devices send the block without its flag, or the flag without the
 * block. So the length decides, and the flag if both fit.
 */
static size_t vendor_offset(const uint8_t *bytes, size_t size, unsigned flags) {
	size_t without = SC_QAM_TRAILER_FIXED;
	size_t with = SC_QAM_TRAILER_FIXED + SC_QAM_BLOCK_SIZE;

	if (!(flags & UEPI_VENDOR))
		return size == without || size == with ? size : 0;

	bool fits_without = vendor_fits(bytes, size, without);
	bool fits_with = vendor_fits(bytes, size, with);

	if (fits_with && (!fits_without || (flags & UEPI_EQUALIZER)))
		return with;
	return fits_without ? without : 0;
}

static void read_equalizer(const uint8_t *block, struct uepi_trailer *out) {
	out->power = (int16_t)load_be16(block);
	out->frequency_error = (int16_t)load_be16(block + 2);
	out->timing = (int32_t)load_be32(block + 4);
	out->equalizer = block + SC_QAM_BLOCK_SIZE - UEPI_EQUALIZER_SIZE;
}

static enum uepi_verdict parse_sc_qam_trailer(const uint8_t *bytes, size_t size,
					      struct uepi_trailer *out) {
	if (size < SC_QAM_TRAILER_FIXED)
		return UEPI_TRUNCATED;
	*out = (struct uepi_trailer){
		.version = bytes[0] >> VERSION_SHIFT,
		.flags = load_be16(bytes) & TRAILER_FLAGS,
		.fec_good = load_be16(bytes + 2),
		.fec_corrected = bytes[4],
		.fec_uncorrectable = bytes[5],
		.snr = load_be16(bytes + 6),
	};

	size_t vendor = vendor_offset(bytes, size, out->flags);

	if (vendor == 0)
		return UEPI_BAD_LENGTH;
	if (vendor > SC_QAM_TRAILER_FIXED)
		read_equalizer(bytes + SC_QAM_TRAILER_FIXED, out);
	if (out->flags & UEPI_VENDOR) {
		out->vendor_id = load_be32(bytes + vendor) >> 8;
		out->vendor_length = bytes[vendor + SC_QAM_VENDOR_FIXED - 1];
		out->vendor = bytes + vendor + SC_QAM_VENDOR_FIXED;
	}
	return UEPI_OK;
}

static enum uepi_verdict parse_ofdma_trailer(const uint8_t *bytes, size_t size,
					     struct uepi_trailer *out) {
	enum uepi_verdict verdict = check_unit(UEPI_OFDMA, bytes, size, OFDMA_TRAILER_SIZE);

	if (verdict != UEPI_OK)
		return verdict;
	*out = (struct uepi_trailer){
		.version = bytes[0] >> VERSION_SHIFT,
		.flags = load_be16(bytes) & OFDMA_FLAGS,
		.snr = load_be16(bytes + 2),
		.burst_id = load_be32(bytes + 4),
		.fec_good = load_be16(bytes + 8),
		.fec_corrected = load_be16(bytes + 10),
		.fec_uncorrectable = load_be16(bytes + 12),
		.power = (int16_t)load_be16(bytes + 14),
		.timing = (int32_t)load_be32(bytes + 16),
	};
	return UEPI_OK;
}

enum uepi_verdict uepi_trailer_parse(enum uepi_format format, const uint8_t *bytes, size_t size,
				     struct uepi_trailer *out) {
	if (format == UEPI_OFDMA)
		return parse_ofdma_trailer(bytes, size, out);
	return parse_sc_qam_trailer(bytes, size, out);
}

size_t uepi_trailer_size(enum uepi_format format, const struct uepi_trailer *t) {
	size_t size = SC_QAM_TRAILER_FIXED;

	if (format == UEPI_OFDMA)
		return OFDMA_TRAILER_SIZE;
	if (t->equalizer != NULL)
		size += SC_QAM_BLOCK_SIZE;
	if (t->flags & UEPI_VENDOR)
		size += SC_QAM_VENDOR_FIXED + (size_t)t->vendor_length;
	return size;
}

static uint8_t uepi_min(uint16_t count) {
	return (uint8_t)(count < UINT8_MAX ? count : UINT8_MAX);
}

static size_t write_sc_qam_trailer(const struct uepi_trailer *t, uint8_t *out) {
	size_t size = uepi_trailer_size(UEPI_SC_QAM, t);
	uint8_t *at = out + SC_QAM_TRAILER_FIXED;

	store_be16(out, t->flags & TRAILER_FLAGS);
	out[0] |= (uint8_t)version_bits(UEPI_SC_QAM, t->version);
	store_be16(out + 2, t->fec_good);
	out[4] = uepi_min(t->fec_corrected);
	out[5] = uepi_min(t->fec_uncorrectable);
	store_be16(out + 6, t->snr);
	if (t->equalizer != NULL) {
		store_be16(at, (uint16_t)t->power);
		store_be16(at + 2, (uint16_t)t->frequency_error);
		store_be32(at + 4, (uint32_t)t->timing);
		memcpy(at + 8, t->equalizer, UEPI_EQUALIZER_SIZE);
		at += SC_QAM_BLOCK_SIZE;
	}
	if (t->flags & UEPI_VENDOR) {
		store_be32(at, t->vendor_id << 8 | t->vendor_length);
		if (t->vendor_length > 0)
			memcpy(at + SC_QAM_VENDOR_FIXED, t->vendor, t->vendor_length);
	}

	bool block_read = vendor_offset(out, size, t->flags) > SC_QAM_TRAILER_FIXED;

	return block_read == (t->equalizer != NULL) ? size : 0;
}

static size_t write_ofdma_trailer(const struct uepi_trailer *t, uint8_t *out) {
	store_be16(out, t->flags & OFDMA_FLAGS);
	out[0] |= (uint8_t)version_bits(UEPI_OFDMA, t->version);
	store_be16(out + 2, t->snr);
	store_be32(out + 4, t->burst_id);
	store_be16(out + 8, t->fec_good);
	store_be16(out + 10, t->fec_corrected);
	store_be16(out + 12, t->fec_uncorrectable);
	store_be16(out + 14, (uint16_t)t->power);
	store_be32(out + 16, (uint32_t)t->timing);
	return OFDMA_TRAILER_SIZE;
}

size_t uepi_trailer_write(enum uepi_format format, const struct uepi_trailer *t, uint8_t *out) {
	return format == UEPI_OFDMA ? write_ofdma_trailer(t, out) : write_sc_qam_trailer(t, out);
}

enum uepi_verdict uepi_request_parse(enum uepi_format format, const uint8_t *bytes, size_t size,
				     struct uepi_request *out) {
	enum uepi_verdict verdict = check_unit(format, bytes, size, UEPI_REQUEST_SIZE);

	if (verdict != UEPI_OK)
		return verdict;

	bool cluster_valid = (bytes[0] & REQUEST_CLUSTER_VALID) != 0;
	unsigned cluster = bytes[0] >> REQUEST_CLUSTER_SHIFT & UEPI_SID_CLUSTER_MAX;

	*out = (struct uepi_request){
		.version = bytes[0] >> VERSION_SHIFT,
		.cluster_valid = cluster_valid,
		.sid_cluster = (uint8_t)(cluster_valid ? cluster : 0),
		.n_bytes = (bytes[0] & REQUEST_N_BYTES) != 0,
		.piggyback = (bytes[0] & REQUEST_PIGGYBACK) != 0,
		.iuc = bytes[1],
		.size = load_be16(bytes + 2),
		.scheduled_sid = load_be16(bytes + 4) & UEPI_SID_MASK,
		.sid = load_be16(bytes + 6) & UEPI_SID_MASK,
		.start_minislot = load_be32(bytes + 8),
		.session = load_be32(bytes + 12),
	};
	return UEPI_OK;
}

size_t uepi_request_write(enum uepi_format format, const struct uepi_request *r, uint8_t *out) {
	unsigned first = version_bits(format, r->version);
	unsigned cluster = r->sid_cluster & UEPI_SID_CLUSTER_MAX;

	if (r->cluster_valid)
		first |= REQUEST_CLUSTER_VALID | cluster << REQUEST_CLUSTER_SHIFT;
	if (r->n_bytes)
		first |= REQUEST_N_BYTES;
	if (r->piggyback)
		first |= REQUEST_PIGGYBACK;
	out[0] = (uint8_t)first;
	out[1] = r->iuc;
	store_be16(out + 2, r->size);
	store_be16(out + 4, r->scheduled_sid & UEPI_SID_MASK);
	store_be16(out + 6, r->sid & UEPI_SID_MASK);
	store_be32(out + 8, r->start_minislot);
	store_be32(out + 12, r->session);
	return UEPI_REQUEST_SIZE;
}
