/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which modems share a list of classifiers, and which filter groups one of rules: those whose lists
 * tell the same of every packet that can reach them. Mostly the lists of modems differ by the
 * modem's own addresses as the destination alone, which its packets have anyway, so that many
 * thousands come down to a few. No DPDK: may be called before EAL starts.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "downstream/rules.h"
#include "model/service_group.h"

struct rule_sets {
	uint32_t *of; /* the list of each modem, or group, in the service group's order */
	uint32_t count; /* lists, some maybe of no rules */
	struct rule *rules; /* one list after the other */
	size_t rule_count;
	struct match *matches; /* what the rules point to */
};

/*
 * The lists of the modems' classifiers. A result is 1 + the index of the flow among the modem's. Of
 * a modem a classifier's destination stands only if it tells the modem's addresses apart: where all
 * are inside it goes without saying, where none is the classifier is left out. Returns 0, or -1
 * after a message on stderr. To be freed by rule_sets_free(), also after a failure.
 */
int rule_sets_classifiers(struct rule_sets *s, const struct service_group *sg);

/* The lists of the filter groups. A result is 1 + the action. Returns and ends as the former. */
int rule_sets_filters(struct rule_sets *s, const struct service_group *sg);

void rule_sets_free(struct rule_sets *s);

/* The rules in both, once shared; where memory is too short to tell, all that the group has. */
size_t rule_sets_total(const struct service_group *sg);
