/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts a JSON value to a tree for the reader: requests are read by the same tables as files. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "model/errors.h"
#include "model/tree.h"

/*
 * Converts `value`, a map or list; its lines are 0. Numbers, booleans and null become their text,
 * as in a file. Returns false after exactly one error (too deep, no memory); the caller calls
 * tree_free() in either case.
 */
bool tree_from_json(struct tree *tree, json_t *value, struct errors *errors);
