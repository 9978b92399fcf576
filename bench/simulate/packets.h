/* SPDX-License-Identifier: BSD-3-Clause */
/* The packets of a simulation: made in slabs, used again, and freed all together. */
#pragma once

#include "simulation.h"

struct packet {
	struct sender *sender;
	uint64_t number; /* of the transmission */
	uint64_t sent, queued; /* ns */
	struct packet *next; /* of those not in use */
};

/* Returns NULL, and leaves an error, where memory is short. */
struct packet *packet_new(struct simulation *s);

void packet_free(struct simulation *s, struct packet *p);
