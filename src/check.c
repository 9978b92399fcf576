/* SPDX-License-Identifier: BSD-3-Clause */
#include <argp.h>
#include <stdio.h>

#include "commands.h"
#include "model/loader.h"

static error_t option(int key, char *value, struct argp_state *state) {
	const char **config = state->input;

	if (key != 'c')
		return ARGP_ERR_UNKNOWN;
	*config = value;
	return 0;
}

int command_check(int argc, char **argv) {
	static const struct argp_option options[] = {
		{"config", 'c', "FILE", 0, "service group, YAML", 0},
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Reads a configuration and says what is wrong with it.",
	};
	const char *config = NULL;
	struct service_group sg = {0};

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, &config);
	if (command_load(config, &sg) != 0)
		return EXIT_MISTAKE;
	printf("%s: good: service group %u, %zu channels, %zu modems\n", config, sg.id,
	       sg.channel_count, sg.modem_count);
	service_group_free(&sg);
	return 0;
}
