/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of classifiers or of filter rules as it is matched: without what no packet can tell that comes to
 * it, so that lists which tell the same are of equal bytes. Mostly the lists of modems differ by the modem's
 * own addresses as the destination alone, which its packets have anyway. No DPDK.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/group/modems.h"

struct rule_line {
	struct match match;
	uint32_t result; /* what a match tells, not 0 */
};

/*
 * The modem's classifiers; a result is 1 + the index of the flow among the modem's. A destination stands
 * only if it tells the modem's addresses apart: where all are inside it goes without saying, where none
 * is the classifier is left out. `lines` has room for all of them. Returns how many they are.
 */
size_t rule_lines_classifiers(const struct modem *m, struct rule_line *lines);

/* The rules of a filter group; a result is 1 + the action. Otherwise as the former. */
size_t rule_lines_filters(const struct filter_group *g, struct rule_line *lines);

/* Whether two lists tell the same of every packet. */
bool rule_lines_same(const struct rule_line *a, const struct rule_line *b, size_t count);

uint64_t rule_lines_hash(const struct rule_line *lines, size_t count);
