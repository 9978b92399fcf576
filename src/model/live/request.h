/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One object of a request as a change of a group in service: the same keys as in the file, the same checks, and
 * held against all that is in service.
 */
#pragma once

#include <jansson.h>

#include "model/live/difference.h"

enum live_verb {
	LIVE_ADD, /* there is none of this MAC address or id */
	LIVE_REPLACE, /* as a whole */
	LIVE_SET, /* some keys: a merge patch, see merge_patch.h */
	LIVE_REMOVE, /* by MAC address or id; nothing refers to it */
};

/*
 * `value` has the keys that a file has for such an object, of which LIVE_SET needs `mac` or `id` and what is to be
 * set, and LIVE_REMOVE needs `mac` or `id`. Of LIVE_GROUP, which is there once, the single values can be set.
 * Returns true, with at most one change in `changes` (none: it is so already), to be given to live_changes_take()
 * or live_changes_free(); or false with one line in `why`, as the loader says it: path, found, allowed.
 * `l` stays as it is, and `value` belongs to the caller.
 */
bool live_request(const struct live_group *l, enum live_verb verb, enum live_object object,
		  json_t *value, struct live_changes *changes, char why[LIVE_LINE]);

/* The place of what `value` names by `mac` or `id`; of LIVE_GROUP 0. False with a line in `why`. */
bool live_request_find(const struct live_group *l, enum live_object object, json_t *value,
		       uint32_t *place, char why[LIVE_LINE]);
