/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a packet for one address that meets a condition on filters and classifiers: builds packets
 * from the rules' prefixes and ranges, and evaluates each. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/evaluate.h"
#include "core/packet.h"
#include "random/random.h"

enum traffic_class {
	CLASS_UNMATCHED, /* no filter rule, no classifier */
	CLASS_PERMIT, /* a filter rule permits it */
	CLASS_CLASSIFIED, /* matches a classifier */
	CLASS_COUNT,
	CLASS_DENIED = CLASS_COUNT, /* a filter rule or the default denies it */
};

struct candidate_search {
	const struct service_group *sg;
	const struct modem *modem;
	const struct ip_address *address; /* the packet's destination */
	struct random random;
};

/* The fields of such a packet that filters and classifiers read. The result points into `packet`. */
struct frame_fields packet_fields(const struct packet_address *packet);

/*
 * Searches for a packet of class `wanted` that the filters permit; for CLASS_CLASSIFIED, one that goes to
 * the modem's service flow `flow`; for CLASS_DENIED, one that the filters deny. On true, `out` is the
 * packet and `evaluation` its result. Returns false if no try succeeded; such a packet need not exist.
 */
bool candidate_find(struct candidate_search *s, enum traffic_class wanted, uint32_t flow,
		    struct packet_address *out, struct evaluation *evaluation);
