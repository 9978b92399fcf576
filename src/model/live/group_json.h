/* SPDX-License-Identifier: BSD-3-Clause */
/* A group in service as JSON, with the keys of an item of `service_groups`. */
#pragma once

#include <jansson.h>

#include "model/live/live_group.h"

/*
 * The whole group. A load of the result gives the same group, except that each core has a number
 * and lists may be in another order. Without `secrets` it has no traffic encryption keys and cannot
 * be loaded. The caller owns it; NULL if memory is short.
 */
json_t *group_json(const struct live_group *l, bool secrets);

/* The values of a group outside of its lists. Ownership as for group_json(). */
json_t *group_single_json(const struct service_group *sg);

/* {"crypto": ..} of the group, with the values of `crypto` instead of its own. */
json_t *group_crypto_json(const struct service_group *sg, const struct crypto_config *crypto);

/* Whether the slot has an object. */
bool group_json_slot_is_used(const struct live_group *l, enum live_object object, uint32_t slot);
