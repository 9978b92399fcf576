/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the parsers of UEPI units. Of the first byte of the input, the lowest bit selects the
 * format and the next two the kind: header, trailer or request record. */
#include <string.h>

#include "fuzz.h"
#include "wire/bytes.h"
#include "wire/uepi.h"

/* Writes the parsed header: the bytes are the same, except for reserved bits. */
static void check_header(enum uepi_format format, const uint8_t *unit, size_t size) {
	uint8_t reserved = format == UEPI_OFDMA ? 0x0f : 0x1f;
	uint8_t written[UEPI_HEADER_MAX];
	struct uepi_header h;

	if (uepi_header_parse(format, unit, size, &h) != UEPI_OK)
		return;
	CHECK(size == uepi_header_size(format) && h.sid <= UEPI_SID_MASK && h.version <= 3);
	CHECK(uepi_header_write(format, &h, written) == size);
	CHECK(written[0] == (unit[0] & ~reserved) && written[1] == unit[1]);
	CHECK(load_be16(written + 2) == (load_be16(unit + 2) & UEPI_SID_MASK));
	CHECK(memcmp(written + 4, unit + 4, size - 4) == 0);
}

static void check_pointers(const struct uepi_trailer *t, const uint8_t *unit, size_t size) {
	if (t->equalizer != NULL) {
		CHECK(t->equalizer == unit + 16);
		touch(t->equalizer, UEPI_EQUALIZER_SIZE);
	}
	CHECK((t->vendor != NULL) == ((t->flags & UEPI_VENDOR) != 0));
	if (t->vendor != NULL) {
		CHECK(t->vendor + t->vendor_length == unit + size);
		touch(t->vendor, t->vendor_length);
	}
}

static void check_sc_qam_trailer(const uint8_t *unit, size_t size) {
	uint8_t written[UEPI_TRAILER_MAX];
	struct uepi_trailer t;
	enum uepi_verdict verdict = uepi_trailer_parse(UEPI_SC_QAM, unit, size, &t);

	CHECK(verdict != UEPI_BAD_VERSION && (verdict == UEPI_TRUNCATED) == (size < 8));
	if (verdict == UEPI_BAD_LENGTH)
		CHECK(t.equalizer == NULL && t.vendor == NULL);
	if (verdict != UEPI_OK)
		return;
	check_pointers(&t, unit, size);
	CHECK(size <= UEPI_TRAILER_MAX && uepi_trailer_size(UEPI_SC_QAM, &t) == size);
	CHECK(uepi_trailer_write(UEPI_SC_QAM, &t, written) == size);
	CHECK(memcmp(written, unit, size) == 0);
}

static void check_ofdma_trailer(const uint8_t *unit, size_t size) {
	uint8_t written[UEPI_TRAILER_MAX];
	struct uepi_trailer t;

	if (uepi_trailer_parse(UEPI_OFDMA, unit, size, &t) != UEPI_OK)
		return;
	CHECK(t.version == UEPI_OFDMA_VERSION && t.equalizer == NULL && t.vendor == NULL);
	CHECK(uepi_trailer_size(UEPI_OFDMA, &t) == size);
	CHECK(uepi_trailer_write(UEPI_OFDMA, &t, written) == size);
	CHECK(load_be16(written) == (load_be16(unit) & 0xdf3c));
	CHECK(memcmp(written + 2, unit + 2, size - 2) == 0);
}

static void check_request(enum uepi_format format, const uint8_t *unit, size_t size) {
	uint8_t written[UEPI_REQUEST_SIZE];
	struct uepi_request r;

	if (uepi_request_parse(format, unit, size, &r) != UEPI_OK)
		return;
	CHECK(size == UEPI_REQUEST_SIZE && r.sid_cluster <= UEPI_SID_CLUSTER_MAX);
	CHECK(uepi_request_write(format, &r, written) == size);
	CHECK(written[0] == (r.cluster_valid ? unit[0] : unit[0] & 0xc7));
	CHECK(load_be32(written + 4) == (load_be32(unit + 4) & 0x3fff3fff));
	CHECK(memcmp(written + 1, unit + 1, 3) == 0 && memcmp(written + 8, unit + 8, 8) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size == 0)
		return 0;

	enum uepi_format format = data[0] & 1 ? UEPI_OFDMA : UEPI_SC_QAM;

	switch (data[0] >> 1 & 3) {
	case 0: check_header(format, data + 1, size - 1); break;
	case 1:
		if (format == UEPI_OFDMA)
			check_ofdma_trailer(data + 1, size - 1);
		else
			check_sc_qam_trailer(data + 1, size - 1);
		break;
	default: check_request(format, data + 1, size - 1); break;
	}
	return 0;
}
