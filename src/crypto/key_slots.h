/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Key schedules of one size, packed: chunks of whole cache lines, and a list of the free ones. Grows as keys come, gives
 * nothing back before its end. For the control thread alone.
 */
#pragma once

#include <stddef.h>

struct key_slots {
	size_t size; /* of a schedule, whole cache lines */
	int socket;
	void *free; /* the first of a list */
	void *chunks; /* the first of a list */
	size_t used;
};

void key_slots_init(struct key_slots *k, size_t size, int socket);

/* NULL when there is no memory. */
void *key_slots_take(struct key_slots *k);

/* Wiped, as it was a key. */
void key_slots_give(struct key_slots *k, void *slot);

/* Frees all memory; no slot is in use. */
void key_slots_end(struct key_slots *k);
