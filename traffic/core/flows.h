/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many flows to few targets: the packet of a target in variants that differ in the source port, or
 * where its rules leave too few of these, in the source address and the destination port too. The
 * evaluator has to say the same of each variant as of the target's own packet, and no two flows have
 * the same addresses, protocol and ports.
 */
#pragma once

#include <stdint.h>

#include "core/candidates.h"
#include "core/targets.h"

/* The packet that a target was made of, and what happens to it. */
struct target_packet {
	struct packet_address packet;
	struct evaluation evaluation;
};

/*
 * Fills in `t->flows` with exactly `wanted->count` flows; `packets` are those of the targets. The
 * flows are split by the shares of the classes, and evenly among the targets of a class; what the
 * rules of one leave no room for goes to the others. Returns 0, or -1 after a message on stderr.
 */
int flows_create(struct targets *t, const struct service_group *sg,
		 const struct target_packet *packets, const struct flows_wanted *wanted,
		 struct random *random);
