/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds a packet for one address that meets what is wanted of filters and classifiers: packets are
 * made up from the rules' own prefixes and ranges, and the evaluator says which one will do.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/evaluate.h"
#include "core/packet.h"
#include "random/random.h"

enum traffic_class {
	CLASS_UNMATCHED, /* no filter rule, no classifier */
	CLASS_PERMIT, /* permitted by a filter rule */
	CLASS_CLASSIFIED, /* meets a classifier */
	CLASS_COUNT,
	CLASS_DENIED = CLASS_COUNT, /* denied by a filter rule or the default */
};

struct candidate_search {
	const struct service_group *sg;
	const struct modem *modem;
	const struct ip_address *address; /* the packet's destination */
	struct random random;
};

/* What filters and classifiers see of such a packet, which has to live as long. */
struct frame_fields packet_fields(const struct packet_address *packet);

/*
 * Searches a packet that passes the filters and is of `wanted`; of CLASS_CLASSIFIED one that goes to
 * the modem's service flow `flow`. Of CLASS_DENIED one that does not pass. On true `out` is the packet
 * and `evaluation` what happens to it. False where no try succeeded: there need not be such a packet.
 */
bool candidate_find(struct candidate_search *s, enum traffic_class wanted, uint32_t flow,
		    struct packet_address *out, struct evaluation *evaluation);
