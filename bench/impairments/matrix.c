/* SPDX-License-Identifier: BSD-3-Clause */
#include "matrix.h"

#include <inttypes.h>

static void add(struct row *r, const char *kind, const char *name, uint64_t expected,
		uint64_t counted) {
	r->cells[r->count++] = (struct cell){kind, name, expected, counted};
}

/* Adds cells for packets sent by modems and received from the network port. */
static void add_traffic(struct row *r, const struct uplink_result *t) {
	const struct expected *e = &t->expected;

	add(r, "packets", "proven", t->sent - e->lost - e->corrupted, t->proven);
	add(r, "packets", "lost", e->lost, t->lost);
	add(r, "packets", "corrupted", e->corrupted, t->corrupted);
	add(r, "packets", "duplicated", 0, t->duplicated);
	add(r, "packets", "reordered", 0, t->reordered);
	add(r, "packets", "astray", 0, t->survived);
	add(r, "frames", "foreign", e->foreign, t->unexpected[UPLINK_UNEXPECTED_FOREIGN]);
}

static void add_counters(struct row *r, const struct expected *expected,
			 const struct counters *counted) {
	for (unsigned i = 0; i < DROP_REASONS; i++) {
		if (drop_in((enum drop_reason)i, DIRECTION_UP))
			add(r, "drop", drop_name((enum drop_reason)i), expected->drops[i],
			    counted->drops[i]);
	}
	for (unsigned i = 0; i < COUNTERS; i++) {
		if (shadow_predicts((enum counter)i))
			add(r, "counter", counter_name((enum counter)i), expected->counters[i],
			    counted->values[i]);
	}
}

/* Adds cells for units: none is pending, and in = out + drops. */
static void add_units(struct row *r, const struct box_result *b) {
	for (enum unit unit = 0; unit < UNITS; unit++) {
		add(r, "held", unit_name(unit), 0, b->pending[unit]);
		add(r, "balance", unit_name(unit), b->in[unit], b->out[unit] + b->dropped[unit]);
	}
}

void row_fill(struct row *r, const char *name, const struct box_result *result) {
	const struct uplink_result *t = &result->traffic;

	*r = (struct row){.sent = t->sent};
	snprintf(r->name, sizeof(r->name), "%s", name);
	for (unsigned i = 0; i < IMPAIRMENTS; i++)
		r->hits += t->hits[i];
	add_traffic(r, t);
	add_counters(r, &t->expected, &result->counters);
	add_units(r, result);
}

static bool differs(const struct cell *c) {
	return c->expected != c->counted;
}

unsigned row_differences(const struct row *r) {
	unsigned n = 0;

	for (unsigned i = 0; i < r->count; i++)
		n += differs(&r->cells[i]);
	return n;
}

static void cell_print(FILE *out, const struct row *r, const struct cell *c) {
	fprintf(out, "%-30s %6" PRIu64 "  %-8s %-20s %9" PRIu64 " %9" PRIu64 "%s\n", r->name,
		r->hits, c->kind, c->name, c->expected, c->counted, differs(c) ? "  differs" : "");
}

void row_print_heading(FILE *out) {
	fprintf(out, "%-30s %6s  %-29s %9s %9s\n", "impairment", "hits", "quantity", "expected",
		"counted");
}

void row_print_sum_heading(FILE *out) {
	fprintf(out, "%-30s %6s %9s %9s\n", "impairment", "hits", "compared", "different");
}

void row_print_sum(FILE *out, const struct row *r) {
	fprintf(out, "%-30s %6" PRIu64 " %9u %9u\n", r->name, r->hits, r->count,
		row_differences(r));
}

void row_print(FILE *out, const struct row *r, bool differences) {
	for (unsigned i = 0; i < r->count; i++) {
		const struct cell *c = &r->cells[i];

		if (differences ? differs(c) : c->expected != 0 || c->counted != 0)
			cell_print(out, r, c);
	}
}

json_t *row_json(const struct row *r) {
	json_t *cells = json_array();

	for (unsigned i = 0; i < r->count; i++) {
		const struct cell *c = &r->cells[i];

		json_array_append_new(cells,
				      json_pack("{s:s, s:s, s:I, s:I}", "kind", c->kind, "name",
						c->name, "expected", (json_int_t)c->expected,
						"counted", (json_int_t)c->counted));
	}
	return json_pack("{s:s, s:I, s:I, s:o}", "impairment", r->name, "hits", (json_int_t)r->hits,
			 "sent", (json_int_t)r->sent, "cells", cells);
}
