/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs as JSON by the tables of keys: the way back of the reader. */
#pragma once

#include <jansson.h>

#include "model/keys/keys.h"

/* The value of a key in the struct `object` of its table, null where it was not given. The caller owns it; NULL
 * without memory. */
json_t *value_json(const struct key *key, const void *object);

/* All keys of a table that were given; a map that may be left out and is empty was not. The caller owns it; NULL without memory. */
json_t *map_json(const struct key *keys, const void *object);
