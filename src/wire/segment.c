/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/segment.h"

#include "wire/bytes.h"
#include "wire/hcs.h"

#define SEGMENT_PFI 0x8000
#define SEGMENT_SEQUENCE_SHIFT 3

enum segment_verdict segment_header_parse(const uint8_t *p, size_t length,
					  struct segment_header *out) {
	if (length < SEGMENT_HEADER_SIZE)
		return SEGMENT_TRUNCATED;
	if (!docsis_hcs_good(p, SEGMENT_HEADER_SIZE - DOCSIS_HCS_SIZE))
		return SEGMENT_BAD_HCS;

	uint16_t pointer = load_be16(p);
	uint16_t sequence = load_be16(p + 2);
	bool pointer_valid = (pointer & SEGMENT_PFI) != 0;

	*out = (struct segment_header){
		.pointer_valid = pointer_valid,
		.pointer = pointer_valid ? pointer & SEGMENT_POINTER_MAX : 0,
		.sequence = sequence >> SEGMENT_SEQUENCE_SHIFT,
		.sid_cluster = sequence & SEGMENT_CLUSTER_MAX,
		.request = load_be16(p + 4),
	};
	return SEGMENT_OK;
}

void segment_header_write(const struct segment_header *h, uint8_t *out) {
	unsigned pointer = h->pointer_valid ? SEGMENT_PFI | (h->pointer & SEGMENT_POINTER_MAX) : 0u;
	unsigned sequence = h->sequence & SEGMENT_SEQUENCE_MASK;

	store_be16(out, (uint16_t)pointer);
	store_be16(out + 2, (uint16_t)(sequence << SEGMENT_SEQUENCE_SHIFT |
				       (h->sid_cluster & SEGMENT_CLUSTER_MAX)));
	store_be16(out + 4, h->request);
	docsis_hcs_write(out, SEGMENT_HEADER_SIZE - DOCSIS_HCS_SIZE);
}
