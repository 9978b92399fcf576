/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of classifiers or filter rules in a normal form: without criteria that all or none of its
 * packets meet. So lists with the same effect have equal bytes. Most lists differ only by their
 * modem's own addresses as destination, which all of its packets have. No DPDK.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/group/modems.h"

struct rule_line {
	struct match match;
	uint32_t result; /* of a match; not 0 */
};

/*
 * Stores the modem's classifiers; a result is 1 + the index of the flow in the modem's list. A
 * destination that contains all of the modem's addresses is cleared. A classifier whose destination
 * contains none is left out. `lines` must have space for all. Returns their number.
 */
size_t rule_lines_classifiers(const struct modem *m, struct rule_line *lines);

/* The same for the rules of a filter group; a result is 1 + the action. */
size_t rule_lines_filters(const struct filter_group *g, struct rule_line *lines);

/* Whether two lists have the same result for each packet. */
bool rule_lines_same(const struct rule_line *a, const struct rule_line *b, size_t count);

uint64_t rule_lines_hash(const struct rule_line *lines, size_t count);
