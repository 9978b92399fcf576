/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/server_config.h"

#include <stdlib.h>
#include <string.h>

#include "model/loader.h"

int server_config_load(const char *path, struct server_config *config, FILE *errors) {
	int mistakes;

	*config = (struct server_config){.groups = calloc(1, sizeof(*config->groups))};
	if (config->groups == NULL) {
		fprintf(errors,
			"%s:1: found no memory left, allowed: a file that fits the machine\n",
			path);
		return 1;
	}
	mistakes = service_group_load(path, &config->groups[0], errors);
	if (mistakes > 0) {
		server_config_free(config);
		return mistakes;
	}
	config->group_count = 1;
	config->name = strdup(config->groups[0].name);
	config->main_core = config->groups[0].threads.main_core;
	return 0;
}

void server_config_free(struct server_config *config) {
	for (size_t g = 0; g < config->group_count; g++)
		service_group_free(&config->groups[g]);
	free(config->groups);
	free(config->name);
	*config = (struct server_config){0};
}
