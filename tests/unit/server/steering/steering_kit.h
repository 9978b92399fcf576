/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A life_kit whose shared ports are cards with several receive queues that take rules, and by what its groups differ
 * there. The ports are of net_ring: the kit puts packets into the queue that the rules say, which come by
 * rte_flow_validate(), _create() and _destroy() as the program calls them.
 */
#pragma once

#include "life_kit.h"

#define FLOW_CARD_PORTS 8
#define FLOW_CARD_QUEUES 8
#define FLOW_CARD_RULES 32

/* What the card can do, set by the test; all cards alike. */
struct flow_card_abilities {
	bool vlan, mac, session; /* what rules may look at */
	bool none; /* its driver has no rules at all */
	bool says_yes; /* validate() takes everything; create() does not */
	unsigned most; /* rules that it has place for */
	unsigned errs; /* one of so many packets comes to another queue; 0: none */
	bool spreads; /* what no rule is for comes to any queue */
};
extern const struct flow_card_abilities flow_card_all;
extern struct flow_card_abilities flow_card; /* of the present cards */

/* Rules that are there; and calls since it was opened. */
struct flow_card_calls {
	unsigned rules, created, destroyed, refused;
	unsigned starts; /* of any port */
};
extern struct flow_card_calls flow_card_calls;

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

/* Opens it with cards of these abilities, or of all. No rule is left when it is closed. */
void steering_kit_with(struct life_kit *b, enum steered_by by, unsigned count, unsigned most,
		       const struct flow_card_abilities *card);
void steering_kit_open(struct life_kit *b, enum steered_by by, unsigned count, unsigned most);
