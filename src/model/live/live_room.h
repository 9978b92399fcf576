/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether what there is, or is to be, fits into a group's room. */
#pragma once

#include "model/live/live_group.h"

/* False with one line in `why` that says what is too many. */
bool live_room_suffices(const struct group_room *room, const struct group_room *used,
			char why[LIVE_LINE]);
