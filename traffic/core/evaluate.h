/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the configuration says about one packet for one modem: rule by rule, from first to last,
 * field by field. Slow and plain on purpose, as it is what the pipeline's answers are held against.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/service_group.h"
#include "wire/ip.h"

#define NO_RULE SIZE_MAX

struct evaluation {
	enum filter_action action;
	size_t group; /* of the rule that decided, index in the service group; NO_RULE: the default did */
	size_t rule; /* its index in the group */
	size_t classifier; /* index in the modem's list; NO_RULE where none matched */
	uint32_t flow; /* index into the modem's service flows */
};

/* Whether the first `prefix->length` bits of `address` (of `family`) are those of the prefix. */
bool prefix_holds(const struct ip_prefix *prefix, unsigned family, const uint8_t *address);

/*
 * Whether the packet meets every part of the match (MULPI, annex C, packet classification
 * encodings). A match of family LLC looks at the EtherType alone, of any frame.
 */
bool match_meets(const struct match *m, const struct frame_fields *packet);

/*
 * The modem's filter groups in order, then the default; then its classifiers in order, whatever the
 * filters decided.
 */
struct evaluation evaluate(const struct service_group *sg, const struct modem *modem,
			   const struct frame_fields *packet);
