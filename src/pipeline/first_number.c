/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline/first_number.h"

static uint16_t first;

void first_number_set(uint16_t number) {
	first = number;
}

uint16_t first_number(void) {
	return first;
}
