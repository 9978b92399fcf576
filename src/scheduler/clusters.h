/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clusters: which channels a bonding group has, and which groups compete for channels. After a
 * change, each call of scheduler_dequeue() joins sets of channels and moves some groups to their
 * new clusters. Until a group has moved, it competes within its old cluster.
 */
#pragma once

#include "scheduler/internal.h"

/* Allocates the memory of the clusters. Returns false if there is none. */
bool clusters_create(struct scheduler *s);
void clusters_free(struct scheduler *s);

/* Sets the group's channels. The caller then calls clusters_change(). */
void clusters_set_channels(struct scheduler *s, uint32_t group, const struct scheduler_group *set);

/* Starts a new assignment of groups to clusters: by shared channels, or one for all if the
 * service group has a rate limit. */
void clusters_change(struct scheduler *s);

/* Makes all groups check their channels again. */
void clusters_recheck(struct scheduler *s);

/* One step of the changes above. Requires s->changing. */
void clusters_continue(struct scheduler *s);
