/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of a service flow: slots, the first of which waits longest. */
#pragma once

#include "scheduler/internal.h"

static inline void queue_append(struct scheduler *s, struct flow *f,
				const struct scheduler_arrival *a, int64_t now) {
	uint32_t i = s->free_slot;
	struct slot *slot = &s->slots[i];

	s->free_slot = slot->next;
	slot->packet = a->packet;
	slot->next = NONE;
	slot->arrived = (uint32_t)(now >> DELAY_SHIFT);
	slot->bytes = a->bytes;
	if (f->packets++ == 0)
		f->first = i;
	else
		s->slots[f->last].next = i;
	f->last = i;
	f->bytes += a->bytes;
	s->held++;
}

/* The slot stays readable until the next packet comes in. */
static inline const struct slot *queue_take(struct scheduler *s, struct flow *f) {
	uint32_t i = f->first;
	struct slot *slot = &s->slots[i];

	f->first = slot->next;
	f->packets--;
	f->bytes -= slot->bytes;
	s->held--;
	slot->next = s->free_slot;
	s->free_slot = i;
	return slot;
}
