/* SPDX-License-Identifier: BSD-3-Clause */
/* A group in service as JSON, with the keys of an item of `service_groups`. */
#pragma once

#include <jansson.h>

#include "model/live/live_group.h"

/* Read again it is the same group, up to the order of its lists, each thread by its core. Traffic encryption keys are
 * there with `secrets` only, without which it cannot be read. The caller owns it; NULL without memory. */
json_t *group_json(const struct live_group *l, bool secrets);

/* What a group has but once, without its lists. Likewise. */
json_t *group_single_json(const struct service_group *sg);

/* {"crypto": ..}, as the group has it with `crypto` in place of its own. */
json_t *group_crypto_json(const struct service_group *sg, const struct crypto_config *crypto);

/* Whether an object is in that slot. */
bool group_json_is_there(const struct live_group *l, enum live_object object, uint32_t place);
