/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a change of a group in service from one object of a request. The keys and checks are those
 * of a file; in addition, the object must not conflict with objects in service. */
#pragma once

#include <jansson.h>

#include "model/live/difference.h"

enum live_verb {
	LIVE_ADD, /* no object has this MAC address or ID yet */
	LIVE_REPLACE, /* as a whole */
	LIVE_SET, /* some keys: a merge patch, see merge_patch.h */
	LIVE_REMOVE, /* by MAC address or ID; nothing may refer to it */
};

/*
 * `value` has the keys of such an object in a file. LIVE_SET needs `mac` or `id` and the keys to
 * set; LIVE_REMOVE needs `mac` or `id`. Of LIVE_GROUP the single values can be set. Returns true
 * with at most one change in `changes` (none: nothing differs), for live_changes_apply() or
 * live_changes_free(). Returns false with a line per mistake in `why`, whose texts are those of
 * a file. `l` does not change, and `value` remains the caller's.
 */
bool live_request(const struct live_group *l, enum live_verb verb, enum live_object object,
		  json_t *value, struct live_changes *changes, char why[LIVE_LINE]);

/* Finds the slot of the object that `value` names by `mac` or `id`; 0 for LIVE_GROUP. Returns false
 * with a line in `why`. */
bool live_request_find(const struct live_group *l, enum live_object object, json_t *value,
		       uint32_t *slot, char why[LIVE_LINE]);
