/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packed key schedules of one size, in chunks of cache lines with a list of free slots.
 *
 * It grows on demand and frees its memory only at the end. The control thread alone calls these
 * functions.
 */
#pragma once

#include <stddef.h>

struct key_slots {
	size_t size; /* of a schedule, rounded up to cache lines */
	int socket;
	void *free; /* the first of the list */
	void *chunks; /* the first of the list */
	size_t used;
};

void key_slots_init(struct key_slots *k, size_t size, int socket);

/* Returns NULL without memory. */
void *key_slots_alloc(struct key_slots *k);

/* Wipes the key and frees its slot. */
void key_slots_release(struct key_slots *k, void *slot);

/* Frees all memory. No slot may be in use. */
void key_slots_end(struct key_slots *k);
