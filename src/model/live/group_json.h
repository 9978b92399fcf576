/* SPDX-License-Identifier: BSD-3-Clause */
/* A group in service as JSON, with the keys of an item of `service_groups`. */
#pragma once

#include <jansson.h>

#include "model/live/live_group.h"

/* Read again it is the same group, up to the order of its lists, each thread by its core. Traffic encryption keys are
 * there with `secrets` only, without which it cannot be read. The caller owns it; NULL without memory. */
json_t *group_json(const struct live_group *l, bool secrets);
