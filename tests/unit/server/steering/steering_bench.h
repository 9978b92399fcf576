/* SPDX-License-Identifier: BSD-3-Clause */
/* A life_bench whose shared ports are cards that take rules, and by what its groups differ there. */
#pragma once

#include "flow_card.h"
#include "life_bench.h"

enum steered_by {
	STEERED_BY_VLAN,
	STEERED_BY_MAC,
	STEERED_BY_SESSION, /* the network side by MAC */
	STEERED_IN_VLAN, /* all in one; MAC, session */
	STEERED_BY_BOTH, /* sessions of the first two repeat, and the third has the MAC address of the first */
	STEERED_WAYS,
	STEERED_OFF = STEERED_WAYS, /* by MAC, were it not that one wants none */
	STEERED_FIRST, /* the network side by MAC, which the first group alone has */
	STEERED_MIXED, /* and the second is in a VLAN there */
};

/* Opens it with cards of these abilities, which flow_card has. */
void steering_bench_open(struct life_bench *b, enum steered_by by, unsigned count, unsigned most);

/* No rule is left of it. */
void steering_bench_close(struct life_bench *b);
