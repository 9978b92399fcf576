/* SPDX-License-Identifier: BSD-3-Clause */
/* Of a summary: gaps of the traffic's thread, and when packets were under way that were lost or came out of order. */
#pragma once

#include <jansson.h>

#include "groups/groups.h"

/*
 * Adds "gaps": {"shorter", "list": [[from, to], ..]}, and to the objects "downstream" and "upstream" of `root`, where
 * they are, "suspects": {"lost_more", "reordered_more", "list": [[from, to, lost, reordered], ..]}. Times are TSC cycles.
 */
void summary_gaps(json_t *root, const struct groups *g);
