/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints loaded structs as lines "OBJECT: NAME=VALUE NAME=VALUE ..", in the units of the structs, independently of the
 * loader's key tables. OBJECT is KIND, or KIND INDEX for objects of lists; in a server GROUP_INDEX/ precedes it.
 */
#pragma once

#include "model/server_config.h"

/* The caller frees the text. */
char *group_values(const struct service_group *sg);
char *server_values(const struct server_config *config);

/* Asserts that `values` has a line for each line of `expected`, with all values of that line. */
void expect_values(const char *values, const char *expected);
