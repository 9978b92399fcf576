/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UEPI: header and trailer of an upstream burst from an R-PHY device. docs/uepi-formats.md shows
 * every field and the origin of the layouts: SC-QAM is from one public source, OFDMA is this
 * project's own.
 *
 *     +--------+-----------------------------------------+---------+
 *     | header | payload, in any number of PSP segments  | trailer |    one PSP segment each
 *     +--------+-----------------------------------------+---------+    for header and trailer
 *      B=1                                            E=1
 *
 *     SC-QAM header    00 05 0123 01556601                     IUC 5, SID 0x123, start minislot
 *            trailer   000C 0005 01 00 0092                    5 codewords good, 1 corrected, SNR
 *            request   17 05 0010 0123 0123 01556601 00010007 16 N-byte units, piggyback, cluster 2
 *     OFDMA  header    50 05 0123 01556601 00000007 00000800   .. burst 7 in a grant of 2 KB
 *            trailer   403C 0092 00000007 0005 0001 0000 FFF4 00000003
 *                                                              MER 36.5 dB, -1.2 dB, 3 ticks late
 *            request   57 05 .. as SC-QAM
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UEPI_OFDMA_VERSION 1
#define UEPI_HEADER_MAX 16
#define UEPI_TRAILER_MAX 371 /* SC-QAM with equaliser block and a vendor field of 255 bytes */
#define UEPI_REQUEST_SIZE 16
#define UEPI_EQUALIZER_SIZE 96 /* 24 coefficients of 4 bytes */
#define UEPI_SID_MASK 0x3fff
#define UEPI_SID_CLUSTER_MAX 7

/* Trailer flags. */
#define UEPI_RANGING_REQUIRED 0x1000
#define UEPI_SNR_LOW 0x0800
#define UEPI_PHY_ERROR 0x0400
#define UEPI_HIGH_ENERGY 0x0200
#define UEPI_LOW_ENERGY 0x0100
#define UEPI_POWER_VALID 0x0020 /* OFDMA */
#define UEPI_TIMING_VALID 0x0010 /* OFDMA */
#define UEPI_FEC_VALID 0x0008
#define UEPI_SNR_VALID 0x0004
/* SC-QAM; the block may be present without the flag, and the flag without the block */
#define UEPI_EQUALIZER 0x0002
#define UEPI_VENDOR 0x0001 /* SC-QAM */

enum uepi_format {
	UEPI_SC_QAM,
	UEPI_OFDMA,
};

enum uepi_verdict {
	UEPI_OK,
	UEPI_TRUNCATED, /* shorter than the minimum of its kind */
	UEPI_BAD_VERSION, /* OFDMA: not UEPI_OFDMA_VERSION */
	UEPI_BAD_LENGTH, /* longer than the unit, or a trailer whose parts do not fit */
};

struct uepi_header {
	uint8_t version; /* 2 bits; SC-QAM: the existing versions are unknown */
	bool no_burst; /* the grant was not used: no payload follows */
	uint8_t iuc;
	uint16_t sid; /* 14 bits, of the grant in the MAP */
	uint32_t start_minislot; /* of the grant */

	/* OFDMA; 0 for SC-QAM */
	bool segment_header; /* the payload starts with a segment header */
	uint32_t burst_id; /* as in the trailer */
	uint32_t grant_size; /* bytes of payload that the grant can carry */
};

struct uepi_trailer {
	uint8_t version;
	uint16_t flags; /* UEPI_RANGING_REQUIRED and others; of SC-QAM all 14 bits */
	uint16_t fec_good; /* codewords */
	uint16_t fec_corrected; /* SC-QAM: at most 255 on the wire */
	uint16_t fec_uncorrectable; /* as fec_corrected */
	uint16_t snr; /* OFDMA: MER in 0.25 dB; SC-QAM: unknown scale */
	int16_t power; /* OFDMA: 0.1 dB from the target; SC-QAM: with the equaliser block, raw */
	int32_t timing; /* OFDMA: 1/204.8 MHz, positive is late; SC-QAM: as power */

	uint32_t burst_id; /* OFDMA */

	/* SC-QAM */
	const uint8_t *equalizer; /* UEPI_EQUALIZER_SIZE bytes; NULL without the block */
	int16_t frequency_error; /* with the equaliser block, raw */
	const uint8_t *vendor; /* behind vendor ID and length; NULL without UEPI_VENDOR */
	uint8_t vendor_length;
	uint32_t vendor_id; /* 24 bits */
};

/* A bandwidth request that the R-PHY device found in a burst. */
struct uepi_request {
	uint8_t version;
	bool cluster_valid;
	uint8_t sid_cluster; /* 3 bits; 0 if not valid */
	bool n_bytes; /* the size counts N-byte units of the flow, otherwise minislots */
	bool piggyback; /* otherwise a request frame */
	uint8_t iuc;
	uint16_t size;
	uint16_t scheduled_sid; /* of the grant in the MAP */
	uint16_t sid; /* of the request itself */
	uint32_t start_minislot; /* of the grant */
	uint32_t session; /* L2TPv3 session ID of the channel's data pseudowire */
};

/*
 * Parse one PSP segment of `size` bytes. `out` is valid with UEPI_OK; an SC-QAM trailer also with
 * UEPI_BAD_LENGTH, without equaliser block and vendor field. Pointers in a trailer point into
 * `bytes`. Reserved bits are ignored.
 */
enum uepi_verdict uepi_header_parse(enum uepi_format format, const uint8_t *bytes, size_t size,
				    struct uepi_header *out);
enum uepi_verdict uepi_trailer_parse(enum uepi_format format, const uint8_t *bytes, size_t size,
				     struct uepi_trailer *out);
enum uepi_verdict uepi_request_parse(enum uepi_format format, const uint8_t *bytes, size_t size,
				     struct uepi_request *out);

/* Bytes of a header: 8 or 16. */
size_t uepi_header_size(enum uepi_format format);

/* Bytes of this trailer, at most UEPI_TRAILER_MAX. */
size_t uepi_trailer_size(enum uepi_format format, const struct uepi_trailer *t);

/*
 * Write one segment and return its size. Values are truncated to the width of their fields; the
 * version of OFDMA is UEPI_OFDMA_VERSION.
 *
 * An SC-QAM trailer has its equaliser block if `equalizer` is not NULL, and its vendor field with
 * the flag UEPI_VENDOR. uepi_trailer_write() returns 0, and its output is invalid, if a reader
 * would take the vendor field for the end of an equaliser block or the reverse. That needs a vendor
 * field of more than 103 bytes, or a block without its flag.
 */
size_t uepi_header_write(enum uepi_format format, const struct uepi_header *h, uint8_t *out);
size_t uepi_trailer_write(enum uepi_format format, const struct uepi_trailer *t, uint8_t *out);
size_t uepi_request_write(enum uepi_format format, const struct uepi_request *r, uint8_t *out);
