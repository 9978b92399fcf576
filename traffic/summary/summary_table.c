/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the results as tables. */
#include <inttypes.h>

#include "summary/summary_grants.h"
#include "summary/summary_groups.h"
#include "summary/summary_impairments.h"
#include "summary/summary_parts.h"

static void print_reasons(FILE *out, const char *title, const char *const *names,
			  const uint64_t *values, int n) {
	for (int i = 0; i < n; i++) {
		if (values[i] != 0)
			fprintf(out, "  %-12s %-20s %14" PRIu64 "\n", title, names[i], values[i]);
	}
}

static void print_count(FILE *out, const char *name, uint64_t value, uint64_t of) {
	fprintf(out, "%-12s %14" PRIu64, name, value);
	if (of != 0)
		fprintf(out, "  %10.5f %%", 100.0 * (double)value / (double)of);
	fputc('\n', out);
}

static void print_counts(FILE *out, const struct common *c) {
	print_count(out, "sent", c->sent, 0);
	print_count(out, "proven", c->proven, c->sent);
	print_count(out, "lost", c->lost, c->sent);
	if (c->overtaken > 0)
		print_count(out, "overtaken", c->overtaken, c->sent);
	print_count(out, "duplicated", c->duplicated, c->sent);
	print_count(out, "reordered", c->reordered, c->sent);
	print_count(out, "corrupted", c->corrupted, c->sent);
	if (c->undecipherable > 0)
		print_count(out, "undecipherable", c->undecipherable, c->sent);
	if (c->unaccounted != 0)
		fprintf(out,
			"%-12s %14" PRId64 "  packets unaccounted for: sent is not the sum of "
			"proven, lost, corrupted, undecipherable and "
			"overtaken\n",
			"unaccounted", c->unaccounted);
}

static void print_measures(FILE *out, const struct common *c) {
	fprintf(out, "%-12s %14.3f Gbps proven in %.2f s, %.2f Gbps sent\n", "rate", c->gbps,
		c->seconds,
		c->sent_seconds > 0 ? (double)c->sent_bytes * 8e-9 / c->sent_seconds : 0.0);
	if (c->latency != NULL && c->latency->total_count > 0)
		fprintf(out,
			"%-12s %14.1f us mean, %.1f p50, %.1f p99, %.1f p99.9, %.1f p99.999, %.1f "
			"max\n",
			"latency", c->latency_us.mean, c->latency_us.p50, c->latency_us.p99,
			c->latency_us.p99_9, c->latency_us.p99_999, c->latency_us.max);
	if (c->descheduled > 0)
		fprintf(out,
			"%-12s %14" PRIu64
			" times for more than 1 ms, at most %.0f us: other threads use "
			"this core\n",
			"descheduled", c->descheduled, c->descheduled_longest_us);
}

static void downstream_table(FILE *out, const struct traffic_result *r) {
	struct common common = downstream_common(r);

	fputs("downstream\n", out);
	print_counts(out, &common);
	print_reasons(out, "corrupted", corruption_names, r->corrupted_by, CORRUPTIONS);
	print_reasons(out, "unexpected", unexpected_names, r->unexpected, UNEXPECTEDS);
	print_reasons(out, "DEPI", violation_names, r->violations, VIOLATIONS);
	if (r->skipped > 0)
		print_count(out, "skipped", r->skipped, 0);
	print_measures(out, &common);
}

static void upstream_table(FILE *out, const struct uplink_result *r) {
	struct common common = upstream_common(r);

	fputs("upstream\n", out);
	print_counts(out, &common);
	print_reasons(out, "corrupted", uplink_corruption_names, r->corrupted_by,
		      UPLINK_CORRUPTIONS);
	print_reasons(out, "unexpected", uplink_unexpected_names, r->unexpected,
		      UPLINK_UNEXPECTEDS);
	if (r->scheduled)
		summary_grants_print(out, &r->grants);
	if (r->impaired)
		summary_impairments_print(out, r);
	print_measures(out, &common);
}

static void sent_table(FILE *out, const char *direction, const struct common *c) {
	double rate = c->seconds > 0 ? (double)c->sent_bytes * 8e-9 / c->seconds : 0.0;

	fprintf(out, "%s\n", direction);
	print_count(out, "sent", c->sent, 0);
	fprintf(out, "%-12s %14.3f Gbps sent in %.2f s\n", "rate", rate, c->seconds);
	fputs("not received\n", out);
}

static void sent_tables(FILE *out, const struct summary *s) {
	struct common common;

	if (s->downstream != NULL) {
		common = downstream_common(s->downstream);
		sent_table(out, "downstream", &common);
	}
	if (s->upstream != NULL) {
		common = upstream_common(s->upstream);
		sent_table(out, "upstream", &common);
		if (s->upstream->impaired)
			summary_impairments_hits(out, s->upstream);
	}
}

void summary_table(FILE *out, const struct summary *s) {
	if (s->send_only) {
		sent_tables(out, s);
		return;
	}
	if (s->downstream != NULL)
		downstream_table(out, s->downstream);
	if (s->upstream != NULL)
		upstream_table(out, s->upstream);
	if (s->group_count > 1)
		summary_groups_print(out, s);
}
