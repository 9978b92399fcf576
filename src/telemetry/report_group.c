/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports the directions of one group, or sums over several. */
#include "telemetry/report_group.h"

#include "model/units.h"
#include "telemetry/report_grants.h"
#include "telemetry/report_latency.h"
#include "telemetry/report_scheduler.h"

static json_t *report_integer(uint64_t value) {
	return json_integer((json_int_t)value);
}

json_t *report_real(double value) {
	return json_real((double)(int64_t)(value * 1000 + 0.5) / 1000);
}

json_t *report_drops(const struct counters *c, enum direction direction) {
	json_t *o = json_object();

	for (unsigned r = 0; r < DROP_REASONS; r++) {
		if (drop_in((enum drop_reason)r, direction))
			json_object_set_new(o, drop_name((enum drop_reason)r),
					    report_integer(c->drops[r]));
	}
	return o;
}

json_t *report_counters(const struct counters *c, enum direction direction) {
	json_t *o = json_object();

	for (unsigned i = 0; i < COUNTERS; i++) {
		if (counter_in((enum counter)i, direction))
			json_object_set_new(o, counter_name((enum counter)i),
					    report_integer(c->values[i]));
	}
	return o;
}

/* Cycles of each stage divided by `packets`, over all groups. */
struct cycles {
	json_t *stages;
	uint64_t total, readings;
	double packets;
};

static void cycles_add_list(struct cycles *c, const struct pipeline *const *pipelines,
			    unsigned count) {
	for (unsigned s = 0; count > 0 && s < pipelines[0]->count; s++) {
		uint64_t cycles = 0;

		for (unsigned g = 0; g < count; g++) {
			cycles += pipelines[g]->accounts[s].cycles;
			c->readings += pipelines[g]->accounts[s].calls;
		}
		c->total += cycles;
		json_object_set_new(c->stages, pipelines[0]->stages[s].name,
				    report_real((double)cycles / c->packets));
	}
}

static json_t *cycles_json(struct cycles *c, const struct host *host) {
	return json_pack("{s:o, s:o, s:o}", "total", report_real((double)c->total / c->packets),
			 "accounting",
			 report_real((double)(c->readings * host->tsc_read_cycles) / c->packets),
			 "stages", c->stages);
}

/* Covers the packets of existing groups only. */
static json_t *down_cycles_json(const struct served_group *groups, unsigned count,
				const struct host *host) {
	struct cycles c = {.stages = json_object()};
	uint64_t packets = 0;

	for (unsigned g = 0; g < count; g++) {
		if (groups[g].in_service)
			packets += downstream_accounted_packets(groups[g].downstream);
	}
	c.packets = (double)RTE_MAX(packets, (uint64_t)1);
	for (unsigned l = 0; l < DS_PIPELINES; l++) {
		const struct pipeline *lists[SERVER_MAX_GROUPS] = {NULL};
		unsigned list_count = 0;

		for (unsigned g = 0; g < count; g++) {
			if (groups[g].in_service)
				lists[list_count++] = downstream_pipeline(groups[g].downstream, l);
		}
		cycles_add_list(&c, lists, list_count);
	}
	return cycles_json(&c, host);
}

/* Sums over downstreams. */
struct downstreams {
	struct counters all;
	uint64_t held;
	bool balanced;
};

static struct downstreams downstreams_sum(const struct served_group *groups, unsigned count,
					  const struct server_removed *removed) {
	struct downstreams d = {.balanced = true};

	if (removed != NULL)
		counters_add(&d.all, &removed->down);
	for (unsigned g = 0; g < count; g++) {
		struct counters c;

		if (!groups[g].in_service)
			continue;
		downstream_counters(groups[g].downstream, &c);
		counters_add(&d.all, &c);
		d.held += downstream_pending(groups[g].downstream);
		d.balanced = d.balanced && downstream_balanced(groups[g].downstream);
	}
	return d;
}

json_t *report_downstream(const struct served_group *groups, unsigned count,
			  const struct server_removed *removed, bool all_flows,
			  const struct host *host) {
	struct downstreams d = downstreams_sum(groups, count, removed);
	uint64_t received = d.all.values[COUNTER_RECEIVED];
	json_t *down;

	down = json_pack(
		"{s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "received", report_integer(received),
		"transmitted", report_integer(d.all.values[COUNTER_TRANSMITTED]), "held",
		report_integer(d.held), "dropped", report_integer(counters_dropped(&d.all)),
		"balanced", d.balanced, "drops", report_drops(&d.all, DIRECTION_DOWN), "counters",
		report_counters(&d.all, DIRECTION_DOWN));
	if (count == 1)
		json_object_set_new(
			down, "scheduler",
			report_scheduler_json(&groups[0],
					      all_flows ? REPORT_ALL_FLOWS : REPORT_LOSING_FLOWS));
	if (host == NULL)
		return down;
	json_object_set_new(down, "pipeline_latency_us",
			    report_latency_whole(groups, count, DIRECTION_DOWN));
	if (received > 0)
		json_object_set_new(down, "cycles_per_packet",
				    down_cycles_json(groups, count, host));
	return down;
}

/* The upstreams of the groups that have one. */
struct upstreams {
	struct upstream *list[SERVER_MAX_GROUPS];
	const struct service_group *first; /* owner of the first upstream */
	unsigned count;
	const struct server_removed *removed; /* never NULL */
};

static json_t *unit_json(const struct upstreams *all, const struct counters *c, enum unit unit) {
	uint64_t in = all->removed->up_in[unit], out = all->removed->up_out[unit], held = 0;

	for (unsigned i = 0; i < all->count; i++) {
		in += upstream_in(all->list[i], unit);
		out += upstream_out(all->list[i], unit);
		held += upstream_pending(all->list[i], unit);
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "in", report_integer(in), "out",
			 report_integer(out), "dropped",
			 report_integer(counters_dropped_units(c, unit)), "held",
			 report_integer(held));
}

static json_t *units_json(const struct upstreams *all, const struct counters *c) {
	json_t *units = json_object();

	for (enum unit unit = 0; unit < UNITS; unit++)
		json_object_set_new(units, unit_name(unit), unit_json(all, c, unit));
	return units;
}

static json_t *request_counts_json(const uint32_t *by_kind) {
	json_t *kinds = json_object();

	for (unsigned k = 0; k < REQUEST_KINDS; k++) {
		if (by_kind[k] > 0)
			json_object_set_new(kinds, us_request_name((enum us_request_kind)k),
					    report_integer(by_kind[k]));
	}
	return kinds;
}

/* Requests by MAC address of the modem. */
static json_t *asking_json(const struct service_group *sg, const struct us_request_sink *sink) {
	json_t *modems = json_object();

	for (uint32_t m = 0; m < sink->modems && m < sg->modem_count; m++) {
		json_t *kinds = request_counts_json(sink->by_modem[m]);
		char text[UNITS_TEXT_SIZE];

		units_format_mac(sg->modems[m].mac, text);
		if (json_object_size(kinds) > 0)
			json_object_set(modems, text, kinds);
		json_decref(kinds);
	}
	return modems;
}

/* Requests; by modem only in the report of a single group. */
static json_t *requests_json(const struct upstreams *all) {
	json_t *kinds = json_object(), *json;
	uint64_t modems = 0, removed_modems = 0;

	for (unsigned k = 0; k < REQUEST_KINDS; k++) {
		uint64_t requests = all->removed->requests[k];

		removed_modems += requests;
		for (unsigned i = 0; i < all->count; i++)
			requests += all->list[i]->requests.sink.by_kind[k];
		json_object_set_new(kinds, us_request_name((enum us_request_kind)k),
				    report_integer(requests));
	}
	for (unsigned i = 0; i < all->count; i++) {
		modems += us_request_sink_modems(&all->list[i]->requests.sink);
		removed_modems += all->list[i]->requests.sink.removed_modems;
	}
	json = json_pack("{s:o, s:o, s:o}", "by_kind", kinds, "modems", report_integer(modems),
			 "of_left", report_integer(removed_modems));
	if (all->count == 1)
		json_object_set_new(json, "by_modem",
				    asking_json(all->first, &all->list[0]->requests.sink));
	return json;
}

static json_t *up_cycles_json(const struct upstreams *all, const struct host *host) {
	struct cycles c = {.stages = json_object()};
	uint64_t packets = 0;

	for (unsigned i = 0; i < all->count; i++)
		packets += upstream_accounted_packets(all->list[i]);
	c.packets = (double)RTE_MAX(packets, (uint64_t)1);
	for (unsigned l = 0; l < US_PIPELINES; l++) {
		const struct pipeline *lists[SERVER_MAX_GROUPS] = {NULL};

		for (unsigned i = 0; i < all->count; i++)
			lists[i] = upstream_pipeline(all->list[i], l);
		cycles_add_list(&c, lists, all->count);
	}
	return cycles_json(&c, host);
}

static json_t *upstreams_json(const struct upstreams *all, const struct host *host) {
	struct counters c = all->removed->up;
	uint64_t held = 0, transmitted;
	bool balanced = true;
	json_t *up;

	for (unsigned i = 0; i < all->count; i++) {
		counters_add(&c, &all->list[i]->counters);
		balanced = balanced && upstream_balanced(all->list[i]);
		for (enum unit unit = 0; unit < UNITS; unit++)
			held += upstream_pending(all->list[i], unit);
	}
	transmitted = c.values[COUNTER_TRANSMITTED];
	up = json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "received",
		       report_integer(c.values[COUNTER_RECEIVED]), "transmitted",
		       report_integer(transmitted), "held", report_integer(held), "dropped",
		       report_integer(counters_dropped(&c)), "balanced", balanced, "units",
		       units_json(all, &c), "drops", report_drops(&c, DIRECTION_UP), "counters",
		       report_counters(&c, DIRECTION_UP), "requests", requests_json(all));
	if (host != NULL && transmitted > 0)
		json_object_set_new(up, "cycles_per_packet", up_cycles_json(all, host));
	return up;
}

json_t *report_upstream(const struct served_group *groups, unsigned count,
			const struct server_removed *removed, const struct host *host) {
	static const struct server_removed nothing;
	struct upstreams all = {.removed = removed != NULL ? removed : &nothing};
	json_t *up, *grants;

	for (unsigned g = 0; g < count; g++) {
		if (!groups[g].in_service || groups[g].upstream == NULL)
			continue;
		if (all.count == 0)
			all.first = groups[g].sg;
		all.list[all.count++] = groups[g].upstream;
	}
	if (all.count == 0 && all.removed->up_in[UNIT_PACKET] == 0)
		return NULL;
	up = upstreams_json(&all, host);
	grants = report_grants_json(groups, count);
	if (grants != NULL)
		json_object_set_new(up, "scheduler", grants);
	if (host != NULL)
		json_object_set_new(up, "pipeline_latency_us",
				    report_latency_whole(groups, count, DIRECTION_UP));
	return up;
}
