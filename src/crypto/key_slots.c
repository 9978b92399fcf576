/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/key_slots.h"

#include <string.h>

#include <rte_common.h>
#include <rte_malloc.h>

#define CHUNK_SLOTS 64

/* The head of a chunk takes one cache line. A free slot links to the next one in its first
 * bytes. */
struct link {
	struct link *next;
};

void key_slots_init(struct key_slots *k, size_t size, int socket) {
	*k = (struct key_slots){
		.size = RTE_ALIGN_CEIL(size, (size_t)RTE_CACHE_LINE_SIZE),
		.socket = socket,
	};
}

static void slot_free(struct key_slots *k, void *slot) {
	struct link *link = slot;

	link->next = k->free;
	k->free = link;
}

static void chunk_add(struct key_slots *k) {
	uint8_t *memory = rte_malloc_socket("keys", RTE_CACHE_LINE_SIZE + CHUNK_SLOTS * k->size,
					    RTE_CACHE_LINE_SIZE, k->socket);
	struct link *chunk = (struct link *)memory;

	if (memory == NULL)
		return;
	chunk->next = k->chunks;
	k->chunks = chunk;
	for (size_t i = CHUNK_SLOTS; i-- > 0;)
		slot_free(k, memory + RTE_CACHE_LINE_SIZE + i * k->size);
}

void *key_slots_alloc(struct key_slots *k) {
	struct link *slot;

	if (k->free == NULL)
		chunk_add(k);
	slot = k->free;
	if (slot == NULL)
		return NULL;
	k->free = slot->next;
	k->used++;
	return slot;
}

void key_slots_release(struct key_slots *k, void *slot) {
	explicit_bzero(slot, k->size);
	slot_free(k, slot);
	k->used--;
}

void key_slots_end(struct key_slots *k) {
	for (struct link *chunk = k->chunks, *next; chunk != NULL; chunk = next) {
		next = chunk->next;
		rte_free(chunk);
	}
	k->chunks = k->free = NULL;
}
