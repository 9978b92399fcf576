/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and places that changes of a group give away. For who changes the downstream, and no worker. */
#pragma once

#include "downstream/downstream.h"

/* Of `d`, whose tables are made: what the group does not have is free. Returns 0, or -1 after a message. */
int ds_places_create(struct downstream *d, const struct service_group *sg);

/* Harmless where they were not made. */
void ds_places_free(struct ds_places *p);
