/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes defaults from the JSON of an object, so that a file has only what differs from them. */
#pragma once

#include <jansson.h>

#include "model/keys/keys.h"

/* Removes each value that the table has as its default, also in maps and lists inside, and empty
 * lists and maps that a file need not have. `map` may be NULL. Returns it; or NULL, and frees it, if
 * memory is short. */
json_t *terse_json(json_t *map, const struct key *keys);
