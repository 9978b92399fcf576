/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces leads between groups. A group with channels of its own runs ahead of the others without
 * end. The lead must not count against the group for long once it has lost those channels. So each
 * gap between the rounds of two groups is reduced to MAX_LEAD, which lowers all rounds above the
 * gap. With few groups this happens in one call. With many it takes steps: record all rounds,
 * compute the reductions, apply them group by group, at the latest when a group is served.
 */
#pragma once

#include "scheduler/internal.h"

#define LEADS_AT_ONCE KEY_BLOCK /* limit of the present groups */

/* Allocates memory. Returns false if there is none. */
bool leads_create(struct scheduler *s);
void leads_free(struct scheduler *s);

/* Reduces the leads of a class queue, or starts to. No effect while a reduction is in progress. */
void leads_reduce(struct scheduler *s, uint32_t cluster, unsigned class_queue);

/* One step of the reduction. Requires s->reducing. */
void leads_continue(struct scheduler *s);

/* Cancels the reduction. */
void leads_cancel(struct scheduler *s);

/* Applies the reduction to the group's round, if it is known and not applied yet. Requires
 * s->reducing. */
void leads_apply(struct scheduler *s, uint32_t group, unsigned class_queue);

/* A class queue gets its first member with a current round. Requires s->reducing. */
void leads_enter(struct scheduler *s, uint32_t group, unsigned class_queue);
