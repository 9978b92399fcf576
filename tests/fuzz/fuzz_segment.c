/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the parser of upstream segments: the header, then the frames from the pointer on. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "wire/docsis_mac.h"
#include "wire/segment.h"

/* The header is written back, with the reserved bit and a pointer without PFI as 0. */
static void check_header(const uint8_t *segment, const struct segment_header *h) {
	uint8_t expected[SEGMENT_HEADER_SIZE];
	uint8_t written[SEGMENT_HEADER_SIZE];

	CHECK(h->pointer <= SEGMENT_POINTER_MAX && h->sequence <= SEGMENT_SEQUENCE_MASK);
	CHECK(h->sid_cluster <= SEGMENT_CLUSTER_MAX && (h->pointer_valid || h->pointer == 0));
	memcpy(expected, segment, sizeof(expected));
	expected[0] &= 0xbf;
	if (!h->pointer_valid)
		store_be16(expected, 0);
	docsis_hcs_write(expected, SEGMENT_HEADER_SIZE - DOCSIS_HCS_SIZE);
	segment_header_write(h, written);
	CHECK(memcmp(written, expected, sizeof(expected)) == 0);
}

static void walk_frames(const uint8_t *stream, size_t size) {
	struct docsis_mac mac;

	for (size_t at = 0; at < size; at += mac.frame_size) {
		enum docsis_verdict verdict = docsis_mac_parse(stream + at, size - at, &mac);

		if (verdict == DOCSIS_OK)
			touch(mac.pdu, mac.pdu_size);
		if (verdict == DOCSIS_TRUNCATED || mac.frame_size == 0)
			break;
	}
}

/* Behind a wrong HCS nothing would be parsed: it is corrected. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint8_t *segment = malloc(size > 0 ? size : 1);
	struct segment_header h;

	if (size > 0)
		memcpy(segment, data, size);

	enum segment_verdict verdict = segment_header_parse(segment, size, &h);

	CHECK((verdict == SEGMENT_TRUNCATED) == (size < SEGMENT_HEADER_SIZE));
	if (verdict == SEGMENT_BAD_HCS) {
		docsis_hcs_write(segment, SEGMENT_HEADER_SIZE - DOCSIS_HCS_SIZE);
		verdict = segment_header_parse(segment, size, &h);
		CHECK(verdict == SEGMENT_OK);
	}
	if (verdict == SEGMENT_OK) {
		size_t payload = size - SEGMENT_HEADER_SIZE;

		check_header(segment, &h);
		if (h.pointer_valid && h.pointer <= payload)
			walk_frames(segment + SEGMENT_HEADER_SIZE + h.pointer, payload - h.pointer);
	}
	free(segment);
	return 0;
}
