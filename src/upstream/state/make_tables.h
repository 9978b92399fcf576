/* SPDX-License-Identifier: BSD-3-Clause */
/* Making the tables of an upstream. */
#pragma once

#include "upstream/state/tables.h"

/* What the group has, all of it, in what concerns an upstream. */
struct group_room us_room_exact(const struct service_group *sg);

/*
 * Tables with what the group has, and with as much room as `room` says, or no more than that where it is NULL.
 * `keys` holds two schedules of the crypto provider for each modem. Returns 0, or -1 after a message. Of `sg` and
 * `keys` nothing is read afterwards.
 */
int us_tables_create(struct us_tables *t, const struct service_group *sg,
		     const struct group_room *room, void *const *keys);

void us_tables_free(struct us_tables *t);
