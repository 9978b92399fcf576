/* SPDX-License-Identifier: BSD-3-Clause */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "commands.h"
#include "model/loader.h"
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

/* What those who start vcmtsd must know of the configuration. */
static void print_json(const struct service_group *sg) {
	unsigned workers[LAYOUT_MAX_WORKERS];
	unsigned count = layout_cores(sg, workers);
	json_t *cores = json_array();
	json_t *json;

	for (unsigned w = 0; w < count; w++)
		json_array_append_new(cores, json_integer(workers[w]));
	json = json_pack("{s:s, s:i, s:i, s:i, s:i, s:I, s:I, s:o}", "name", sg->name,
			 "service_group", (int)sg->id, "channels", (int)sg->channel_count, "modems",
			 (int)sg->modem_count, "mtu", (int)sg->rphy.mtu, "capacity",
			 (json_int_t)downstream_capacity(sg), "upstream_capacity",
			 (json_int_t)upstream_capacity(sg), "cores", cores);
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
		.parser = check_option,
		.doc = "Reads a configuration and says what is wrong with it.",
	};
	struct check_options o = {0};
	struct service_group sg = {0};

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (process_load(o.config, &sg) != 0)
		return EXIT_MISTAKE;
	if (o.json)
		print_json(&sg);
	else
		printf("%s: good: service group %u, %zu channels, %zu modems\n", o.config, sg.id,
		       sg.channel_count, sg.modem_count);
	service_group_free(&sg);
	return 0;
}
