/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a load has made, as lines OBJECT: NAME=VALUE NAME=VALUE .., in the units of the structs. It knows nothing of the
 * loader's tables. Objects of lists have their index behind their kind, those of a server its group's in front of it.
 */
#pragma once

#include "model/server_config.h"

/* To be freed. */
char *values_of_group(const struct service_group *sg);
char *values_of_server(const struct server_config *config);

/* Expects that each of the lines `expected`, of an object and some of its values, is part of that object's line. */
void expect_values(const char *values, const char *expected);
