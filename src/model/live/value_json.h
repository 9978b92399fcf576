/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts structs to JSON by the tables of keys: the inverse of the reader. */
#pragma once

#include <jansson.h>

#include "model/keys/keys.h"

/* The value of a key in the struct `object` of its table; null if it was not given. The caller owns
 * it; NULL if memory is short. */
json_t *value_json(const struct key *key, const void *object);

/* All keys of a table that were given; an optional map that is empty was not. The caller owns it;
 * NULL if memory is short. */
json_t *map_json(const struct key *keys, const void *object);
