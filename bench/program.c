/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include <stdlib.h>

#include "platform/platform.h"

unsigned program_number(const char *text, unsigned low, unsigned high, struct argp_state *state) {
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text == '\0' || *end != '\0' || value < low || value > high)
		argp_error(state, "found \"%s\", allowed: %u to %u", text, low, high);
	return (unsigned)value;
}

json_t *program_report(json_t *results, const struct host *host) {
	return json_pack("{s:o, s:{s:s, s:I, s:I, s:b}}", "results", results, "host", "cpu",
			 host->cpu, "tsc_hz", (json_int_t)host->tsc_hz, "core_hz",
			 (json_int_t)host->core_hz, "huge_pages", platform_has_huge_pages());
}
