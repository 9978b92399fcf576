/* SPDX-License-Identifier: BSD-3-Clause */
/* Two structs held against each other by the loader's tables of keys, so that no key is forgotten. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/keys/keys.h"

/* Whether what stands at `offset` of an item of `list` (NULL: of the top) need not be the same; not asked of maps. */
typedef bool keys_may_differ(const char *list, size_t offset);

/*
 * Are `a` and `b`, structs of the table, the same but for what may differ? If not, one line of at most `size`
 * bytes in `why`: the first key that differs, and that it takes a new start.
 */
bool keys_same(const struct key *keys, const void *a, const void *b, keys_may_differ *may_differ,
	       char *why, size_t size);
