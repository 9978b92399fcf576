/* SPDX-License-Identifier: BSD-3-Clause */
/* A JSON value as the tree that the reader takes: so a request is read by the same tables as the file. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "model/errors.h"
#include "model/tree.h"

/*
 * Makes the tree of `value`, a map or list; its lines are 0. Numbers, truth values and null become their
 * text, as a file has them. Returns false after exactly one mistake (too deep, no memory); the tree is to
 * be given to tree_free() in either case.
 */
bool tree_from_json(struct tree *tree, json_t *value, struct errors *errors);
