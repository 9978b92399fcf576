/* SPDX-License-Identifier: BSD-3-Clause */
/* Two rigs (traffic_kit.h), one per service group, on shared or separate ports. */
#pragma once

#include "groups/groups.h"
#include "traffic_kit.h"

#define GROUP_COUNT 2
#define TWO_PACKETS 64 /* per group */

/* How the second group differs from the first, except for its ID. */
struct two_plan {
	bool separate_ports; /* separate ports; false: shared */
	bool same_sessions;
	bool same_addresses; /* of CPEs */
	bool same_modems; /* MAC addresses */
	uint16_t network_vlans[GROUP_COUNT];
	uint16_t rphy_vlans[GROUP_COUNT];
	bool upstream;
	bool no_downstream;
};

struct two {
	struct rig rigs[GROUP_COUNT]; /* rigs[0] owns the pool and the crypto provider */
	struct service_group sgs[GROUP_COUNT];
	uint16_t second_network[2]; /* separate ports of the second group, as in struct rig */
	uint16_t second_rphy[2];
	struct groups groups;
	int created; /* result of groups_create() */
};

extern struct two two;

/* Fixtures of a program: EAL, crypto provider, pools, ports. */
int two_open(void **state);
int two_close(void **state);

/* Configures both groups and calls groups_create(), whose result is in `created`. */
void two_try_create(const struct two_plan *plan);

/* The same; asserts success. The upstream is a fake_uplink.h. */
void two_create(struct two_plan plan);

/* Frees both groups; asserts that no mbuf is in use. */
void two_free(void);

/* Sends a DOCSIS frame as DEPI of `group` in two mbufs; `first`: bytes of the first one. */
void two_send_frame(unsigned group, const struct rig_frame *f, uint16_t first);

/* Transmits a frame to `port`, with a VLAN tag unless `vlan` is 0. */
void two_send(uint16_t port, const uint8_t *bytes, size_t size, uint16_t vlan);

/* Receives until the ports are empty. */
void two_receive(void);

/* Frees the totals and both groups. */
void two_free_all(struct totals *totals);
