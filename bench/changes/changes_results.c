/* SPDX-License-Identifier: BSD-3-Clause */
#include "changes_results.h"

#include "pipeline/percentiles.h"

/* In us. */
static json_t *times_json(const struct hdr_histogram *ns) {
	struct percentiles p = percentiles_us(ns);

	return json_pack("{s:I, s:f, s:f, s:f, s:f}", "count", (json_int_t)ns->total_count, "p50",
			 p.p50, "p99", p.p99, "p99_9", p.p99_9, "max", p.max);
}

static json_t *loop_times_json(const struct loop_times *t) {
	json_t *json = times_json(t->ns);

	json_object_set_new(json, "above_100", json_integer((json_int_t)t->above));
	json_object_set_new(json, "disturbed", json_integer((json_int_t)t->disturbed));
	return json;
}

json_t *result_json(const struct bed *b) {
	const struct loop_figures *f = &b->loops[0].figures;
	struct bed_result r;
	json_t *json, *steps = json_object();

	bed_result(b, &r);
	for (unsigned k = 0; k < CHANGE_KINDS; k++) {
		if (f->steps[k].ns->total_count + (int64_t)f->steps[k].disturbed > 0)
			json_object_set_new(steps, change_names[k], loop_times_json(&f->steps[k]));
	}
	json = json_pack("{s:I, s:I, s:I, s:I, s:f, s:f}", "sent", (json_int_t)r.sent, "proven",
			 (json_int_t)r.proven, "lost", (json_int_t)r.lost, "wrong",
			 (json_int_t)r.wrong, "gbps", r.gbps, "upstream_gbps", r.upstream_gbps);
	json_object_set_new(
		json, "latency_us",
		json_pack("{s:f, s:f, s:f}", "p50", r.p50, "p99", r.p99, "p99_9", r.p99_9));
	json_object_set_new(json, "cycles_per_packet",
			    json_real(r.proven > 0 ? (double)r.cycles / (double)r.proven : 0));
	json_object_set_new(
		json, "stage_cycles_per_packet",
		json_real(r.proven > 0 ? (double)r.stage_cycles / (double)r.proven : 0));
	json_object_set_new(json, "rounds_us", loop_times_json(&f->rounds));
	json_object_set_new(json, "steps_us", steps);
	return json;
}

void driver_json(const struct driver *d, uint64_t count, unsigned milliseconds, json_t *found) {
	json_t *requests = json_object();

	for (unsigned k = 0; k < DRIVER_KINDS; k++) {
		const struct driver_figures *f = &d->figures[k];

		json_object_set_new(requests, change_names[k],
				    json_pack("{s:o, s:o, s:I}", "answer_us", times_json(f->ns),
					      "work_us", times_json(f->work_ns), "refused",
					      (json_int_t)f->refused));
	}
	if (found == NULL) {
		json_decref(requests);
		return;
	}
	json_object_set_new(found, "requests", requests);
	json_object_set_new(found, "changes_per_second",
			    json_real((double)count * 1000 / milliseconds));
	json_object_set_new(found, "late", json_integer((json_int_t)d->late));
}
