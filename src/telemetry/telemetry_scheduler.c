/* SPDX-License-Identifier: BSD-3-Clause */
/* What is answered of the scheduler. */
#include "telemetry/telemetry_scheduler.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "downstream/qos.h"
#include "model/units.h"
#include "scheduler/report.h"
#include "telemetry/report_scheduler.h"
#include "telemetry/telemetry_answer.h"

/* Answers have at most 16 kB in DPDK 22.11: lists come in parts. */
#define PART 64

static uint64_t now(const struct served_group *g) {
	return __atomic_load_n(&g->downstream->upper.clock->now, __ATOMIC_RELAXED);
}

static uint64_t per_million(uint64_t part, uint64_t whole) {
	return whole == 0 ? 0 : (uint64_t)((double)part * 1e6 / (double)whole);
}

static void put_delay(struct rte_tel_data *d, const struct scheduler_delay_report *r) {
	telemetry_put(d, "packets", r->packets);
	telemetry_put(d, "mean_ns", r->packets == 0 ? 0 : r->sum_ns / r->packets);
	telemetry_put(d, "p50_ns", scheduler_delay_quantile(r, 500));
	telemetry_put(d, "p99_ns", scheduler_delay_quantile(r, 990));
	telemetry_put(d, "p99_9_ns", scheduler_delay_quantile(r, 999));
}

static void scheduler_put_histogram(struct rte_tel_data *d,
				    const struct scheduler_delay_report *r) {
	for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++) {
		char name[TELEMETRY_NUMBER];

		if (r->buckets[b] == 0)
			continue;
		snprintf(name, sizeof(name), "%" PRIu64, scheduler_delay_floor(b));
		telemetry_put(d, name, r->buckets[b]);
	}
}

/* Without a parameter all priorities; with one its histogram. */
int telemetry_delay(struct served_group *g, const char *params, struct rte_tel_data *d) {
	const struct scheduler *s = g->downstream->upper.scheduler;
	struct scheduler_delay_report r;
	uint64_t priority;

	rte_tel_data_start_dict(d);
	if (params != NULL) {
		if (!telemetry_number(params, SCHEDULER_PRIORITIES - 1, &priority))
			return telemetry_complain(d, "found no priority, allowed: 0 to 7");
		scheduler_report_delay(s, (unsigned)priority, &r);
		scheduler_put_histogram(d, &r);
		return 0;
	}
	for (unsigned p = 0; p < SCHEDULER_PRIORITIES; p++) {
		struct rte_tel_data *in = telemetry_inner(d, p);

		scheduler_report_delay(s, p, &r);
		if (in != NULL)
			put_delay(in, &r);
	}
	return 0;
}

/* The part of a list of `count` items that begins at the index in `params`. */
static bool scheduler_part(const char *params, size_t count, size_t *from, size_t *to) {
	uint64_t first = 0;

	if (params != NULL && !telemetry_number(params, count, &first))
		return false;
	*from = first;
	*to = first + PART < count ? first + PART : count;
	return true;
}

/* Places up to the last one that is not free. */
static size_t channels_end(const struct service_group *sg) {
	size_t end = sg->channel_count;

	while (end > 0 && !channel_is_there(&sg->channels[end - 1]))
		end--;
	return end;
}

static size_t groups_end(const struct service_group *sg) {
	size_t end = sg->bonding_group_count;

	while (end > 0 && !bonding_group_is_there(&sg->bonding_groups[end - 1]))
		end--;
	return end;
}

int telemetry_channels(struct served_group *g, const char *params, struct rte_tel_data *d) {
	const struct service_group *sg = g->sg;
	size_t from, to;

	if (!scheduler_part(params, channels_end(sg), &from, &to))
		return telemetry_complain(
			d, "found no index, allowed: that of the first channel to tell");
	rte_tel_data_start_dict(d);
	for (size_t c = from; c < to; c++) {
		struct scheduler_channel_report r;
		struct rte_tel_data *in;

		if (!channel_is_there(&sg->channels[c]))
			continue;
		in = telemetry_inner(d, sg->channels[c].id);
		if (in == NULL)
			break;
		scheduler_report_channel(g->downstream->upper.scheduler, (uint32_t)c, &r);
		telemetry_put(in, "rate", sg->channels[c].rate);
		telemetry_put(in, "packets", r.packets);
		telemetry_put(in, "bytes", r.bytes);
		telemetry_put(
			in, "utilisation_ppm",
			per_million(r.bytes, qos_capacity(g->downstream, (uint32_t)c, now(g))));
	}
	return 0;
}

int telemetry_groups(struct served_group *g, const char *params, struct rte_tel_data *d) {
	const struct service_group *sg = g->sg;
	size_t from, to;

	if (!scheduler_part(params, groups_end(sg), &from, &to))
		return telemetry_complain(
			d, "found no index, allowed: that of the first group to tell");
	rte_tel_data_start_dict(d);
	for (size_t b = from; b < to; b++) {
		struct scheduler_group_report r;
		struct rte_tel_data *in;

		if (!bonding_group_is_there(&sg->bonding_groups[b]))
			continue;
		in = telemetry_inner(d, sg->bonding_groups[b].id);
		if (in == NULL)
			break;
		scheduler_report_group(g->downstream->upper.scheduler, (uint32_t)b, &r);
		telemetry_put(in, "channels", sg->bonding_groups[b].channel_count);
		telemetry_put(in, "packets", r.packets);
		telemetry_put(in, "early_packets", r.early_packets);
		telemetry_put(in, "skew_ns", r.skew_ns);
		telemetry_put(in, "max_skew_ns", r.max_skew_ns);
	}
	return 0;
}

static void put_flow(struct rte_tel_data *d, const struct served_group *g,
		     const struct service_flow *f, uint32_t index) {
	static const char *const aqms[] = {
		[AQM_TAIL_DROP] = "tail-drop",
		[AQM_WRED] = "wred",
		[AQM_DOCSIS_PIE] = "docsis-pie",
	};
	struct scheduler_flow_report r;

	scheduler_report_flow(g->downstream->upper.scheduler, index, &r);
	telemetry_put(d, "priority", f->priority);
	telemetry_put(d, "bonding_group", g->sg->bonding_groups[f->bonding_group].id);
	telemetry_put(d, "max_sustained_rate", f->sustained_rate);
	telemetry_put_text(d, "aqm", aqms[f->aqm]);
	telemetry_put(d, "packets", r.packets);
	telemetry_put(d, "bytes", r.bytes);
	telemetry_put(d, "waiting_packets", r.waiting_packets);
	telemetry_put(d, "waiting_bytes", r.waiting_bytes);
	if (f->aqm == AQM_DOCSIS_PIE)
		telemetry_put(d, "drop_probability_ppm",
			      per_million(r.drop_probability, UINT32_MAX));
	for (enum scheduler_verdict v = SCHEDULER_QUEUED + 1; v < SCHEDULER_VERDICTS; v++) {
		if (r.drops[v] > 0)
			telemetry_put(d, report_verdict_name(v), r.drops[v]);
	}
}

static void put_mac(struct rte_tel_data *d, const uint8_t *mac) {
	char text[UNITS_TEXT_SIZE];

	units_format_mac(mac, text);
	telemetry_put_text(d, "modem", text);
}

int telemetry_flow(struct served_group *g, const char *params, struct rte_tel_data *d) {
	const struct service_group *sg = g->sg;
	uint64_t id;

	if (!telemetry_number(params, UINT32_MAX, &id))
		return telemetry_complain(d, "found no number, allowed: a service flow ID");
	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct modem *modem = &sg->modems[m];

		for (size_t f = 0; f < modem->service_flow_count; f++) {
			if (modem->service_flows[f].id != id)
				continue;
			rte_tel_data_start_dict(d);
			put_mac(d, modem->mac);
			put_flow(d, g, &modem->service_flows[f],
				 ds_flow_number(g->downstream, m, f));
			return 0;
		}
	}
	return telemetry_complain(d, "no downstream service flow has this ID");
}

/* By MAC address, or by its place in the configuration. SG_MAX_MODEMS for none. */
static size_t find_modem(const struct service_group *sg, const char *text) {
	const struct modem *found;
	uint8_t mac[6];
	uint64_t place;

	if (telemetry_number(text, sg->modem_count - 1, &place))
		return modem_is_there(&sg->modems[place]) ? place : SG_MAX_MODEMS;
	if (text == NULL || !units_parse_mac(text, mac))
		return SG_MAX_MODEMS;
	found = modem_by_mac(sg, mac);
	return found != NULL ? (size_t)(found - sg->modems) : SG_MAX_MODEMS;
}

int telemetry_modem(struct served_group *g, const char *params, struct rte_tel_data *d) {
	const struct service_group *sg = g->sg;
	size_t found = find_modem(sg, params);

	if (found == SG_MAX_MODEMS)
		return telemetry_complain(d, "no modem has this MAC address or index");
	rte_tel_data_start_dict(d);
	put_mac(d, sg->modems[found].mac);
	telemetry_put(d, "max_aggregate_rate", sg->modems[found].aggregate_rate);
	for (size_t f = 0; f < sg->modems[found].service_flow_count; f++) {
		const struct service_flow *flow_of = &sg->modems[found].service_flows[f];
		struct rte_tel_data *in = telemetry_inner(d, flow_of->id);

		if (in != NULL)
			put_flow(in, g, flow_of, ds_flow_number(g->downstream, found, f));
	}
	return 0;
}
