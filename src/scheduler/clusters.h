/* SPDX-License-Identifier: BSD-3-Clause */
/* Which channels a bonding group has, and which groups compete for channels. */
#pragma once

#include "scheduler/internal.h"

/* Gives the group its channels; clusters_make() comes next. */
void clusters_set_channels(struct scheduler *s, uint32_t group, const struct scheduler_group *set);

/* Puts the groups that share channels together, or all where they share the service group's
 * limit. All of them look anew at their channels. */
void clusters_make(struct scheduler *s);
