/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a valid object for conflicts with all others of the group in service, by lookups only. */
#pragma once

#include "model/live/live_group.h"

/*
 * `item` has slots as references. It will replace the object in `slot`; IDENTITY_NONE: it gets a
 * slot of its own. Returns false with one line in `why`: a value that another object has, a
 * reserved rate that the channels do not carry, or no capacity.
 */
bool conflicts_none(const struct live_group *l, enum live_object object, const void *item,
		    uint32_t slot, char why[LIVE_LINE]);

/* Whether the object in `slot` may be removed. Returns false with one line in `why`, which names
 * an object that refers to it. */
bool conflicts_no_users(const struct live_group *l, enum live_object object, uint32_t slot,
			char why[LIVE_LINE]);
