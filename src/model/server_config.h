/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server is: the service groups of one process, from one YAML file. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/service_group.h"

#define SERVER_MAX_GROUPS 64

struct server_config {
	char *name;
	uint32_t main_core;
	struct service_group *groups; /* in the order of the file; ids are unique */
	size_t group_count; /* at least 1 */
};

/*
 * Loads the file at `path`: one service group, or a server with a list of them. Mistakes go to `errors`
 * as service_group_load() tells them, those of a group's own file under its name. Returns 0, and `config`
 * is to be given to server_config_free(); or the number of mistakes (> 0), and `config` holds nothing.
 */
int server_config_load(const char *path, struct server_config *config, FILE *errors);

/* Frees what a load made. Harmless on a zeroed struct. */
void server_config_free(struct server_config *config);
