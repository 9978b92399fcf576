/* SPDX-License-Identifier: BSD-3-Clause */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>
#include <rte_common.h>

#include "commands.h"
#include "server/layout.h"
#include "server/process.h"

struct check_options {
	const char *config;
	bool json;
};

static error_t check_option(int key, char *value, struct argp_state *state) {
	struct check_options *o = state->input;

	if (key == 'c')
		o->config = value;
	else if (key == 'j')
		o->json = true;
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

/* Bits per second of DOCSIS frames that the channels carry, as far as somebody uses them. */
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

static json_t *check_group_json(const struct service_group *sg) {
	return json_pack("{s:I, s:s, s:I, s:I, s:I, s:I, s:I}", "id", (json_int_t)sg->id, "name",
			 sg->name, "channels", (json_int_t)sg->channel_count, "modems",
			 (json_int_t)sg->modem_count, "mtu", (json_int_t)sg->rphy.mtu, "capacity",
			 (json_int_t)downstream_capacity(sg), "upstream_capacity",
			 (json_int_t)upstream_capacity(sg));
}

static json_t *cores_json(const struct layout *layout) {
	json_t *cores = json_array();

	for (unsigned w = 0; w < layout->worker_count; w++)
		json_array_append_new(cores, json_integer(layout->cores[w]));
	return cores;
}

/* What those who start vcmtsd must know of the configuration: of several groups the sums, the largest
 * MTU, and each of them. */
static void print_json(const struct server_config *config, const struct layout *layout) {
	uint64_t channels = 0, modems = 0, capacity = 0, upstream = 0, mtu = 0;
	json_t *groups = json_array(), *json;

	for (size_t g = 0; g < config->group_count; g++) {
		const struct service_group *sg = &config->groups[g];

		channels += sg->channel_count;
		modems += sg->modem_count;
		mtu = RTE_MAX(mtu, (uint64_t)sg->rphy.mtu);
		capacity += downstream_capacity(sg);
		upstream += upstream_capacity(sg);
		json_array_append_new(groups, check_group_json(sg));
	}
	json = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "name", config->name,
			 "service_group", (json_int_t)config->groups[0].id, "channels",
			 (json_int_t)channels, "modems", (json_int_t)modems, "mtu", (json_int_t)mtu,
			 "capacity", (json_int_t)capacity, "upstream_capacity",
			 (json_int_t)upstream, "cores", cores_json(layout), "groups", groups);
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(json);
}

static void print_text(const char *path, const struct server_config *config) {
	const struct service_group *sg = &config->groups[0];
	size_t modems = 0;

	for (size_t g = 0; g < config->group_count; g++)
		modems += config->groups[g].modem_count;
	if (config->group_count == 1)
		printf("%s: good: service group %u, %zu channels, %zu modems\n", path, sg->id,
		       sg->channel_count, modems);
	else
		printf("%s: good: %zu service groups, %zu modems\n", path, config->group_count,
		       modems);
}

int command_check(int argc, char **argv) {
	static const struct argp_option options[] = {
		{"config", 'c', "FILE", 0, "service group, or a server of several, YAML", 0},
		{"json", 'j', NULL, 0, "print what is in it as JSON", 0},
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = check_option,
		.doc = "Reads a configuration and says what is wrong with it.",
	};
	struct check_options o = {0};
	struct server_config config = {0};
	static struct layout layout;
	int status = EXIT_MISTAKE;

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (process_load(o.config, &config) != 0)
		return EXIT_MISTAKE;
	if (layout_make(&layout, &config) == 0) {
		if (o.json)
			print_json(&config, &layout);
		else
			print_text(o.config, &config);
		status = 0;
	}
	server_config_free(&config);
	return status;
}
