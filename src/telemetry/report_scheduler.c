/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/report_scheduler.h"

#include <inttypes.h>

#include "downstream/qos.h"
#include "scheduler/report.h"

static json_t *scheduler_integer(uint64_t value) {
	return json_integer((json_int_t)value);
}

/* Rounds to 1/`digits`, so that the same input gives the same text. */
static json_t *rounded(double value, double digits) {
	return json_real((double)(int64_t)(value * digits + 0.5) / digits);
}

static json_t *us(double ns) {
	return rounded(ns / 1000, 1000);
}

static double ratio(uint64_t part, uint64_t whole) {
	return whole == 0 ? 0 : (double)part / (double)whole;
}

/* Name of the drop reason of a verdict; NULL for SCHEDULER_QUEUED. */
static const char *verdict_name(enum scheduler_verdict verdict) {
	return verdict == SCHEDULER_QUEUED ? NULL : drop_name(ds_refusals[verdict]);
}

/* [[lower bound of the bucket in us, packets], ..], without empty buckets */
static json_t *scheduler_histogram_json(const struct scheduler_delay_report *r) {
	json_t *list = json_array();

	for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++) {
		if (r->buckets[b] > 0)
			json_array_append_new(list, json_pack("[o, o]",
							      us((double)scheduler_delay_floor(b)),
							      scheduler_integer(r->buckets[b])));
	}
	return list;
}

static json_t *delay_json(const struct scheduler *s) {
	json_t *list = json_array();

	for (unsigned p = SCHEDULER_PRIORITIES; p-- > 0;) {
		struct scheduler_delay_report r;

		scheduler_report_delay(s, p, &r);
		if (r.packets == 0)
			continue;
		json_array_append_new(
			list, json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "priority", (int)p,
					"packets", scheduler_integer(r.packets), "mean_us",
					us(ratio(r.sum_ns, r.packets)), "p50_us",
					us((double)scheduler_delay_quantile(&r, 500)), "p99_us",
					us((double)scheduler_delay_quantile(&r, 990)), "p99_9_us",
					us((double)scheduler_delay_quantile(&r, 999)), "histogram",
					scheduler_histogram_json(&r)));
	}
	return list;
}

static json_t *channels_json(const struct served_group *g) {
	const struct ds_upper *u = &g->downstream->upper;
	json_t *list = json_array();

	for (uint32_t c = 0; c < g->sg->channel_count; c++) {
		struct scheduler_channel_report r;
		uint64_t capacity = qos_capacity_now(g->downstream, c);

		if (!channel_exists(&g->sg->channels[c]))
			continue;
		scheduler_report_channel(u->scheduler, c, &r);
		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o, s:o, s:o}", "id",
						scheduler_integer(g->sg->channels[c].id), "rate",
						scheduler_integer(g->sg->channels[c].rate),
						"packets", scheduler_integer(r.packets), "bytes",
						scheduler_integer(r.bytes), "utilisation",
						rounded(ratio(r.bytes, capacity), 1e6)));
	}
	return list;
}

static json_t *groups_json(const struct served_group *g) {
	json_t *list = json_array();

	for (uint32_t b = 0; b < g->sg->bonding_group_count; b++) {
		struct scheduler_group_report r;

		if (!bonding_group_exists(&g->sg->bonding_groups[b]))
			continue;
		scheduler_report_group(g->downstream->upper.scheduler, b, &r);
		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "id",
					scheduler_integer(g->sg->bonding_groups[b].id), "channels",
					scheduler_integer(g->sg->bonding_groups[b].channel_count),
					"packets", scheduler_integer(r.packets), "early_share",
					rounded(ratio(r.early_packets, r.packets), 1e6),
					"mean_skew_us", us(ratio(r.skew_ns, r.packets)),
					"max_skew_us", us((double)r.max_skew_ns)));
	}
	return list;
}

static uint64_t scheduler_dropped(const struct scheduler_flow_report *r) {
	uint64_t sum = 0;

	for (unsigned v = 0; v < SCHEDULER_VERDICTS; v++)
		sum += r->drops[v];
	return sum;
}

json_t *report_flow_json(const struct service_flow *f, const struct scheduler_flow_report *r) {
	json_t *drops = json_object();

	for (enum scheduler_verdict v = SCHEDULER_QUEUED + 1; v < SCHEDULER_VERDICTS; v++) {
		if (r->drops[v] > 0)
			json_object_set_new(drops, verdict_name(v), scheduler_integer(r->drops[v]));
	}
	return json_pack("{s:o, s:i, s:o, s:o, s:o, s:o, s:o}", "id", scheduler_integer(f->id),
			 "priority", (int)f->priority, "packets", scheduler_integer(r->packets),
			 "bytes", scheduler_integer(r->bytes), "drops", drops, "waiting_packets",
			 scheduler_integer(r->waiting_packets), "waiting_bytes",
			 scheduler_integer(r->waiting_bytes));
}

static json_t *flows_json(const struct served_group *g, bool all) {
	json_t *list = json_array();

	for (size_t m = 0; m < g->sg->modem_count; m++) {
		const struct modem *modem = &g->sg->modems[m];

		for (size_t f = 0; f < modem->service_flow_count; f++) {
			struct scheduler_flow_report r;

			scheduler_report_flow(g->downstream->upper.scheduler,
					      ds_flow_number(g->downstream, m, f), &r);
			if (all || scheduler_dropped(&r) > 0)
				json_array_append_new(
					list, report_flow_json(&modem->service_flows[f], &r));
		}
	}
	return list;
}

json_t *report_scheduler_json(const struct served_group *g, enum report_flows flows) {
	json_t *json =
		json_pack("{s:o, s:o, s:o}", "delay", delay_json(g->downstream->upper.scheduler),
			  "channels", channels_json(g), "bonding_groups", groups_json(g));

	if (flows != REPORT_NO_FLOWS)
		json_object_set_new(json, "service_flows",
				    flows_json(g, flows == REPORT_ALL_FLOWS));
	return json;
}

static void print_delay(FILE *out, const struct scheduler *s) {
	for (unsigned p = SCHEDULER_PRIORITIES; p-- > 0;) {
		struct scheduler_delay_report r;

		scheduler_report_delay(s, p, &r);
		if (r.packets > 0)
			fprintf(out,
				"  priority %u: %" PRIu64
				" packets waited %.1f us, p50 %.0f, p99 %.0f, p99.9 %.0f\n",
				p, r.packets, ratio(r.sum_ns, r.packets) / 1000,
				(double)scheduler_delay_quantile(&r, 500) / 1000,
				(double)scheduler_delay_quantile(&r, 990) / 1000,
				(double)scheduler_delay_quantile(&r, 999) / 1000);
	}
}

/* Prints the lowest and highest utilisation of channels, and the largest skew of bonding groups. */
static void print_channels(FILE *out, const struct served_group *g) {
	const struct ds_upper *u = &g->downstream->upper;
	double min = 1, max = 0;
	uint64_t skew = 0;
	size_t channels = 0;

	for (uint32_t c = 0; c < g->sg->channel_count; c++) {
		struct scheduler_channel_report r;
		double fill;

		if (!channel_exists(&g->sg->channels[c]))
			continue;
		channels++;
		scheduler_report_channel(u->scheduler, c, &r);
		fill = ratio(r.bytes, qos_capacity_now(g->downstream, c));
		min = fill < min ? fill : min;
		max = fill > max ? fill : max;
	}
	for (uint32_t b = 0; b < g->sg->bonding_group_count; b++) {
		struct scheduler_group_report r;

		if (!bonding_group_exists(&g->sg->bonding_groups[b]))
			continue;
		scheduler_report_group(u->scheduler, b, &r);
		skew = r.max_skew_ns > skew ? r.max_skew_ns : skew;
	}
	fprintf(out, "  %zu channels %.1f to %.1f %% full, skew of bonded flows at most %.0f us\n",
		channels, 100 * min, 100 * max, (double)skew / 1000);
}

void report_scheduler_print(FILE *out, const struct served_group *g) {
	struct counters c;

	downstream_counters(g->downstream, &c);
	if (c.values[COUNTER_DEQUEUED] == 0)
		return;
	print_delay(out, g->downstream->upper.scheduler);
	print_channels(out, g);
}
