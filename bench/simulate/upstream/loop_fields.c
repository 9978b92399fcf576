/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/loop_fields.h"

void loop_number16(struct fields *f, const char *key, struct bounds b, uint16_t *out) {
	uint64_t value = *out;

	fields_number(f, key, b, 1, &value);
	*out = (uint16_t)value;
}

void loop_number8(struct fields *f, const char *key, struct bounds b, uint8_t *out) {
	uint16_t value = *out;

	loop_number16(f, key, b, &value);
	*out = (uint8_t)value;
}

void loop_samples(struct fields *f, const char *key, struct bounds b, uint32_t *out) {
	uint64_t value = *out;

	fields_number(f, key, b, LOOP_SECOND, &value);
	*out = (uint32_t)value;
}
