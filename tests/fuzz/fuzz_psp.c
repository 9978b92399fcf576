/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the parser of PSP packets. The first byte of the input is the number of extra bytes. */
#include <string.h>

#include "fuzz.h"
#include "wire/psp.h"

static void check_segments(const struct psp *psp) {
	uint8_t table[PSP_ENTRY_SIZE * PSP_COUNT_MAX];
	struct psp_cursor cursor = {0};
	struct psp_segment segment;
	const uint8_t *expected = psp->data;
	unsigned count = 0;

	while (psp_next(psp, &cursor, &segment)) {
		CHECK(segment.length <= PSP_SEGMENT_MAX && segment.data == expected);
		touch(segment.data, segment.length);
		psp_entry_write(table + PSP_ENTRY_SIZE * count, segment.begin, segment.end,
				segment.length);
		expected += segment.length;
		count++;
	}
	CHECK(count == psp->count && expected == psp->data + psp->data_size);
	CHECK(memcmp(table, psp->table, PSP_ENTRY_SIZE * count) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct psp psp;

	if (size == 0)
		return 0;

	unsigned extra = data[0] & 3;
	enum psp_verdict verdict = psp_parse(data + 1, size - 1, extra, &psp);

	if (verdict != PSP_OK && verdict != PSP_TRAILING)
		return 0;

	size_t used = psp_header_size(psp.count, extra) + psp.data_size;

	CHECK(verdict == PSP_OK ? used == size - 1 : used < size - 1);
	CHECK(psp.flow <= PSP_FLOW_MAX && (psp.extra != NULL) == (extra > 0));
	if (extra > 0)
		touch(psp.extra, extra);
	check_segments(&psp);
	return 0;
}
