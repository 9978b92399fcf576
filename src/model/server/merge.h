/* SPDX-License-Identifier: BSD-3-Clause */
/* Merges the maps that have keys of one group: its item of the list, its own file, and the keys
 * beside the list. The earlier map has precedence. */
#pragma once

#include <stddef.h>

#include "model/arena.h"
#include "model/keys/keys.h"
#include "model/tree.h"

#define MERGE_MAX 3

/*
 * Returns a map with every key of the table that one of `maps` has; the first map that has it
 * counts. A value is an alias with the line of its target, or, for a merged key, a map of the same
 * kind. The caller checks the names in `maps`. The arena owns new nodes; the map has the line
 * `line`. NULL if memory is short.
 */
struct node *merge_maps(struct arena *arena, const struct key *keys, struct node *const maps[],
			size_t count, uint32_t line);
