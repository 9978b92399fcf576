/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups with channels of their own run ahead of the others without end. Who is ahead of whom is to
 * be known, but a lead shall not be held against a group for long when it has those channels no
 * more: of each gap between the rounds of two groups MAX_LEAD is left, and all that are above it
 * come down together. Of few groups that is done at once; of many in steps: first all rounds are
 * noted, then what is to be taken off which of them is known for all of them, and group by group is
 * told, at the latest when it is looked at.
 */
#pragma once

#include "scheduler/internal.h"

#define LEADS_AT_ONCE RANK_BLOCK /* present groups */

/* Memory to cut leads in. Returns whether there is. */
bool leads_create(struct scheduler *s);
void leads_free(struct scheduler *s);

/* Cuts the leads of a column, or begins to, where nothing else is being cut. */
void leads_cut(struct scheduler *s, uint32_t cluster, unsigned column);

/* A step of what was begun; to be called while s->cutting. */
void leads_go_on(struct scheduler *s);

/* What was begun is given up. */
void leads_forget(struct scheduler *s);

/* The group is told what is taken off its rounds, where that is known and it was not told. To be
 * called while s->cutting. */
void leads_tell(struct scheduler *s, uint32_t group, unsigned column);

/* A column begins with a round that is right at present. To be called while s->cutting. */
void leads_enter(struct scheduler *s, uint32_t group, unsigned column);
