/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of keys.h as JSON Schema (draft 2020-12). */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "model/keys/keys.h"

/* The schema of one value. The caller owns it. */
json_t *schema_of_key(const struct key *key);

/* The schema of a map with these keys; `open` allows other keys. The caller owns it. */
json_t *schema_of_keys(const struct key *keys, bool open);
