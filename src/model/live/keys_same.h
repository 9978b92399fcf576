/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares two structs by the loader's tables of keys, so that no key is forgotten. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/keys/keys.h"

/* Whether the value at `offset` of an item of `list` (NULL: of the top) may differ; not called for
 * maps. */
typedef bool keys_may_differ(const char *list, size_t offset);

/*
 * Whether `a` and `b`, structs of the table, are equal except for values that may differ. If not,
 * writes one line of at most `size` bytes to `why`: the first key that differs, and that it needs a
 * restart.
 */
bool keys_same(const struct key *keys, const void *a, const void *b, keys_may_differ *may_differ,
	       char *why, size_t size);
