/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/psp.h"

static size_t segments_size(const uint8_t *table, unsigned count) {
	size_t sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += load_be16(table + PSP_ENTRY_SIZE * i) & PSP_LENGTH;
	return sum;
}

enum psp_verdict psp_parse(const uint8_t *p, size_t length, unsigned extra_bytes, struct psp *out) {
	if (length < PSP_HEADER_FIXED)
		return PSP_TRUNCATED;
	if (p[0] & PSP_VCCV)
		return PSP_CONTROL;
	if (p[0] & PSP_EXTENDED_HEADER)
		return PSP_EXTENDED;

	uint8_t count = p[1];
	size_t header_size = psp_header_size(count, extra_bytes);

	if (length < header_size)
		return PSP_TABLE_TRUNCATED;
	*out = (struct psp){
		.sequence_valid = (p[0] & PSP_SEQUENCE_VALID) != 0,
		.flow = (uint8_t)((p[0] & PSP_FLOW) >> 1),
		.count = count,
		.sequence = load_be16(p + 2),
		.table = p + PSP_HEADER_FIXED,
		.extra = extra_bytes > 0 ? p + header_size - extra_bytes : NULL,
		.data = p + header_size,
	};
	out->data_size = segments_size(out->table, count);
	if (out->data_size > length - header_size)
		return PSP_SEGMENT_TRUNCATED;
	if (out->data_size < length - header_size)
		return PSP_TRAILING;
	return PSP_OK;
}

bool psp_next(const struct psp *p, struct psp_cursor *cursor, struct psp_segment *out) {
	if (cursor->index >= p->count)
		return false;

	uint16_t entry = load_be16(p->table + PSP_ENTRY_SIZE * cursor->index);

	out->begin = (entry & PSP_BEGIN) != 0;
	out->end = (entry & PSP_END) != 0;
	out->length = entry & PSP_LENGTH;
	out->data = p->data + cursor->offset;
	cursor->offset += out->length;
	cursor->index++;
	return true;
}
