/* SPDX-License-Identifier: BSD-3-Clause */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "commands/check_placement.h"
#include "commands/check_reader.h"
#include "commands/commands.h"
#include "crypto/versions.h"
#include "model/devices.h"
#include "model/keys/keys.h"
#include "model/layouts.h"
#include "model/server_config.h"
#include "model/units.h"
#include "platform/program/arguments.h"
#include "server/pools.h"
#include "server/process.h"
#include "telemetry/report.h"

struct check_options {
	const char *config;
	const char *cores; /* NULL: the placement is not checked */
	const char *json; /* file; NULL: a line of text */
};

static error_t check_option(int key, char *value, struct argp_state *state) {
	struct check_options *o = state->input;

	if (key == 'c')
		o->config = value;
	else if (key == 'C')
		o->cores = value;
	else if (key == 'j')
		o->json = value;
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

/* Bits per second of DOCSIS frames that the channels carry, within the group's rate limit. */
static uint64_t downstream_capacity(const struct service_group *sg) {
	uint64_t capacity = 0;

	for (size_t c = 0; c < sg->channel_count; c++)
		capacity += sg->channels[c].rate;
	return sg->rate_limit != 0 && sg->rate_limit < capacity ? sg->rate_limit : capacity;
}

static uint64_t upstream_capacity(const struct service_group *sg) {
	uint64_t capacity = 0;
	size_t flows = 0;

	for (size_t m = 0; m < sg->modem_count; m++)
		flows += sg->modems[m].upstream_flow_count;
	for (size_t c = 0; flows > 0 && c < sg->upstream_channel_count; c++)
		capacity += sg->upstream_channels[c].rate;
	return capacity;
}

static json_t *cores_json(const struct service_group *sg) {
	uint32_t cores[LAYOUTS_MAX_CORES];
	size_t count = layouts_cores(sg, cores);
	json_t *json = json_array();

	for (size_t c = 0; c < count; c++)
		json_array_append_new(json, json_integer(cores[c]));
	return json;
}

/* The number of modems per cipher, for ciphers in use. */
static json_t *ciphers_json(const struct service_group *sg) {
	json_t *json = json_object();
	json_int_t modems[CIPHERS] = {0};

	for (size_t m = 0; m < sg->modem_count; m++)
		modems[sg->modems[m].security.cipher]++;
	for (enum cipher c = CIPHER_NONE; c < CIPHERS; c++) {
		if (modems[c] > 0)
			json_object_set_new(json, cipher_name(c), json_integer(modems[c]));
	}
	return json;
}

static json_t *mac_json(const uint8_t mac[6]) {
	char text[UNITS_TEXT_SIZE];

	units_format_mac(mac, text);
	return json_string(text);
}

/* VLAN and MAC address of the group's frames on its ports: match fields for a NIC's flow rules. */
static json_t *ports_json(const struct service_group *sg) {
	const struct port_config *network = &sg->network;

	return json_pack("{s:{s:i, s:o}, s:{s:i, s:o}}", "network", "vlan", (int)network->vlan,
			 "mac", network->has_mac ? mac_json(network->mac) : json_null(), "rphy",
			 "vlan", (int)sg->rphy_port.vlan, "mac", mac_json(sg->rphy.core_mac));
}

/* Properties of a service group that the start of vcmtsd depends on. */
static json_t *group_json(const struct service_group *sg) {
	return json_pack("{s:s, s:i, s:i, s:i, s:i, s:I, s:I, s:o, s:s, s:s, s:o, s:s, s:o}",
			 "name", sg->name, "service_group", (int)sg->id, "channels",
			 (int)sg->channel_count, "modems", (int)sg->modem_count, "mtu",
			 (int)sg->rphy.mtu, "capacity", (json_int_t)downstream_capacity(sg),
			 "upstream_capacity", (json_int_t)upstream_capacity(sg), "cores",
			 cores_json(sg), "network_device", sg->network.device, "rphy_device",
			 sg->rphy_port.device, "ports", ports_json(sg), "crypto",
			 crypto_provider_name(&sg->crypto), "ciphers", ciphers_json(sg));
}

/* Adds the cores that are not in `all` yet. */
static void join_cores(json_t *all, const json_t *cores) {
	json_t *core, *known;
	size_t i, k;

	json_array_foreach(cores, i, core) {
		bool seen = false;

		json_array_foreach(all, k, known) seen = seen || json_equal(known, core);
		if (!seen)
			json_array_append(all, core);
	}
}

/* The groups and their sums. `service_group` is the ID of the first group. */
static json_t *server_json(const struct server_config *server) {
	json_t *groups = json_array(), *cores = json_array();
	json_int_t channels = 0, modems = 0, capacity = 0, upstream = 0;
	uint32_t mtu = 0;

	for (size_t g = 0; g < server->group_count; g++) {
		const struct service_group *sg = &server->groups[g];
		json_t *group = group_json(sg);

		channels += (json_int_t)sg->channel_count;
		modems += (json_int_t)sg->modem_count;
		capacity += (json_int_t)downstream_capacity(sg);
		upstream += (json_int_t)upstream_capacity(sg);
		mtu = sg->rphy.mtu > mtu ? sg->rphy.mtu : mtu;
		join_cores(cores, json_object_get(group, "cores"));
		json_array_append_new(groups, group);
	}
	return json_pack("{s:s, s:i, s:I, s:I, s:i, s:i, s:I, s:I, s:o, s:i, s:o}", "name",
			 server->name, "service_group", (int)server->groups[0].id, "channels",
			 channels, "modems", modems, "mtu", (int)mtu, "memory_mb",
			 (int)server_memory_mb(server, NULL), "capacity", capacity,
			 "upstream_capacity", upstream, "cores", cores, "main_core",
			 (int)server->main_core, "groups", groups);
}

static void print_line(const char *file, const struct server_config *server) {
	size_t channels = 0, modems = 0;

	for (size_t g = 0; g < server->group_count; g++) {
		channels += server->groups[g].channel_count;
		modems += server->groups[g].modem_count;
	}
	if (server->group_count == 1)
		printf("%s: good: service group %u", file, server->groups[0].id);
	else
		printf("%s: good: %zu service groups", file, server->group_count);
	printf(", %zu channels, %zu modems\n", channels, modems);
}

/* Takes `placement`, which may be NULL. Returns the exit status. */
static int write_json(const struct check_options *o, const struct server_config *server,
		      json_t *placement) {
	json_t *json = server_json(server);
	int ret;

	if (placement != NULL)
		json_object_set_new(json, "placement", placement);
	ret = report_write(json, o->json);
	json_decref(json);
	return ret == 0 ? 0 : EXIT_USAGE;
}

/* Returns the exit status. */
static int report_placement(const struct check_options *o, const struct server_config *server) {
	struct check_placement placement = {0};
	int status = EXIT_USAGE;

	if (check_placement(&placement, o->cores, server) == 0) {
		status = placement.refusal_count == 0 ? 0 : EXIT_USAGE;
		if (o->json != NULL &&
		    write_json(o, server, check_placement_json(&placement, server)) != 0)
			status = EXIT_USAGE;
		if (!report_is_stdout(o->json) &&
		    placement_print(placement.refusals, placement.refusal_count, stderr) == 0)
			print_line(o->config, server);
	}
	check_placement_free(&placement);
	return status;
}

int command_check(int argc, char **argv) {
	static const struct argp_option options[] = {
		{"config", 'c', "FILE", 0, "service group or server, YAML", 0},
		{"cores", 'C', "CORES", 0,
		 "also check the configured cores: `here` against this machine, or "
		 "PRESENT/ONLINE/USABLE such as 0-7/0-7/0-3 against another",
		 0},
		ARGUMENTS_JSON('j', "write the contents as JSON to this file"),
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = check_option,
		.doc = "Reads a configuration and prints its errors.",
	};
	struct check_options o = {0};
	struct server_config server = {0};
	int status = 0;

	versions_parse(&argp, argc, argv, &o);
	if (o.config == NULL) {
		fprintf(stderr, "--config: a file is needed; `vcmts profile` writes one\n");
		return EXIT_USAGE;
	}
	if (server_config_load(o.config, &server, stderr) != 0)
		return EXIT_USAGE;
	if (o.cores != NULL)
		status = report_placement(&o, &server);
	else if (o.json != NULL)
		status = write_json(&o, &server, NULL);
	if (o.cores == NULL && !report_is_stdout(o.json))
		print_line(o.config, &server);
	if (o.cores == NULL && o.json == NULL) /* for people */
		check_reader(o.config);
	server_config_free(&server);
	return status;
}
