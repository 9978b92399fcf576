/* SPDX-License-Identifier: BSD-3-Clause */
/* Two service groups around a CMTS of a few lines, a kit each, on ports that they share or have alone. */
#pragma once

#include "groups/groups.h"
#include "traffic_kit.h"

#define TWO 2
#define TWO_PACKETS 64 /* of each */

/* How the second group differs from the first, beside its ID. */
struct two_plan {
	bool own_ports; /* each has its own two */
	bool same_sessions;
	bool same_addresses; /* of subscribers */
	bool same_modems; /* MAC addresses */
	uint16_t network_vlans[TWO];
	uint16_t rphy_vlans[TWO];
	bool upstream;
	bool no_downstream;
};

struct two {
	struct rig rigs[TWO]; /* rigs[0] has what both need */
	struct service_group sgs[TWO];
	uint16_t network_more[2]; /* the second group's own, as in the rig */
	uint16_t rphy_more[2];
	struct groups groups;
	int created; /* what groups_create() said */
};

extern struct two two;

/* Set-up and tear-down of a program's tests: EAL, crypto device, pools, ports. */
int two_open(void **state);
int two_close(void **state);

/* Both groups from the start. Ends with a groups_create() that may have failed: `created`. */
void two_start(const struct two_plan *plan);

/* The same where it must not fail; an upstream is fake_uplink's. */
void two_begin(struct two_plan plan);

/* Frees both, and sees to it that nothing is left. */
void two_end(void);

/* Sends a frame from the CMTS's end as DEPI on the sessions of `group`, in two buffers of which the first has `first` bytes. */
void two_send_frame(unsigned group, const struct rig_frame *f, uint16_t first);

/* Sends bytes from the CMTS's end of a port, with a VLAN tag unless that is 0. */
void two_send(uint16_t port, const uint8_t *bytes, size_t size, uint16_t vlan);

/* Receives until nothing comes any more. */
void two_receive(void);

/* Frees results and both groups. */
void two_finish(struct totals *totals);
