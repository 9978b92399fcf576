/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A card with several receive queues that takes rules: ports of net_ring whose packets the test puts into the queue
 * that the rules say, and rte_flow_validate(), _create() and _destroy() as the program calls them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

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
extern struct flow_card_abilities flow_card;

/* Rules that are there; and calls since flow_card_reset(). */
struct flow_card_calls {
	unsigned rules, created, destroyed, refused;
	unsigned starts; /* of any port */
};
struct flow_card_calls flow_card_calls(void);

/* Abilities: all; no rule is there any more, no call was made. */
void flow_card_reset(void);

/* Two ports, as port_pair() makes them; the first has the queues. It is not started. */
void flow_card_pair(const char *name, struct rte_mempool *pool, unsigned depth, uint16_t ids[2]);

/* What the far port of such a pair sends. Returns whether there was place. */
bool flow_card_put(uint16_t far, struct rte_mbuf *m);

/* Frees the rings of the pair, whose ports are closed, and has the ports go. */
void flow_card_end(const char *name);
