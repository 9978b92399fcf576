/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of an object in a response, derived from the key table of its file. */
#pragma once

#include "model/arena.h"
#include "model/keys/keys.h"

/*
 * Derives a table from `keys` for an object in service: without secrets; `required` marks keys that are
 * always present; sizes and protocols are numbers; defaults become examples. The keys of `more` follow; a
 * list of maps that both have gets the item keys of both. Returns NULL if `arena` has no memory.
 */
const struct key *reported_keys(struct arena *arena, const struct key *keys,
				const struct key *more);
