/* SPDX-License-Identifier: BSD-3-Clause */
/* The modem lookup on its own: four modems, their tables, packets. */
#pragma once

#include "downstream/downstream.h"
#include "model/service_group.h"

#define LOOKUP_PERIOD_NS 1000000000

struct lookup_kit {
	struct service_group sg;
	struct ds_tables tables;
	struct ds_upper upper;
	struct clock clock;
	struct rte_mempool *packets;
};

extern struct lookup_kit lookup_kit;

/* EAL and the kit, in the form that cmocka takes. */
int lookup_kit_open(void **state);

/* For the last test of a file (a failure in the end of a group would not count): fails where a packet is missing. */
void lookup_kit_end(void);

/* The stage. Checks that every packet is kept or counted once, and order of those with a serial. */
uint16_t lookup_run(struct rte_mbuf **pkts, uint16_t n);
