/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds many flows from few targets. Flows of a target differ in the source port; if the rules leave too
 * few of these, also in the source address and the destination port. Each flow has the evaluation of its
 * target's packet. No two flows have the same addresses, protocol and ports.
 */
#pragma once

#include <stdint.h>

#include "core/candidates.h"
#include "core/targets.h"

/* The packet that a target was built from, and its evaluation. */
struct target_packet {
	struct packet_address packet;
	struct evaluation evaluation;
};

/*
 * Fills `t->flows` with exactly `wanted->count` flows, or with none if no target accepts frames of
 * `wanted->largest` bytes. `packets` has the packet of each target. Splits the
 * flows by the shares of the classes and evenly among the targets of a class. Flows that a target has no
 * combinations for go to other targets. Returns 0, or -1 after a message on stderr.
 */
int flows_create(struct targets *t, const struct service_group *sg,
		 const struct target_packet *packets, const struct flows_wanted *wanted,
		 struct random *random);
