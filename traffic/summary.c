/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary's shape is fixed for the keys that other programs read; more stand beside them. */
#include "summary.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const class_names[CLASS_COUNT] = {
	[CLASS_UNMATCHED] = "unmatched",
	[CLASS_PERMIT] = "permit",
	[CLASS_CLASSIFIED] = "classified",
};

static void set_count(json_t *o, const char *key, uint64_t value) {
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static void set_real(json_t *o, const char *key, double value) {
	json_object_set_new(o, key, json_real(value));
}

static void set_counts(json_t *o, const char *key, const char *const *names, const uint64_t *values,
		       int n) {
	json_t *counts = json_object();

	for (int i = 0; i < n; i++)
		set_count(counts, names[i], values[i]);
	json_object_set_new(o, key, counts);
}

static void set_latency(json_t *o, const struct traffic_result *r) {
	json_t *latency = json_object();

	set_real(latency, "mean", r->latency_us.mean);
	set_real(latency, "p50", r->latency_us.p50);
	set_real(latency, "p99", r->latency_us.p99);
	set_real(latency, "p99_9", r->latency_us.p99_9);
	set_real(latency, "max", r->latency_us.max);
	json_object_set_new(o, "latency_us", latency);
}

static void set_resequencing(json_t *o, const struct traffic_result *r) {
	json_t *resequencing = json_object();

	set_count(resequencing, "packets", r->resequenced);
	set_count(resequencing, "deepest", r->resequencing_deepest);
	set_count(resequencing, "given_up", r->resequencing_given_up);
	json_object_set_new(o, "resequencing", resequencing);
}

static void set_descheduled(json_t *o, const struct traffic_result *r) {
	json_t *descheduled = json_object();

	set_count(descheduled, "count", r->descheduled);
	set_real(descheduled, "longest_us", r->descheduled_longest_us);
	json_object_set_new(o, "descheduled", descheduled);
}

json_t *summary_json(const struct traffic_result *r) {
	json_t *o = json_object();

	if (o == NULL)
		return NULL;
	set_count(o, "sent", r->sent);
	set_count(o, "proven", r->proven);
	set_count(o, "lost", r->lost);
	set_count(o, "duplicated", r->duplicated);
	set_count(o, "reordered", r->reordered);
	set_count(o, "corrupted", r->corrupted);
	set_real(o, "gbps", r->gbps);
	set_real(o, "seconds", r->seconds);
	set_latency(o, r);
	set_count(o, "sent_bytes", r->sent_bytes);
	set_count(o, "proven_bytes", r->proven_bytes);
	set_counts(o, "sent_by_class", class_names, r->sent_by_class, CLASS_COUNT);
	set_counts(o, "corrupted_by", corruption_names, r->corrupted_by, CORRUPTIONS);
	set_counts(o, "unexpected", unexpected_names, r->unexpected, UNEXPECTEDS);
	set_counts(o, "depi_violations", violation_names, r->violations, VIOLATIONS);
	set_count(o, "depi_frames", r->depi_frames);
	set_count(o, "depi_bytes", r->depi_bytes);
	set_resequencing(o, r);
	set_count(o, "transmit_backpressure", r->transmit_backpressure);
	set_count(o, "no_buffers", r->no_buffers);
	set_descheduled(o, r);
	return o;
}

int summary_write(const char *path, const struct traffic_result *r) {
	json_t *summary = json_pack("{s:o?}", "downstream", summary_json(r));
	FILE *out = fopen(path, "w");
	int ret = -1;

	if (out == NULL) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	} else {
		ret = summary == NULL
			      ? -1
			      : json_dumpf(summary, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
		if (ret == 0)
			ret = fputc('\n', out) == EOF ? -1 : 0;
		if (fclose(out) != 0 || ret != 0) {
			fprintf(stderr, "%s: cannot be written\n", path);
			ret = -1;
		}
	}
	json_decref(summary);
	return ret;
}

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

void summary_table(FILE *out, const struct traffic_result *r) {
	print_count(out, "sent", r->sent, 0);
	print_count(out, "proven", r->proven, r->sent);
	print_count(out, "lost", r->lost, r->sent);
	print_count(out, "duplicated", r->duplicated, r->sent);
	print_count(out, "reordered", r->reordered, r->sent);
	print_count(out, "corrupted", r->corrupted, r->sent);
	print_reasons(out, "corrupted", corruption_names, r->corrupted_by, CORRUPTIONS);
	print_reasons(out, "unexpected", unexpected_names, r->unexpected, UNEXPECTEDS);
	print_reasons(out, "DEPI", violation_names, r->violations, VIOLATIONS);
	fprintf(out, "%-12s %14.3f Gbps proven in %.2f s, %.2f Gbps sent\n", "rate", r->gbps,
		r->seconds, r->seconds > 0 ? (double)r->sent_bytes * 8e-9 / r->seconds : 0.0);
	fprintf(out, "%-12s %14.1f us mean, %.1f p50, %.1f p99, %.1f p99.9, %.1f max\n", "latency",
		r->latency_us.mean, r->latency_us.p50, r->latency_us.p99, r->latency_us.p99_9,
		r->latency_us.max);
	if (r->descheduled > 0)
		fprintf(out,
			"%-12s %14" PRIu64
			" times for more than 1 ms, at most %.0f us: this core is "
			"not ours alone\n",
			"descheduled", r->descheduled, r->descheduled_longest_us);
}
