/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/check_placement.h"

#include <string.h>

#include "model/layouts.h"
#include "server/pools.h"
#include "server/shares.h"
#include "server/worker.h"

/* Parses "PRESENT/ONLINE/USABLE"; restricts online cores to present ones, and usable to online ones. */
static bool parse_machine(const char *text, struct cpus *cpus) {
	cpu_set_t *sets[] = {&cpus->present, &cpus->online, &cpus->usable};
	char part[CPUS_TEXT];

	for (size_t s = 0; s < 3; s++) {
		size_t length = strcspn(text, "/");

		if (length >= sizeof(part) || text[length] != (s < 2 ? '/' : '\0'))
			return false;
		memcpy(part, text, length);
		part[length] = '\0';
		if (!cpus_parse(part, sets[s]))
			return false;
		text += length + 1;
	}
	CPU_AND(&cpus->online, &cpus->online, &cpus->present);
	CPU_AND(&cpus->usable, &cpus->usable, &cpus->online);
	return true;
}

int check_placement(struct check_placement *placement, const char *cores,
		    const struct server_config *server) {
	if (strcmp(cores, "here") == 0) {
		cpus_read(&placement->cpus);
	} else if (!parse_machine(cores, &placement->cpus)) {
		fprintf(stderr,
			"--cores: found \"%s\", allowed: here, or PRESENT/ONLINE/USABLE such as "
			"0-7/0-7/0-3\n",
			cores);
		return -1;
	}
	if (server_ports_find(&placement->ports, server) != 0 ||
	    layout_make(&placement->layout, server) != 0)
		return -1;
	placement->refusal_count =
		placement_refusals(server, &placement->cpus, placement->refusals);
	return 0;
}

static json_t *set_json(const cpu_set_t *set) {
	json_t *json = json_array();

	for (unsigned core = 0; core < CPU_SETSIZE; core++) {
		if (CPU_ISSET(core, set))
			json_array_append_new(json, json_integer(core));
	}
	return json;
}

/* The keys of `threads` that the configuration sets for a group. */
static json_t *given_json(const struct thread_request *requested) {
	const struct {
		const char *key;
		bool given;
	} keys[] = {
		{"layout", requested->layout != LAYOUT_NONE},
		{"cores", requested->core_count > 0},
		{"main_core", requested->main_core},
		{"upper_mac_core", requested->upper_mac_core},
		{"lower_mac_core", requested->lower_mac_core},
		{"upstream_core", requested->upstream_core},
	};
	json_t *json = json_array();

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		if (keys[k].given)
			json_array_append_new(json, json_string(keys[k].key));
	}
	return json;
}

/* `upstream` is null for a group without upstream channels. */
static json_t *group_json(const struct service_group *sg) {
	struct group_cores at = layouts_group_cores(sg);

	return json_pack("{s:i, s:s?, s:o, s:i, s:i, s:o}", "service_group", (int)sg->id, "layout",
			 layouts_name(sg->threads.requested.layout), "given",
			 given_json(&sg->threads.requested), "upper_mac", (int)at.upper_mac,
			 "lower_mac", (int)at.lower_mac, "upstream",
			 layout_has_upstream(sg) ? json_integer(at.upstream) : json_null());
}

static json_t *workers_json(const struct layout *layout, const struct server_config *server) {
	const struct group_slots groups = group_slots_of(server);
	json_t *json = json_array();
	char name[WORKER_NAME];

	for (unsigned w = 0; w < layout->worker_count; w++) {
		layout_name(layout, &groups, w, name, sizeof(name));
		json_array_append_new(
			json, json_pack("{s:i, s:s}", "core", (int)layout->cores[w], "runs", name));
	}
	return json;
}

/* A port of several groups, and the core of its owner. */
static json_t *shared_port_json(const struct check_placement *placement,
				const struct server_config *server, unsigned p) {
	const struct server_port *port = &placement->ports.list[p];
	unsigned owner = server_share_owner(&placement->ports, &placement->layout, p);
	json_t *groups = json_array();

	for (size_t g = 0; g < server->group_count; g++) {
		if (placement->ports.of[g][port->role] == p)
			json_array_append_new(groups, json_integer(server->groups[g].id));
	}
	return json_pack("{s:s, s:s, s:i, s:o}", "port", device_role_title(port->role), "device",
			 port->device, "core", (int)placement->layout.cores[owner], "groups",
			 groups);
}

static json_t *shared_ports_json(const struct check_placement *placement,
				 const struct server_config *server) {
	json_t *json = json_array();

	for (unsigned p = 0; p < placement->ports.count; p++) {
		if (placement->ports.list[p].users > 1 &&
		    placement->ports.list[p].role != DEVICE_CONTROL)
			json_array_append_new(json, shared_port_json(placement, server, p));
	}
	return json;
}

static json_t *refusals_json(const struct check_placement *placement) {
	static const char *const reasons[] = {
		[CPU_IS_MISSING] = "missing",
		[CPU_IS_OFFLINE] = "offline",
		[CPU_IS_NOT_ALLOWED] = "not allowed",
	};
	json_t *json = json_array();

	for (size_t r = 0; r < placement->refusal_count; r++) {
		const struct placement_refusal *refusal = &placement->refusals[r];

		json_array_append_new(json, json_pack("{s:s, s:i, s:s, s:s, s:s}", "reason",
						      reasons[refusal->fault], "service_group",
						      (int)refusal->service_group, "key",
						      refusal->key, "found", refusal->found,
						      "allowed", refusal->allowed));
	}
	return json;
}

json_t *check_placement_json(const struct check_placement *placement,
			     const struct server_config *server) {
	json_t *groups = json_array();

	for (size_t g = 0; g < server->group_count; g++)
		json_array_append_new(groups, group_json(&server->groups[g]));
	return json_pack("{s:i, s:I, s:o, s:o, s:o, s:{s:o, s:o, s:o}, s:o}", "main_core",
			 (int)server->main_core, "memory_mb",
			 (json_int_t)server_memory_mb(server, &placement->ports), "workers",
			 workers_json(&placement->layout, server), "groups", groups, "shared_ports",
			 shared_ports_json(placement, server), "machine", "present",
			 set_json(&placement->cpus.present), "online",
			 set_json(&placement->cpus.online), "usable",
			 set_json(&placement->cpus.usable), "refused", refusals_json(placement));
}

void check_placement_free(struct check_placement *placement) {
	server_ports_free(&placement->ports);
}
