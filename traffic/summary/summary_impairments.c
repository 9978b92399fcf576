/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports how often each impairment hit, and the losses that it was expected to cause. */
#include "summary/summary_impairments.h"

#include <inttypes.h>

static void impairments_set_count(json_t *o, const char *key, uint64_t value) {
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static void set_hits(json_t *o, const struct uplink_result *r) {
	json_t *hits = json_object();

	for (int i = 0; i < IMPAIRMENTS; i++) {
		if (r->hits[i] != 0)
			impairments_set_count(hits, impair_name((enum impairment)i), r->hits[i]);
	}
	json_object_set_new(o, "impairments", hits);
}

/* Drops that are not listed are expected to be 0; counters that are not listed are not predicted. */
static void set_expected(json_t *o, const struct uplink_result *r) {
	const struct expected *e = &r->expected;
	json_t *expected = json_object(), *drops = json_object(), *counters = json_object();

	for (int i = 0; i < DROP_REASONS; i++) {
		if (e->drops[i] != 0)
			impairments_set_count(drops, drop_name((enum drop_reason)i), e->drops[i]);
	}
	for (int i = 0; i < COUNTERS; i++) {
		if (shadow_predicts((enum counter)i))
			impairments_set_count(counters, counter_name((enum counter)i),
					      e->counters[i]);
	}
	impairments_set_count(expected, "lost", e->lost);
	impairments_set_count(expected, "corrupted", e->corrupted);
	impairments_set_count(expected, "foreign", e->foreign);
	json_object_set_new(expected, "drops", drops);
	json_object_set_new(expected, "counters", counters);
	json_object_set_new(o, "expected", expected);
}

void summary_impairments_set(json_t *o, const struct uplink_result *r) {
	set_hits(o, r);
	impairments_set_count(o, "astray", r->survived);
	if (r->expected_known)
		set_expected(o, r);
}

static void print_pair(FILE *out, const char *name, uint64_t expected, uint64_t counted) {
	fprintf(out, "  %-12s %-20s %14" PRIu64 "  %s\n", "expected", name, expected,
		expected == counted ? "as counted" : "differs from the count");
}

void summary_impairments_hits(FILE *out, const struct uplink_result *r) {
	for (int i = 0; i < IMPAIRMENTS; i++) {
		if (r->hits[i] != 0)
			fprintf(out, "  %-12s %-20s %14" PRIu64 "\n", "impaired",
				impair_name((enum impairment)i), r->hits[i]);
	}
}

void summary_impairments_print(FILE *out, const struct uplink_result *r) {
	summary_impairments_hits(out, r);
	if (!r->expected_known) {
		fputs("  the expected losses are unknown: memory was short\n", out);
		return;
	}
	print_pair(out, "lost", r->expected.lost, r->lost);
	print_pair(out, "corrupted", r->expected.corrupted, r->corrupted);
	if (r->survived > 0)
		fprintf(out, "  %-12s %-20s %14" PRIu64 "\n", "proven", "but expected lost",
			r->survived);
}
