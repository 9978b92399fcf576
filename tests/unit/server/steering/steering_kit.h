/* SPDX-License-Identifier: BSD-3-Clause */
/* A life_kit whose shared ports are simulated NICs. The kit wraps rte_flow_*() and enqueues packets
 * to the receive queues that the flow rules select. */
#pragma once

#include "life_kit.h"

#define FLOW_NIC_PORTS 8
#define FLOW_NIC_QUEUES 8
#define FLOW_NIC_RULES 32

/* Abilities of the simulated NICs. */
struct flow_nic_abilities {
	bool vlan, mac, session; /* fields that rules can match */
	bool none; /* the driver does not support rules */
	bool validates_all; /* rte_flow_validate() accepts every rule; rte_flow_create() does not */
	unsigned capacity; /* capacity for rules */
	unsigned misdirects; /* one of this many packets goes to a random queue; 0: none */
	bool spreads; /* packets without a rule go to a random queue */
};
extern const struct flow_nic_abilities flow_nic_all;
extern struct flow_nic_abilities flow_nic; /* of all NICs of the open kit */

/* Existing rules, and calls since the kit was opened. */
struct flow_nic_calls {
	unsigned rules, created, destroyed, refused;
	unsigned starts; /* calls of rte_eth_dev_start() */
};
extern struct flow_nic_calls flow_nic_calls;

/* By what the groups differ, and so what the rules match. */
enum steered_by {
	STEERED_BY_VLAN,
	STEERED_BY_MAC,
	STEERED_BY_SESSION, /* network side: MAC address */
	STEERED_IN_VLAN, /* all groups in one VLAN; MAC address and session differ */
	STEERED_BY_BOTH, /* group 2 has the session of group 1, group 3 its MAC address */
	STEERED_WAYS,
	STEERED_OFF = STEERED_WAYS, /* MAC address, but group 2 turns steering off */
	STEERED_FIRST, /* only group 1 has a MAC address on the network side */
	STEERED_MIXED, /* as STEERED_FIRST, and group 2 has a VLAN on the network side */
};

/* Open the kit with NICs of these abilities, or of all. At the end, no rule may be left. */
void steering_kit_open_nic(struct life_kit *k, enum steered_by by, unsigned count,
			   unsigned max_groups, const struct flow_nic_abilities *nic);
void steering_kit_open(struct life_kit *k, enum steered_by by, unsigned count, unsigned max_groups);
