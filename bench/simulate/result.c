/* SPDX-License-Identifier: BSD-3-Clause */
#include "result.h"

#include "numbers.h"

static json_t *share(double part, double whole) {
	return whole > 0 ? numbers_real(part / whole) : json_null();
}

static json_t *delays(const struct hdr_histogram *h) {
	static const struct numbers_quantile quantiles[] = {
		{"median", 50}, {"p90", 90}, {"p95", 95}, {"p99", 99}, {"max", 100}};
	json_t *out = json_object();

	if (h->total_count > 0)
		numbers_quantiles(out, h, MEASURE_UNIT, quantiles,
				  sizeof(quantiles) / sizeof(quantiles[0]));
	return out;
}

/* Measured time. */
static double seconds(const struct simulation *s) {
	return (double)(s->scenario->duration - s->scenario->warmup) / 1e9;
}

static json_t *drops(const struct flow_measure *m) {
	static const char *const names[SCHEDULER_VERDICTS] = {
		[SCHEDULER_FLOW_FULL] = "flow_full", [SCHEDULER_FULL] = "full",
		[SCHEDULER_WRED_DROP] = "wred",	     [SCHEDULER_PIE_DROP] = "docsis_pie",
		[SCHEDULER_TOO_LONG] = "too_long",   [SCHEDULER_NO_FLOW] = "no_flow",
	};
	json_t *out = json_object();

	for (unsigned v = SCHEDULER_QUEUED + 1; v < SCHEDULER_VERDICTS; v++)
		json_object_set_new(out, names[v], json_integer((json_int_t)m->drops[v]));
	return out;
}

static json_t *flow_summary(const struct simulation *s, uint32_t flow) {
	const struct flow_measure *m = &s->flows[flow];
	uint64_t dropped = 0;
	json_t *out = json_object();

	for (unsigned v = 0; v < SCHEDULER_VERDICTS; v++)
		dropped += m->drops[v];
	json_object_set_new(out, "delay_ms", delays(m->delay));
	json_object_set_new(out, "mbps", numbers_real((double)m->bytes * 8e-6 / seconds(s)));
	json_object_set_new(out, "utilisation", share((double)m->bytes, m->capacity));
	json_object_set_new(out, "packets", json_integer((json_int_t)m->packets));
	json_object_set_new(out, "loss", share((double)dropped, (double)(m->packets + dropped)));
	json_object_set_new(out, "drops", drops(m));
	return out;
}

/* Includes Jain's index of the senders' shares, and the sums of window reductions and timeouts. */
static json_t *group_summary(const struct simulation *s, uint32_t group) {
	const struct group_measure *m = &s->groups[group];
	const struct sender_group *g = &s->scenario->groups[group];
	double sum = 0, squares = 0;
	uint64_t timeouts = 0, reductions = 0;
	json_t *out = json_object();

	for (unsigned i = 0; i < s->sender_count; i++) {
		const struct sender *sender = &s->senders[i];

		if (sender->group != g)
			continue;
		sum += (double)sender->bytes;
		squares += (double)sender->bytes * (double)sender->bytes;
		timeouts += sender->tcp.timeouts;
		reductions += sender->tcp.reductions;
	}
	json_object_set_new(out, "label", json_string(g->label));
	json_object_set_new(out, "count", json_integer(g->count));
	json_object_set_new(out, "mbps", numbers_real((double)m->bytes * 8e-6 / seconds(s)));
	json_object_set_new(out, "delay_ms", delays(m->delay));
	json_object_set_new(out, "loss", share((double)m->drops, (double)(m->packets + m->drops)));
	json_object_set_new(out, "fairness", share(sum * sum, squares * g->count));
	json_object_set_new(out, "timeouts", json_integer((json_int_t)timeouts));
	json_object_set_new(out, "reductions", json_integer((json_int_t)reductions));
	return out;
}

/* One array per quantity, with one entry per sample interval. */
static json_t *series(const struct simulation *s, uint32_t flow) {
	const struct flow_measure *m = &s->flows[flow];
	double interval = (double)s->scenario->sample / 1e9;
	json_t *delay = json_array(), *most = json_array(), *mbps = json_array();
	json_t *dropped = json_array(), *waiting = json_array(), *probability = json_array();

	for (size_t i = 0; i < m->sample_count; i++) {
		const struct sample *p = &m->samples[i];

		json_array_append_new(delay, share((double)p->delay_sum / 1e6, (double)p->packets));
		json_array_append_new(most, numbers_real((double)p->delay_max / 1e6));
		json_array_append_new(mbps, numbers_real((double)p->bytes * 8e-6 / interval));
		json_array_append_new(dropped, json_integer((json_int_t)p->drops));
		json_array_append_new(waiting, json_integer(p->waiting_bytes));
		json_array_append_new(probability, numbers_real(p->probability));
	}
	return json_pack("{s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "interval", interval, "delay_ms",
			 delay, "delay_max_ms", most, "mbps", mbps, "drops", dropped, "queue_bytes",
			 waiting, "drop_probability", probability);
}

static json_t *channels(const struct simulation *s) {
	double bytes = 0, rate = 0;

	for (uint32_t f = 0; f < s->scenario->flow_count; f++)
		bytes += (double)s->flows[f].bytes;
	for (uint32_t c = 0; c < s->scenario->channel_count; c++)
		rate += (double)s->scenario->channel_rates[c];
	return json_pack("{s:o}", "utilisation", share(bytes * 8, rate * seconds(s)));
}

json_t *result_json(const struct simulation *s) {
	json_t *flows = json_array(), *senders = json_array(), *all_series = json_array();

	for (uint32_t f = 0; f < s->scenario->flow_count; f++) {
		json_array_append_new(flows, flow_summary(s, f));
		json_array_append_new(all_series, series(s, f));
	}
	for (uint32_t g = 0; g < s->scenario->group_count; g++)
		json_array_append_new(senders, group_summary(s, g));
	return json_pack("{s:o, s:o, s:o, s:o}", "service_flows", flows, "senders", senders,
			 "channels", channels(s), "series", all_series);
}
