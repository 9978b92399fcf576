/* SPDX-License-Identifier: BSD-3-Clause */
/* Service flow indices that changes allocate, and slots in removal. For the control thread only. */
#pragma once

#include "downstream/downstream.h"

/* Creates d->slots; the tables of `d` must exist. The free list gets all flow indices that
 * ds_tables did not assign to the group's flows. Returns 0, or -1 after logging an error; call
 * ds_slots_free() in any case. */
int ds_slots_create(struct downstream *d, const struct service_group *sg);

/* No effect on zeroed slots. */
void ds_slots_free(struct ds_slots *p);
