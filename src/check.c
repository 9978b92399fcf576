/* SPDX-License-Identifier: BSD-3-Clause */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "commands.h"
#include "model/loader.h"

struct check_options {
	const char *config;
	bool json;
};

static error_t option(int key, char *value, struct argp_state *state) {
	struct check_options *o = state->input;

	if (key == 'c')
		o->config = value;
	else if (key == 'j')
		o->json = true;
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

/* What those who start vcmtsd must know of the configuration. */
static void print_json(const struct service_group *sg) {
	const struct thread_config *t = &sg->threads;
	bool two = t->downstream == LAYOUT_1DS2T; /* downstream cores */
	bool upstream = sg->upstream_channel_count > 0;
	json_t *cores = json_pack("[i]", (int)t->upper_mac_core);
	uint64_t capacity = 0, upstream_capacity = 0; /* bits per second of DOCSIS frames */
	json_t *json;

	if (two)
		json_array_append_new(cores, json_integer(t->lower_mac_core));
	if (upstream && t->upstream_core != t->upper_mac_core &&
	    !(two && t->upstream_core == t->lower_mac_core))
		json_array_append_new(cores, json_integer(t->upstream_core));
	for (size_t c = 0; c < sg->channel_count; c++)
		capacity += sg->channels[c].rate;
	if (sg->rate_limit != 0 && sg->rate_limit < capacity)
		capacity = sg->rate_limit;
	for (size_t c = 0; c < sg->upstream_channel_count; c++)
		upstream_capacity += sg->upstream_channels[c].rate;
	json = json_pack("{s:s, s:i, s:i, s:i, s:i, s:I, s:I, s:o}", "name", sg->name,
			 "service_group", (int)sg->id, "channels", (int)sg->channel_count, "modems",
			 (int)sg->modem_count, "mtu", (int)sg->rphy.mtu, "capacity",
			 (json_int_t)capacity, "upstream_capacity", (json_int_t)upstream_capacity,
			 "cores", cores);
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(json);
}

int command_check(int argc, char **argv) {
	static const struct argp_option options[] = {
		{"config", 'c', "FILE", 0, "service group, YAML", 0},
		{"json", 'j', NULL, 0, "print what is in it as JSON", 0},
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Reads a configuration and says what is wrong with it.",
	};
	struct check_options o = {0};
	struct service_group sg = {0};

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (command_load(o.config, &sg) != 0)
		return EXIT_MISTAKE;
	if (o.json)
		print_json(&sg);
	else
		printf("%s: good: service group %u, %zu channels, %zu modems\n", o.config, sg.id,
		       sg.channel_count, sg.modem_count);
	service_group_free(&sg);
	return 0;
}
