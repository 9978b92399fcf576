/* SPDX-License-Identifier: BSD-3-Clause */
/* Reference evaluation of a modem's filters and classifiers for one packet, rule by rule and field
 * by field. It is slow and simple on purpose: the proof compares the pipeline's results with it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/service_group.h"
#include "wire/ip.h"

#define NO_RULE SIZE_MAX

struct evaluation {
	enum filter_action action;
	/* filter group of the rule that decided, index in the service group; NO_RULE: the default */
	size_t group;
	size_t rule; /* index of the rule in the group */
	size_t classifier; /* index in the modem's list; NO_RULE if none matched */
	uint32_t flow; /* index into the modem's service flows; 0 without a classifier */
};

/* Whether the first `prefix->length` bits of `address` (of `family`) equal the prefix. */
bool prefix_contains(const struct ip_prefix *prefix, unsigned family, const uint8_t *address);

/* Whether the packet matches every criterion (MULPI, annex C, packet classification encodings). A
 * match of family LLC compares the EtherType of any frame only. */
bool match_meets(const struct match *m, const struct frame_fields *packet);

/* The first rule that the packet meets decides, in the order of the modem's filter groups; else the default.
 * Likewise the first classifier, also for denied packets. */
struct evaluation evaluate(const struct service_group *sg, const struct modem *modem,
			   const struct frame_fields *packet);
