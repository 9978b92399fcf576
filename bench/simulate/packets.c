/* SPDX-License-Identifier: BSD-3-Clause */
#include "packets.h"

#include <stdlib.h>

#define SLAB 4096 /* packets */

/* Adds a slab of unused packets. Sets the error if memory is short. */
static void grow(struct simulation *s) {
	struct packet **slabs = reallocarray(s->slabs, s->slab_count + 1, sizeof(*slabs));
	struct packet *slab = calloc(SLAB, sizeof(*slab));

	if (slabs != NULL)
		s->slabs = slabs;
	if (slabs == NULL || slab == NULL) {
		free(slab);
		s->error = "memory is short";
		return;
	}
	s->slabs[s->slab_count++] = slab;
	for (unsigned i = 0; i < SLAB; i++)
		packet_free(s, &slab[i]);
}

struct packet *packet_new(struct simulation *s) {
	struct packet *p;

	if (s->unused == NULL)
		grow(s);
	p = s->unused;
	if (p != NULL)
		s->unused = p->next;
	return p;
}

void packet_free(struct simulation *s, struct packet *p) {
	p->next = s->unused;
	s->unused = p;
}
