/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_ethdev.h>

#include "model/units.h"
#include "sharing/sharing.h"
#include "telemetry/report_latency.h"
#include "telemetry/report_scheduler.h"

static json_t *report_integer(uint64_t value) {
	return json_integer((json_int_t)value);
}

static json_t *real(double value) {
	return json_real((double)(int64_t)(value * 1000 + 0.5) / 1000);
}

static json_t *drops_json(const struct counters *c, enum direction direction) {
	json_t *o = json_object();

	for (unsigned r = 0; r < DROP_REASONS; r++) {
		if (drop_in((enum drop_reason)r, direction))
			json_object_set_new(o, drop_name((enum drop_reason)r),
					    report_integer(c->drops[r]));
	}
	return o;
}

static json_t *counters_json(const struct counters *c, enum direction direction) {
	json_t *o = json_object();

	for (unsigned i = 0; i < COUNTERS; i++) {
		if (counter_in((enum counter)i, direction))
			json_object_set_new(o, counter_name((enum counter)i),
					    report_integer(c->values[i]));
	}
	return o;
}

/* Cycles of each stage of several pipelines over `packets`. */
static json_t *report_cycles_json(const struct pipeline *const *pipelines, unsigned count,
				  uint64_t packets, const struct host *host) {
	json_t *stages = json_object();
	uint64_t total = 0, readings = 0;

	for (unsigned l = 0; l < count; l++) {
		const struct pipeline *p = pipelines[l];

		for (unsigned s = 0; s < p->count; s++) {
			total += p->accounts[s].cycles;
			readings += p->accounts[s].calls;
			json_object_set_new(stages, p->stages[s].name,
					    real((double)p->accounts[s].cycles / (double)packets));
		}
	}
	return json_pack("{s:o, s:o, s:o}", "total", real((double)total / (double)packets),
			 "accounting",
			 real((double)(readings * host->tsc_read_cycles) / (double)packets),
			 "stages", stages);
}

static json_t *workers_json(const struct instance *i, const struct host *host) {
	json_t *list = json_array();

	for (unsigned w = 0; w < i->worker_count; w++) {
		const struct worker *k = &i->workers[w];
		uint64_t cycles = k->busy_cycles + k->idle_cycles;

		json_array_append_new(
			list,
			json_pack("{s:s, s:I, s:I, s:o, s:{s:I, s:o}}", "name", k->name, "rounds",
				  (json_int_t)k->rounds, "busy_rounds", (json_int_t)k->busy_rounds,
				  "busy_share",
				  real(cycles ? (double)k->busy_cycles / (double)cycles : 0),
				  "descheduled", "count", (json_int_t)k->descheduled, "longest_us",
				  real((double)k->longest * 1e6 / (double)host->tsc_hz)));
	}
	return list;
}

/* What the drivers lost before the pipeline saw it, or after. */
static json_t *port_json(uint16_t port) {
	struct rte_eth_stats s = {0};

	rte_eth_stats_get(port, &s);
	return json_pack("{s:I, s:I, s:I, s:I}", "missed", (json_int_t)s.imissed, "receive_errors",
			 (json_int_t)s.ierrors, "no_buffer", (json_int_t)s.rx_nombuf,
			 "transmit_errors", (json_int_t)s.oerrors);
}

static json_t *host_json(const struct host *h) {
	return json_pack("{s:s, s:I, s:I}", "cpu", h->cpu, "tsc_hz", (json_int_t)h->tsc_hz,
			 "core_hz", (json_int_t)h->core_hz);
}

static bool downstream_balanced(const struct instance *i) {
	struct counters c;

	downstream_counters(i->downstream, &c);
	return c.values[COUNTER_RECEIVED] == c.values[COUNTER_TRANSMITTED] + counters_dropped(&c) +
						     downstream_held(i->downstream);
}

bool report_balanced(const struct instance *i) {
	return downstream_balanced(i) && (i->upstream == NULL || upstream_balanced(i->upstream));
}

static json_t *downstream_json(struct instance *i, const struct host *host) {
	const struct pipeline *lists[DS_PIPELINES];
	struct counters c;
	json_t *down;

	downstream_counters(i->downstream, &c);
	for (unsigned l = 0; l < DS_PIPELINES; l++)
		lists[l] = downstream_pipeline(i->downstream, l);
	down = json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "received",
			 report_integer(c.values[COUNTER_RECEIVED]), "transmitted",
			 report_integer(c.values[COUNTER_TRANSMITTED]), "held",
			 report_integer(downstream_held(i->downstream)), "dropped",
			 report_integer(counters_dropped(&c)), "balanced", downstream_balanced(i),
			 "drops", drops_json(&c, DIRECTION_DOWN), "counters",
			 counters_json(&c, DIRECTION_DOWN));
	json_object_set_new(down, "scheduler", report_scheduler_json(i));
	if (host != NULL)
		json_object_set_new(down, "pipeline_latency_us",
				    report_latency_whole(i, DIRECTION_DOWN));
	if (host != NULL && c.values[COUNTER_RECEIVED] > 0)
		json_object_set_new(
			down, "cycles_per_packet",
			report_cycles_json(lists, DS_PIPELINES, c.values[COUNTER_RECEIVED], host));
	return down;
}

static json_t *units_json(const struct upstream *u) {
	json_t *units = json_object();

	for (enum unit unit = 0; unit < UNITS; unit++)
		json_object_set_new(
			units, unit_name(unit),
			json_pack("{s:o, s:o, s:o, s:o}", "in",
				  report_integer(upstream_in(u, unit)), "out",
				  report_integer(upstream_out(u, unit)), "dropped",
				  report_integer(counters_dropped_units(&u->counters, unit)),
				  "held", report_integer(upstream_held(u, unit))));
	return units;
}

static json_t *asked_json(const uint32_t *by_kind) {
	json_t *kinds = json_object();

	for (unsigned k = 0; k < REQUEST_KINDS; k++) {
		if (by_kind[k] > 0)
			json_object_set_new(kinds, us_request_name((enum us_request_kind)k),
					    report_integer(by_kind[k]));
	}
	return kinds;
}

/* By MAC address, those who asked. */
static json_t *asking_json(const struct service_group *sg, const struct us_request_sink *sink) {
	json_t *modems = json_object();

	for (uint32_t m = 0; m < sink->modems; m++) {
		json_t *kinds = asked_json(sink->by_modem[m]);
		char text[UNITS_TEXT_SIZE];

		units_format_mac(sg->modems[m].mac, text);
		if (json_object_size(kinds) > 0)
			json_object_set(modems, text, kinds);
		json_decref(kinds);
	}
	return modems;
}

static json_t *requests_json(const struct service_group *sg, const struct us_request_sink *sink) {
	json_t *kinds = json_object();

	for (unsigned k = 0; k < REQUEST_KINDS; k++)
		json_object_set_new(kinds, us_request_name((enum us_request_kind)k),
				    report_integer(sink->by_kind[k]));
	return json_pack("{s:o, s:o, s:o}", "by_kind", kinds, "modems",
			 report_integer(us_request_sink_modems(sink)), "by_modem",
			 asking_json(sg, sink));
}

static json_t *upstream_json(struct upstream *u, const struct host *host) {
	const struct pipeline *lists[US_PIPELINES];
	const struct counters *c = &u->counters;
	uint64_t transmitted = c->values[COUNTER_TRANSMITTED];
	uint64_t held = 0;
	json_t *up;

	for (unsigned l = 0; l < US_PIPELINES; l++)
		lists[l] = upstream_pipeline(u, l);
	for (enum unit unit = 0; unit < UNITS; unit++)
		held += upstream_held(u, unit);
	up = json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "received",
		       report_integer(c->values[COUNTER_RECEIVED]), "transmitted",
		       report_integer(transmitted), "held", report_integer(held), "dropped",
		       report_integer(counters_dropped(c)), "balanced", upstream_balanced(u),
		       "units", units_json(u), "drops", drops_json(c, DIRECTION_UP), "counters",
		       counters_json(c, DIRECTION_UP), "requests",
		       requests_json(u->sg, &u->requests.sink));
	if (host != NULL && transmitted > 0)
		json_object_set_new(up, "cycles_per_packet",
				    report_cycles_json(lists, US_PIPELINES, transmitted, host));
	return up;
}

json_t *report_json(struct instance *i, const struct host *host, double seconds) {
	json_t *down = downstream_json(i, host), *up;
	json_t *root = json_pack("{s:o}", "downstream", down);

	if (i->upstream != NULL) {
		up = upstream_json(i->upstream, host);
		json_object_set_new(root, "upstream", up);
		if (host != NULL) {
			json_object_set_new(up, "seconds", real(seconds));
			json_object_set_new(up, "pipeline_latency_us",
					    report_latency_whole(i, DIRECTION_UP));
		}
	}
	if (host == NULL)
		return root;
	json_object_set_new(down, "seconds", real(seconds));
	json_object_set_new(root, "workers", workers_json(i, host));
	json_object_set_new(root, "ports",
			    json_pack("{s:o, s:o}", "network", port_json(i->ports[0]), "rphy",
				      port_json(i->ports[1])));
	json_object_set_new(root, "host", host_json(host));
	return root;
}

bool report_is_stdout(const char *path) {
	return path != NULL && strcmp(path, "-") == 0;
}

int report_write(const json_t *json, const char *path) {
	FILE *f = report_is_stdout(path) ? stdout : fopen(path, "w");
	int ret;

	if (f == NULL) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	ret = json_dumpf(json, f, JSON_INDENT(2));
	fputc('\n', f);
	if (f != stdout && fclose(f) != 0)
		ret = -1;
	if (ret != 0)
		fprintf(stderr, "%s: cannot be written whole\n", path);
	return ret;
}

/* What it takes from and gives to, where that is not the burst, by the names of queues. */
static void stage_ways(json_t *row, const struct stage_list *list, const struct stage *s) {
	json_t *also = json_array();

	if (s->from != 0)
		json_object_set_new(row, "from", json_string(list->queues[s->from].name));
	if (s->gives != 0)
		json_object_set_new(row, "gives", json_string(list->queues[s->gives].name));
	for (unsigned q = 1; q < list->queue_count; q++) {
		if ((s->also & STAGE_TO(q)) != 0)
			json_array_append_new(also, json_string(list->queues[q].name));
	}
	if (json_array_size(also) > 0)
		json_object_set_new(row, "also", also);
	else
		json_decref(also);
}

static json_t *queues_json(const struct stage_list *list) {
	json_t *queues = json_array();

	for (unsigned q = 1; q < list->queue_count; q++)
		json_array_append_new(queues, json_pack("{s:s, s:s}", "name", list->queues[q].name,
							"about", list->queues[q].about));
	return queues;
}

static json_t *list_json(const struct stage_list *list) {
	json_t *stages = json_array();

	for (unsigned i = 0; i < list->count; i++) {
		const struct stage *s = &list->stages[i];

		json_t *row = json_pack("{s:s, s:s, s:s}", "name", s->name, "about", s->about,
					"dpdk", s->dpdk);

		stage_ways(row, list, s);
		json_array_append_new(stages, row);
	}
	return json_pack("{s:s, s:o, s:o}", "name", list->name, "stages", stages, "queues",
			 queues_json(list));
}

/* Names and meanings of a direction. */
static json_t *names_json(enum direction direction, json_t *lists) {
	json_t *drops = json_object(), *values = json_object();

	for (unsigned r = 0; r < DROP_REASONS; r++) {
		if (drop_in((enum drop_reason)r, direction))
			json_object_set_new(drops, drop_name((enum drop_reason)r),
					    json_pack("{s:s, s:s}", "unit",
						      unit_name(drop_unit((enum drop_reason)r)),
						      "meaning",
						      drop_meaning((enum drop_reason)r)));
	}
	for (unsigned i = 0; i < COUNTERS; i++) {
		if (counter_in((enum counter)i, direction))
			json_object_set_new(values, counter_name((enum counter)i),
					    json_string(counter_meaning((enum counter)i)));
	}
	return json_pack("{s:o, s:o, s:o}", "lists", lists, "drops", drops, "counters", values);
}

json_t *report_describe(void) {
	json_t *down = json_array(), *up = json_array(), *port = json_array();

	for (unsigned l = 0; l < DS_PIPELINES; l++)
		json_array_append_new(down, list_json(&ds_lists[l]));
	for (unsigned l = 0; l < US_PIPELINES; l++)
		json_array_append_new(up, list_json(&us_lists[l]));
	for (unsigned l = 0; l < SHARE_LISTS; l++)
		json_array_append_new(port, list_json(&share_lists[l]));
	return json_pack("{s:o, s:o, s:o}", "downstream", names_json(DIRECTION_DOWN, down),
			 "upstream", names_json(DIRECTION_UP, up), "shared_port",
			 names_json(DIRECTION_PORT, port));
}
