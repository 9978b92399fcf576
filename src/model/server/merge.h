/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One group out of what is said in several places: beside it in the list, in a file of its own, and beside
 * the list. What stands nearer goes before.
 */
#pragma once

#include <stddef.h>

#include "model/arena.h"
#include "model/keys/keys.h"
#include "model/tree.h"

#define MERGE_MOST 3

/*
 * A map with every key of the table that one of `maps` has, the nearest first: its value by an alias
 * that has its line, or, of a key that is put together, a map of the same kind. The names are to be checked
 * where they stand. The new nodes are the arena's, with `line` for the map. NULL without memory.
 */
struct node *merge_maps(struct arena *arena, const struct key *keys, struct node *const maps[],
			size_t count, uint32_t line);
