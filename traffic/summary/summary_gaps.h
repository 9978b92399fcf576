/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduling gaps of the polling thread, and time spans in which lost or reordered packets were
 * under way. */
#pragma once

#include <jansson.h>

#include "groups/groups.h"

/*
 * Adds "gaps": {"shorter", "list": [[from, to], ..]} to `root`, and "suspects": {"lost_more",
 * "reordered_more", "list": [[from, to, lost, reordered], ..]} to its objects "downstream" and "upstream",
 * if present. Times are TSC cycles. "shorter", "lost_more" and "reordered_more" count gaps and packets that the
 * lists do not contain. A list has the suspects of all groups; the gaps are those of the one thread that polls
 * them all, which must have stopped. Without groups nothing is added.
 */
void summary_gaps(json_t *root, const struct groups *g);
