/* SPDX-License-Identifier: BSD-3-Clause */
/* An object in service as JSON, with the keys of the file. */
#pragma once

#include <jansson.h>

#include "model/keys/keys.h"
#include "model/live/live_group.h"
#include "model/live/object_copy.h"

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

/* As object_json(), of a modem of the group, with what follows from other values: all that holds for it. Secrets are not there. */
json_t *object_modem_json(const struct live_group *l, const struct modem *modem);

/* For object_copy(): references to objects of `sg`, a group in service, become their ids. */
struct references object_ids(const struct service_group *sg);

/* As object_json(), of a copy whose references are ids; not of LIVE_GROUP. */
json_t *object_copy_json(enum live_object object, const void *copy, bool secrets);

/* What the top of `sg` says once and can change: rate_limit, cpe_timeout. */
json_t *object_values_json(const struct service_group *sg);

/* The value of `security`. */
json_t *object_security_json(const struct modem *modem, bool secrets);

/* {"mac": ..} of a modem, else {"id": ..}. */
json_t *object_identity_json(enum live_object object, const void *item);
