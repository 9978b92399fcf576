/* SPDX-License-Identifier: BSD-3-Clause */
/* By which rules a card would tell a group's packets from those of the others on its port. */
#pragma once

#include <stdio.h>

#include "platform/flow.h"
#include "server/layout.h"
#include "sharing/table.h"

/*
 * A VLAN that the group has for itself; else a destination MAC address that it has for itself; else its L2TPv3
 * sessions. Subscribers' addresses are nothing for a card: they are too many, and come and go. `groups` are those of
 * the port. Returns how many rules are in `list`, which is the caller's to free: 0 and NULL where there are none, or no
 * memory. What no rule of a group brings to its queue is told apart by software.
 */
unsigned steering_plan(enum share_side side, const struct group_slots *groups, unsigned group,
		       struct flow_match **list);

/* What the rules of a group look at, for people: "VLAN", "MAC address", "session". */
const char *steering_plan_name(const struct flow_match *match);
