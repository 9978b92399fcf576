/* SPDX-License-Identifier: BSD-3-Clause */
/* An object that is good by itself, held against all others of the group in service: by lookups alone. */
#pragma once

#include "model/live/live_group.h"

/*
 * `item` has references to places. It is to stand in `place`, instead of what is there; IDENTITY_NONE: in a place of
 * its own. Returns false with one line in `why`: what another object has already, what is reserved of channels
 * that do not carry it, or that there is no room.
 */
bool held_against_group(const struct live_group *l, enum live_object object, const void *item,
			uint32_t place, char why[LIVE_LINE]);

/* May what is in `place` go? False with one line in `why`, which names one that refers to it. */
bool held_against_users(const struct live_group *l, enum live_object object, uint32_t place,
			char why[LIVE_LINE]);
