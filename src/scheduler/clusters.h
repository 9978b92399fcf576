/* SPDX-License-Identifier: BSD-3-Clause */
/* Which channels a bonding group has, and which groups compete for channels. */
#pragma once

#include "scheduler/internal.h"

/* Gives the group its channels. Returns NULL, or what is wrong; then nothing has changed. clusters_make()
 * comes next. */
const char *clusters_set_channels(struct scheduler *s, uint32_t group,
				  const struct scheduler_group *set);

/* Puts the groups that share channels together. All of them look anew at their channels. */
void clusters_make(struct scheduler *s);
