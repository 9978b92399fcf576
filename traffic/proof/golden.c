/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes each shared format once, and compares the bytes with those of an independent encoder. */
#include "proof/golden.h"

#include <stdint.h>
#include <string.h>

#include "wire/crc32.h"
#include "wire/docsis_mac.h"
#include "wire/docsis_up.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"
#include "wire/segment.h"
#include "wire/uepi.h"

#define BYTES_MAX 128
#define FLAGS (UEPI_FEC_VALID | UEPI_SNR_VALID)

struct golden {
	const char *name;
	size_t (*write)(uint8_t *out); /* writes at most BYTES_MAX bytes; returns their number */
	const char *bytes; /* in hexadecimal */
};

static size_t crc(uint8_t *out) {
	memcpy(out, "123456789", 9);
	ethernet_crc_write(out, 9);
	return 9 + ETHERNET_CRC_SIZE;
}

static const struct depi_encap outer = {
	.source_mac = {2, 10, 11, 12, 13, 14},
	.destination_mac = {2, 1, 2, 3, 4, 5},
	.family = 4,
	.source_ip = {192, 0, 2, 1},
	.destination_ip = {198, 51, 100, 2},
	.dscp = 46,
	.ttl = 63,
	.session = 0x12345678,
};

static size_t ipv4(uint8_t *out) {
	return depi_encap_write(&outer, 1000, out);
}

static size_t ipv6(uint8_t *out) {
	const uint8_t prefix[] = {0x20, 0x01, 0x0d, 0xb8};
	struct depi_encap e = outer;

	e.family = 6;
	memset(e.source_ip, 0, sizeof(e.source_ip));
	memcpy(e.source_ip, prefix, sizeof(prefix));
	memcpy(e.destination_ip, e.source_ip, sizeof(e.destination_ip));
	e.source_ip[15] = 1;
	e.destination_ip[15] = 2;
	return depi_encap_write(&e, 1000, out);
}

static size_t psp(uint8_t *out) {
	psp_header_write(out, 3, 2, 0xbeef);
	psp_entry_write(out + PSP_HEADER_FIXED, true, false, 1000);
	psp_entry_write(out + PSP_HEADER_FIXED + PSP_ENTRY_SIZE, false, true, 300);
	return PSP_HEADER_FIXED + 2 * PSP_ENTRY_SIZE;
}

static size_t downstream_header(uint8_t *out) {
	const struct docsis_down_header h = {
		.privacy = true,
		.encrypted = true,
		.key_sequence = 5,
		.said = 0x1234,
		.ds = DS_EHDR_SEQUENCE,
		.priority = 5,
		.sequence_change = true,
		.dsid = 0xabcde,
		.sequence = 0xfedc,
	};

	return docsis_down_header_write(&h, 1000, out);
}

static size_t upstream_header(uint8_t *out) {
	const struct docsis_up_header h = {
		.kind = DOCSIS_KIND_PACKET,
		.privacy = PRIVACY_BP_UP,
		.encrypted = true,
		.key_sequence = 5,
		.sid = 0x1234,
		.piggyback = 7,
		.request = true,
		.request_minislots = 9,
	};

	return docsis_up_header_write(&h, 1000, out);
}

static size_t upstream_header_2(uint8_t *out) {
	const struct docsis_up_header h = {
		.kind = DOCSIS_KIND_PACKET,
		.privacy = PRIVACY_BP_UP2,
		.encrypted = true,
		.key_sequence = 4,
		.sid = 0x456,
	};

	return docsis_up_header_write(&h, 1000, out);
}

static size_t fragment_header(uint8_t *out) {
	const struct docsis_up_header h = {
		.kind = DOCSIS_KIND_FRAGMENT,
		.privacy = PRIVACY_BP_UP,
		.encrypted = true,
		.key_sequence = 1,
		.sid = 1,
		.piggyback = 7,
		.fragment_first = true,
		.fragment_sequence = 9,
	};

	return docsis_up_header_write(&h, 98, out);
}

static size_t request(uint8_t *out) {
	return docsis_request_write(4, 0x123, out);
}

static size_t queue_request(uint8_t *out) {
	return docsis_queue_request_write(0x102, 0x345, out);
}

static size_t concatenation(uint8_t *out) {
	return docsis_concatenation_write(2, 92, out);
}

static size_t segment_header(uint8_t *out) {
	const struct segment_header h = {
		.pointer_valid = true,
		.pointer = 0x123,
		.sequence = 0x1abc,
		.sid_cluster = 5,
		.request = 77,
	};

	segment_header_write(&h, out);
	return SEGMENT_HEADER_SIZE;
}

static size_t sc_qam_header(uint8_t *out) {
	const struct uepi_header h = {.iuc = 9, .sid = 0x123, .start_minislot = 0x01020304};

	return uepi_header_write(UEPI_SC_QAM, &h, out);
}

static size_t ofdma_header(uint8_t *out) {
	const struct uepi_header h = {
		.iuc = 10,
		.sid = 0x123,
		.start_minislot = 0x01020304,
		.segment_header = true,
		.burst_id = 0xa1a2a3a4,
		.grant_size = 2048,
	};

	return uepi_header_write(UEPI_OFDMA, &h, out);
}

static const struct uepi_trailer trailer = {
	.flags = FLAGS,
	.fec_good = 300,
	.fec_corrected = 2,
	.fec_uncorrectable = 1,
	.snr = 0x155,
	.power = -3,
	.timing = -9,
	.burst_id = 0xa1a2a3a4,
};

static size_t sc_qam_trailer(uint8_t *out) {
	return uepi_trailer_write(UEPI_SC_QAM, &trailer, out);
}

static size_t ofdma_trailer(uint8_t *out) {
	return uepi_trailer_write(UEPI_OFDMA, &trailer, out);
}

static const struct uepi_request request_fields = {
	.cluster_valid = true,
	.sid_cluster = 5,
	.n_bytes = true,
	.iuc = 4,
	.size = 0x1234,
	.scheduled_sid = 0xabc,
	.sid = 0xdef,
	.start_minislot = 0x12345678,
	.session = 0x9abcdef0,
};

static size_t sc_qam_request(uint8_t *out) {
	return uepi_request_write(UEPI_SC_QAM, &request_fields, out);
}

static size_t ofdma_request(uint8_t *out) {
	struct uepi_request r = request_fields;

	r.piggyback = true;
	return uepi_request_write(UEPI_OFDMA, &r, out);
}

static const struct golden table[] = {
#define GOLDEN(writer, name, bytes) {name, writer, bytes},
#include "proof/golden.def"
#undef GOLDEN
};

static bool good(const struct golden *g) {
	static const char digits[] = "0123456789abcdef";
	uint8_t written[BYTES_MAX];
	size_t size = g->write(written);

	if (2 * size != strlen(g->bytes))
		return false;
	for (size_t i = 0; i < size; i++) {
		if (g->bytes[2 * i] != digits[written[i] >> 4] ||
		    g->bytes[2 * i + 1] != digits[written[i] & 0xf])
			return false;
	}
	return true;
}

const char *golden_first_mismatch(void) {
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!good(&table[i]))
			return table[i].name;
	}
	return NULL;
}
