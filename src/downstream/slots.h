/* SPDX-License-Identifier: BSD-3-Clause */
/* Indices and slots that changes of a group allocate. For the control thread only. */
#pragma once

#include "downstream/downstream.h"

/* Creates the free lists of `d`, whose tables must exist: all slots that the group does not use.
 * Returns 0, or -1 after logging an error. */
int ds_slots_create(struct downstream *d, const struct service_group *sg);

/* No effect if they were not created. */
void ds_slots_free(struct ds_slots *p);
