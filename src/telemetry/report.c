/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/report.h"

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include "crypto/versions.h"
#include "platform/log/log.h"
#include "server/measure.h"
#include "telemetry/report_group.h"

/* Times without the CPU: from and to, TSC cycles. */
static json_t *gaps_json(const struct gaps *g) {
	json_t *list = json_array();

	for (uint32_t i = 0; i < g->count; i++)
		json_array_append_new(list, json_pack("[I, I]", (json_int_t)g->list[i].from,
						      (json_int_t)g->list[i].to));
	return json_pack("{s:I, s:o}", "shorter", (json_int_t)g->shorter, "list", list);
}

static json_t *workers_json(const struct server *s, const struct host *host) {
	json_t *list = json_array();

	for (unsigned w = 0; w < s->worker_count; w++) {
		const struct worker *k = &s->workers[w];
		uint64_t cycles = k->busy_cycles + k->idle_cycles;

		json_array_append_new(
			list,
			json_pack("{s:s, s:I, s:I, s:o, s:{s:I, s:o}, s:o}", "name", k->name,
				  "rounds", (json_int_t)k->rounds, "busy_rounds",
				  (json_int_t)k->busy_rounds, "busy_share",
				  report_real(cycles ? (double)k->busy_cycles / (double)cycles : 0),
				  "descheduled", "count", (json_int_t)k->descheduled, "longest_us",
				  report_real((double)k->longest * 1e6 / (double)host->tsc_hz),
				  "gaps", gaps_json(&k->gaps)));
	}
	return list;
}

/* Seconds of each worker; idle time includes paused time. */
static json_t *power_json(const struct server *s, const struct host *host) {
	double hz = (double)host->tsc_hz;
	json_t *list = json_array();

	for (unsigned w = 0; w < s->worker_count; w++) {
		const struct worker *k = &s->workers[w];

		json_array_append_new(list,
				      json_pack("{s:i, s:s, s:o, s:o, s:o, s:I, s:I, s:I}", "core",
						(int)s->layout.cores[w], "kind",
						idle_kind_name(k->idle.config.kind), "busy",
						report_real((double)k->busy_cycles / hz), "idle",
						report_real((double)k->idle_cycles / hz), "paused",
						report_real((double)k->idle.ticks / hz), "pauses",
						(json_int_t)k->idle.pauses, "bounded",
						(json_int_t)k->idle.bounded, "limited",
						(json_int_t)k->idle.limited));
	}
	return json_pack("{s:s, s:s, s:s, s:o}", "idle", idle_kind_name(s->power.idle), "policy",
			 power_policy_name(s->power.policy), "driver",
			 power_driver_name(s->power.driver), "workers", list);
}

/* Packets lost by drivers, over all ports of the role. */
static json_t *port_json(const struct server *s, enum device_role role) {
	struct rte_eth_stats sum = {0};

	for (unsigned i = 0; i < s->ports.count; i++) {
		const struct server_port *port = &s->ports.list[i];
		struct rte_eth_stats one;

		if (port->role != role)
			continue;
		server_port_stats(port, &one);
		sum.imissed += one.imissed;
		sum.ierrors += one.ierrors;
		sum.rx_nombuf += one.rx_nombuf;
		sum.oerrors += one.oerrors;
	}
	return json_pack("{s:I, s:I, s:I, s:I}", "missed", (json_int_t)sum.imissed,
			 "receive_errors", (json_int_t)sum.ierrors, "no_buffer",
			 (json_int_t)sum.rx_nombuf, "transmit_errors", (json_int_t)sum.oerrors);
}

/* Counters of each shared port. */
static json_t *shares_json(const struct server *s) {
	json_t *list = json_array();

	for (unsigned p = 0; p < s->ports.count; p++) {
		const struct port_share *share = s->shares.of[p];
		struct counters all;

		if (share == NULL)
			continue;
		share_counters(share, &all);
		json_array_append_new(list,
				      json_pack("{s:s, s:i, s:I, s:I, s:b, s:o, s:o}", "port",
						share->name, "groups", (int)s->ports.list[p].users,
						"held_in", (json_int_t)share_pending_in(share),
						"held_out", (json_int_t)share_pending_out(share),
						"balanced", share_balanced(share), "drops",
						report_drops(&all, DIRECTION_PORT), "counters",
						report_counters(&all, DIRECTION_PORT)));
	}
	return list;
}

static json_t *host_json(const struct host *h) {
	return json_pack("{s:s, s:I, s:I}", "cpu", h->cpu, "tsc_hz", (json_int_t)h->tsc_hz,
			 "core_hz", (json_int_t)h->core_hz);
}

/* Adds both directions of the groups, and of removed groups, to `into`. */
static void put_directions(json_t *into, const struct server *s, unsigned first, unsigned count,
			   const struct server_removed *removed, const struct host *host,
			   double seconds) {
	const struct served_group *groups = &s->groups[first];
	json_t *down = report_downstream(groups, count, removed, s->report_flows, host);
	json_t *up = report_upstream(groups, count, removed, host);

	json_object_set_new(into, "downstream", down);
	if (host != NULL)
		json_object_set_new(down, "seconds", report_real(seconds));
	if (up == NULL)
		return;
	json_object_set_new(into, "upstream", up);
	if (host != NULL)
		json_object_set_new(up, "seconds", report_real(seconds));
}

static json_t *groups_json(const struct server *s, const struct host *host, double seconds) {
	json_t *list = json_array();

	for (unsigned g = 0; g < s->group_count; g++) {
		const struct service_group *sg = s->groups[g].sg;
		json_t *group;

		if (!s->groups[g].in_service)
			continue;
		group = json_pack("{s:I, s:s}", "id", (json_int_t)sg->id, "name", sg->name);
		put_directions(group, s, g, 1, NULL, host, seconds);
		json_array_append_new(list, group);
	}
	return list;
}

/* The measured time of cycles and latency; it is shorter for a group that was added later. */
static json_t *measured_json(const struct server *s) {
	const struct server_measures *m = &s->measures;

	return json_pack("{s:{s:b, s:o}, s:{s:b, s:o}}", "cycles", "on", m->cycles.on, "seconds",
			 report_real((double)server_measured_ms(s, &m->cycles) / 1e3), "latency",
			 "on", m->latency.on, "seconds",
			 report_real((double)server_measured_ms(s, &m->latency) / 1e3));
}

json_t *report_json(const struct server *s, const struct host *host, double seconds) {
	json_t *root = json_object();

	json_object_set_new(root, "version", versions_json());
	put_directions(root, s, 0, s->group_count, &s->removed, host, seconds);
	/* the sums include their counters */
	json_object_set_new(root, "removed_groups", json_integer(s->removed.groups));
	json_object_set_new(root, "groups", groups_json(s, host, seconds));
	json_object_set_new(root, "shared_ports", shares_json(s));
	if (host == NULL)
		return root;
	json_object_set_new(root, "measured", measured_json(s));
	json_object_set_new(root, "workers", workers_json(s, host));
	json_object_set_new(root, "power", power_json(s, host));
	json_object_set_new(root, "ports",
			    json_pack("{s:o, s:o}", "network", port_json(s, DEVICE_NETWORK), "rphy",
				      port_json(s, DEVICE_RPHY)));
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
		log_error("telemetry", LOG_NO_FIELDS, "%s: %s", path, strerror(errno));
		return -1;
	}
	ret = json_dumpf(json, f, JSON_INDENT(2));
	fputc('\n', f);
	if (f != stdout && fclose(f) != 0)
		ret = -1;
	if (ret != 0)
		log_error("telemetry", LOG_NO_FIELDS, "%s: cannot be written whole", path);
	return ret;
}
