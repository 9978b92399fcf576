/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts structs to JSON by the tables of keys: the inverse of the reader. */
#pragma once

#include <jansson.h>

#include "model/keys/keys.h"

/* Converts one key of the struct `object`; JSON null if the key was not given. The caller owns the
 * result; NULL if memory is short. */
json_t *value_json(const struct key *key, const void *object);

/* Converts all keys of a table that were given; an optional map without keys counts as not given.
 * The caller owns the result; NULL if memory is short. */
json_t *map_json(const struct key *keys, const void *object);
