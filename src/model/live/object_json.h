/* SPDX-License-Identifier: BSD-3-Clause */
/* An object in service as JSON, with the keys of the file. */
#pragma once

#include <jansson.h>

#include "model/keys.h"
#include "model/live/live_group.h"

/* The row of the loader's tables that a list of such objects is read by. */
const struct key *object_key(enum live_object object);

#define OBJECT_SINGLE_KEYS 2

/* The rows of what a group has but once and can change. */
void object_single_keys(struct key keys[OBJECT_SINGLE_KEYS + 1]);

/*
 * What a file would say of the object in a place that is not free; of LIVE_GROUP, its single values that can change.
 * Read again it is the same object. What follows from other values when it is not said is left out, so that
 * it follows them also when they change: bursts, buffers, WRED's thresholds, the bonding group of flows.
 * Of a channel psp_extra likewise. Traffic encryption keys and initialisation vectors are there with `secrets` only. The caller owns it; NULL
 * without memory.
 */
json_t *object_json(const struct live_group *l, enum live_object object, uint32_t place,
		    bool secrets);
