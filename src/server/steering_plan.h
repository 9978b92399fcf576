/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the NIC flow rules that match a group's packets on its port. */
#pragma once

#include <stdio.h>

#include "platform/flow.h"
#include "server/layout.h"
#include "sharing/table.h"

/*
 * Matches a VLAN or, failing that, a destination MAC address that only this group uses; else its
 * L2TPv3 sessions. Subscriber addresses are too many for a NIC, and change. `groups` are those of
 * the port. Returns the number of rules in `list`, which the caller frees; 0 and NULL if there are
 * none or memory is short. Software distributes packets that no rule matches.
 */
unsigned steering_plan(enum share_side side, const struct group_slots *groups, unsigned group,
		       struct flow_match **list);

/* What the rules of a group match, for people: "VLAN", "MAC address", "session". */
const char *steering_plan_name(const struct flow_match *match);
