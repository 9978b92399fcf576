/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/server_methods.h"

#include <string.h>
#include <unistd.h>

#include "control/methods/subject.h"
#include "server/steering.h"

/* One entry per key, laid out as a table. */
/* clang-format off */

#define CORE_KEY(key, text)                                                                  \
	{.name = (key), .required = true, INTEGER(0, KEYS_MAX_CORE), .example = "1", HELP(text)}

static const struct key placed_group_keys[] = {
	{.name = "id", .required = true, INTEGER(1, SUBJECT_MAX_GROUP), .example = "1",
	 HELP("ID of the service group")},
	{.name = "name", .required = true, .kind = KIND_NAME, .example = "sg",
	 HELP("name of the service group")},
	{.name = "modems", .required = true, INTEGER(0, SG_MAX_MODEMS), .example = "300",
	 HELP("number of its cable modems")},
	CORE_KEY("upper_mac_core", "core of the upper MAC"),
	CORE_KEY("lower_mac_core", "core of the lower MAC, which may be the same"),
	{.name = "upstream_core", INTEGER(0, KEYS_MAX_CORE), .example = "1",
	 HELP("core of the upstream; absent without one")},
	{.name = "network", .required = true, .kind = KIND_DEVICE, .example = "net_memif0",
	 HELP("device of the port towards the core network")},
	{.name = "rphy", .required = true, .kind = KIND_DEVICE, .example = "net_memif1",
	 HELP("device of the port towards the R-PHY device")},
	{.name = "control", .kind = KIND_DEVICE, .example = "net_tap0",
	 HELP("device of the port for management messages; absent without one")},
	{0},
};
static const struct key placed_group_item = {
	.kind = KIND_MAP, .keys = placed_group_keys, HELP("a service group"),
};
static const struct key server_worker_keys[] = {
	CORE_KEY("core", "core of the worker"),
	{.name = "runs", .required = true, .kind = KIND_TEXT, .example = "downstream, upstream",
	 HELP("description of the worker's pipelines")},
	{0},
};
static const struct key server_worker_item = {
	.kind = KIND_MAP, .keys = server_worker_keys, HELP("a polling thread"),
};

static const struct key steered_port_keys[] = {
	{.name = "port", .required = true, .kind = KIND_TEXT, .example = "R-PHY",
	 HELP("role of the port: network, R-PHY or control")},
	{.name = "device", .required = true, .kind = KIND_DEVICE, .example = "0000:3b:00.0",
	 HELP("device name")},
	{.name = "groups", .required = true, INTEGER(0, SERVER_MAX_GROUPS), .example = "4",
	 HELP("number of groups that share the port")},
	{.name = "steered", .required = true, INTEGER(0, SERVER_MAX_GROUPS), .example = "4",
	 HELP("number of groups with NIC flow rules to queues of their own")},
	{.name = "steering", .required = true, .kind = KIND_TEXT,
	 .example = "4 of 4 groups to queues of their own, by VLAN",
	 HELP("how the NIC distributes packets to groups, or why it does not")},
	{0},
};
static const struct key steered_port_item = {
	.kind = KIND_MAP, .keys = steered_port_keys, HELP("a port that groups share"),
};

static const struct key service_group_id_item = {
	INTEGER(0, UINT32_MAX), HELP("ID of a service group"),
};
static const struct key port_state_keys[] = {
	{.name = "port", .required = true, .kind = KIND_TEXT, .example = "R-PHY",
	 HELP("role of the port: network, R-PHY or control")},
	{.name = "device", .required = true, .kind = KIND_TEXT, .example = "0000:3b:00.0",
	 HELP("DPDK's name of the port")},
	{.name = "state", .required = true, .kind = KIND_TEXT, .example = "up",
	 HELP("up; down: no link; gone: the device was removed")},
	{.name = "groups", .required = true, .kind = KIND_LIST, .max = SERVER_MAX_GROUPS,
	 .item = &service_group_id_item, HELP("IDs of the service groups that use the port")},
	{0},
};
static const struct key port_state_item = {
	.kind = KIND_MAP, .keys = port_state_keys, HELP("a port"),
};

const struct key server_info_result[] = {
	{.name = "generation", .required = true, INTEGER(0, INT64_MAX), .example = "0",
	 HELP("number of changes since the server's start")},
	{.name = "version", .required = true, .kind = KIND_TEXT, .example = VCMTS_VERSION,
	 HELP("version of OpenVCMTS")},
	{.name = "pid", .required = true, INTEGER(1, INT32_MAX), .example = "4711",
	 HELP("process ID")},
	{.name = "config", .required = true, .kind = KIND_TEXT, .example = "sg.yaml",
	 HELP("path of the configuration, as given at the start")},
	{.name = "groups", .required = true, .kind = KIND_LIST, .max = SERVER_MAX_GROUPS,
	 .item = &placed_group_item, HELP("service groups, with their cores and ports")},
	{.name = "workers", .required = true, .kind = KIND_LIST, .max = PLATFORM_MAX_WORKERS,
	 .item = &server_worker_item, HELP("polling threads")},
	{.name = "ports", .required = true, .kind = KIND_LIST, .max = SERVER_PORTS_MAX,
	 .item = &port_state_item, HELP("ports with their states")},
	{.name = "shared_ports", .required = true, .kind = KIND_LIST, .max = SERVER_PORTS_MAX,
	 .item = &steered_port_item, HELP("ports that groups share, and how their packets are "
					  "distributed")},
	{.name = "metrics", .kind = KIND_TEXT, .example = "http://127.0.0.1:9464/metrics",
	 HELP("URL of the metrics; absent without --metrics")},
	{.name = "metrics_fault", .kind = KIND_TEXT, .example = "Address already in use",
	 HELP("why the metrics cannot be read yet: vcmtsd tries again every 5 s to listen; absent if "
	      "it listens")},
	{0},
};
/* clang-format on */

static void put_cores(json_t *json, const struct server *s, unsigned group) {
	const struct layout_group *at = &s->layout.groups[group];
	const unsigned *cores = s->layout.cores;

	json_object_set_new(json, "upper_mac_core", json_integer(cores[at->upper]));
	json_object_set_new(json, "lower_mac_core", json_integer(cores[at->lower]));
	if (s->groups[group].upstream != NULL)
		json_object_set_new(json, "upstream_core", json_integer(cores[at->upstream]));
}

static json_t *placed_groups(struct rpc_call *call) {
	const struct methods *m = call->service;
	const struct served_group *g;
	json_t *list = json_array();
	unsigned slot = 0;

	while ((g = subject_next_group(call, &slot)) != NULL) {
		const struct service_group *sg = g->sg;
		json_t *json =
			json_pack("{s:I, s:s, s:I, s:s, s:s}", "id", (json_int_t)sg->id, "name",
				  sg->name, "modems", (json_int_t)subject_modems(g), "network",
				  sg->network.device, "rphy", sg->rphy_port.device);

		put_cores(json, m->server, (unsigned)(g - m->server->groups));
		if (sg->control_port.device != NULL)
			json_object_set_new(json, "control", json_string(sg->control_port.device));
		json_array_append_new(list, json);
	}
	return list;
}

static json_t *server_workers(const struct server *s) {
	json_t *list = json_array();

	for (unsigned w = 0; w < s->worker_count; w++)
		json_array_append_new(list, json_pack("{s:i, s:s}", "core", (int)s->layout.cores[w],
						      "runs", s->workers[w].name));
	return list;
}

static json_t *steered_ports(const struct server *s) {
	json_t *list = json_array();
	char text[STEERING_TEXT];

	for (unsigned p = 0; p < s->ports.count; p++) {
		const struct server_port *port = &s->ports.list[p];
		unsigned steered;

		if (s->shares.of[p] == NULL)
			continue;
		steered = server_steering_text(s, p, text);
		json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:i, s:s}", "port",
						      device_role_title(port->role), "device",
						      port->device != NULL ? port->device : "",
						      "groups", (int)port->users, "steered",
						      (int)steered, "steering", text));
	}
	return list;
}

static json_t *ids_of_port(const struct server *s, unsigned port) {
	json_t *list = json_array();

	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service && s->ports.of[g][s->ports.list[port].role] == port)
			json_array_append_new(list, json_integer(s->groups[g].sg->id));
	}
	return list;
}

static json_t *port_states(const struct server *s) {
	json_t *list = json_array();

	for (unsigned p = 0; p < s->ports.count; p++) {
		const struct server_port *port = &s->ports.list[p];

		if (port->users == 0)
			continue;
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:o}", "port",
						device_role_title(port->role), "device", port->name,
						"state", server_port_state_name(port->state),
						"groups", ids_of_port(s, p)));
	}
	return list;
}

static void put_metrics(json_t *json, const struct metrics_source *source) {
	const struct metrics_http_counts *http = source != NULL ? source->http : NULL;
	int fault;

	if (http == NULL)
		return;
	fault = __atomic_load_n(&http->fault, __ATOMIC_RELAXED);
	json_object_set_new(json, "metrics",
			    rpc_text(__atomic_load_n(&http->url, __ATOMIC_ACQUIRE)));
	if (fault != 0)
		json_object_set_new(json, "metrics_fault", json_string(strerror(fault)));
}

json_t *server_info(struct rpc_call *call) {
	const struct methods *m = call->service;
	json_t *json =
		json_pack("{s:s, s:I, s:i, s:o, s:o, s:o, s:o, s:o}", "version", VCMTS_VERSION,
			  "generation", (json_int_t)m->server->generation, "pid", (int)getpid(),
			  "config", rpc_text(m->reload->path), "groups", placed_groups(call),
			  "workers", server_workers(m->server), "ports", port_states(m->server),
			  "shared_ports", steered_ports(m->server));

	put_metrics(json, m->metrics);
	return json;
}
