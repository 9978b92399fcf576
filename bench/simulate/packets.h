/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of a simulation: allocated in slabs, reused, and freed together. */
#pragma once

#include "simulation.h"

struct packet {
	struct sender *sender;
	uint64_t number; /* of the transmission */
	uint64_t sent, queued; /* ns */
	struct packet *next; /* in the list of unused packets */
};

/* Returns NULL and sets the error if memory is short. */
struct packet *packet_new(struct simulation *s);

void packet_free(struct simulation *s, struct packet *p);
