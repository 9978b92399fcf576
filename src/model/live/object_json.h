/* SPDX-License-Identifier: BSD-3-Clause */
/* An object in service as JSON, with the keys of the file. */
#pragma once

#include <jansson.h>

#include "model/keys/keys.h"
#include "model/live/live_group.h"
#include "model/live/object_copy.h"

/* The key of the loader's tables for a list of such objects. */
const struct key *object_key(enum live_object object);

#define OBJECT_SINGLE_KEYS 2

/* The keys of a group's single values that can change. */
void object_single_keys(struct key keys[OBJECT_SINGLE_KEYS + 1]);

/*
 * The object of a slot that is not free, as in a file; for LIVE_GROUP, its single values that can
 * change. Loaded again it is the same object. Values that follow from others are left out, so that
 * they follow later changes: bursts, buffers, thresholds of WRED, bonding groups of flows,
 * psp_extra of channels. Has traffic encryption keys and initialisation vectors only with
 * `secrets`. The caller owns it; NULL if memory is short.
 */
json_t *object_json(const struct live_group *l, enum live_object object, uint32_t slot,
		    bool secrets);

/* As object_json(), for a modem of the group, with all values in effect and without secrets. */
json_t *object_modem_json(const struct live_group *l, const struct modem *modem);

/* For object_copy(): converts references to objects of `sg`, a group in service, to their IDs. */
struct references object_ids(const struct service_group *sg);

/* As object_json(), for a copy whose references are IDs; not for LIVE_GROUP. */
json_t *object_copy_json(enum live_object object, const void *copy, bool secrets);

/* The single values of `sg` that can change: rate_limit, cpe_timeout. */
json_t *object_values_json(const struct service_group *sg);

/* The value of `security`. */
json_t *object_security_json(const struct modem *modem, bool secrets);

/* {"mac": ..} of a modem, else {"id": ..}. */
json_t *object_identity_json(enum live_object object, const void *item);
