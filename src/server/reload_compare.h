/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What differs between two configurations of one service group: by the loader's own tables of keys,
 * so that no key is forgotten.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "downstream/qos.h"
#include "model/service_group.h"

struct reload_changes {
	struct qos_change *list; /* in the order in which they may be applied; free() */
	size_t count;
	size_t by_object[QOS_OBJECTS];
};

/*
 * Collects what of the quality of service is another in `next`. Returns true, also where nothing
 * differs; or false with `why` (one line of at most `size` bytes: the key, and what is wrong) where
 * there is a difference that needs a new start, or no memory. Then there are no changes.
 */
bool reload_compare(const struct service_group *now, const struct service_group *next,
		    struct reload_changes *changes, char *why, size_t size);
