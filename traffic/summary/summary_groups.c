/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a line per service group. */
#include "summary/summary_groups.h"

#include <inttypes.h>

#define COLUMNS "%14s %14s %8s"

static void groups_print_direction(FILE *out, uint64_t sent, uint64_t proven, double gbps) {
	fprintf(out, " %14" PRIu64 " %14" PRIu64 " %8.3f", sent, sent > proven ? sent - proven : 0,
		gbps);
}

static void groups_print_head(FILE *out, const struct summary *s) {
	fprintf(out, "%-6s %-24s", "group", "name");
	if (s->downstream != NULL)
		fprintf(out, " " COLUMNS, "down: sent", "not proven", "Gbps");
	if (s->upstream != NULL)
		fprintf(out, " " COLUMNS, "up: sent", "not proven", "Gbps");
	fputc('\n', out);
}

void summary_groups_print(FILE *out, const struct summary *s) {
	groups_print_head(out, s);
	for (unsigned i = 0; i < s->group_count; i++) {
		const struct summary_group *g = &s->groups[i];

		fprintf(out, "%-6" PRIu32 " %-24.24s", g->id, g->name);
		if (g->downstream != NULL)
			groups_print_direction(out, g->downstream->sent,
					       g->downstream->proven + g->downstream->counted,
					       g->downstream->gbps);
		if (g->upstream != NULL)
			groups_print_direction(out, g->upstream->sent, g->upstream->proven,
					       g->upstream->gbps);
		fputc('\n', out);
	}
}
