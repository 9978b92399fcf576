/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/cores.h"

#include <string.h>

#include "model/units.h"

#define LONGEST_PART 16

static bool cores_add_range(struct cores *cores, uint16_t low, uint16_t high) {
	if (low > high || high >= CORES_MAX)
		return false;
	for (unsigned core = low; core <= high; core++) {
		if (cores->has[core])
			return false;
		cores->has[core] = true;
		cores->number[cores->count++] = (uint16_t)core;
	}
	return true;
}

/* "3" or "1-15", with the syntax of port ranges. */
static bool cores_add_part(struct cores *cores, const char *text, size_t length) {
	struct port_range range;
	char part[LONGEST_PART];

	if (length >= sizeof(part))
		return false;
	memcpy(part, text, length);
	part[length] = '\0';
	return units_parse_ports(part, &range) && cores_add_range(cores, range.low, range.high);
}

bool cores_add(struct cores *cores, const char *text) {
	while (true) {
		size_t length = strcspn(text, ",");

		if (!cores_add_part(cores, text, length))
			return false;
		if (text[length] == '\0')
			return true;
		text += length + 1;
	}
}
