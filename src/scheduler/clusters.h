/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which channels a bonding group has, and which groups compete for channels. After a change groups
 * are put together anew and move to their new clusters, some at each call; until a group has moved
 * it competes with those that it was together with before.
 */
#pragma once

#include "scheduler/internal.h"

/* Memory for what the clusters of a scheduler need. Returns whether there is. */
bool clusters_create(struct scheduler *s);
void clusters_free(struct scheduler *s);

/* Gives the group its channels; clusters_change() comes next. */
void clusters_set_channels(struct scheduler *s, uint32_t group, const struct scheduler_group *set);

/* Groups are to be put together by the channels that they share, or all where they share the
 * service group's limit. */
void clusters_change(struct scheduler *s);

/* All groups are to look anew at their channels. */
void clusters_look(struct scheduler *s);

/* A step towards what was asked for above; to be called while s->changing. */
void clusters_go_on(struct scheduler *s);
