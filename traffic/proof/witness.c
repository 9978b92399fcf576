/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps a random sample of windows of consecutive packets, and writes them as pcapng. */
#include "proof/witness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/pcapng.h"
#include "random/random.h"

#define FIRST_GAP 32 /* mean packets between windows at the beginning */
#define LONGEST_GAP (1u << 30)
#define HEADS 512 /* maximum bytes of a block without its packet, or of those before the first */

struct seen {
	uint64_t time; /* ns since 1970 */
	uint32_t size, wire_size;
};

struct window {
	unsigned count;
	struct seen packets[WITNESS_WINDOW];
};

struct witness_store {
	struct random random;
	uint32_t gap, size;
	uint32_t count; /* number of windows */
	uint64_t begun; /* windows begun, including those replaced since */
	uint32_t open; /* index of the window begun last */
	uint8_t *bytes; /* of all packets */
	struct window windows[];
};

static uint32_t window_gap(struct witness_store *r) {
	return random_below(&r->random, 2 * r->gap);
}

int witness_create(struct witness *w, uint32_t packets, uint32_t size, uint64_t seed) {
	uint32_t count = (packets + WITNESS_WINDOW - 1) / WITNESS_WINDOW;
	struct witness_store *r;

	*w = (struct witness){0};
	if (count == 0)
		return 0;
	r = calloc(1, sizeof(*r) + count * sizeof(r->windows[0]));
	if (r == NULL)
		return -1;
	w->store = r;
	*r = (struct witness_store){
		.random = {seed},
		.gap = FIRST_GAP,
		.size = size,
		.count = count,
		.begun = 1,
		.bytes = calloc((size_t)count * WITNESS_WINDOW, size),
	};
	w->skip = window_gap(r);
	return r->bytes == NULL ? -1 : 0;
}

void witness_free(struct witness *w) {
	if (w->store != NULL)
		free(w->store->bytes);
	free(w->store);
	w->store = NULL;
}

static uint8_t *packet_slot(const struct witness_store *r, uint32_t window, unsigned i) {
	return r->bytes + ((size_t)window * WITNESS_WINDOW + i) * r->size;
}

/*
 * Begins a window. If all are in use, it replaces a random one. After every `count` windows the
 * mean gap doubles, so that windows get rarer the longer a run is, and most are from its later
 * half.
 */
static void window_next(struct witness *w) {
	struct witness_store *r = w->store;

	if (r->begun % r->count == 0 && r->gap < LONGEST_GAP)
		r->gap *= 2;
	r->open = r->begun < r->count ? (uint32_t)r->begun : random_below(&r->random, r->count);
	r->begun++;
	r->windows[r->open].count = 0;
	w->skip = window_gap(r);
}

static void packet_keep(struct witness *w, const struct rte_mbuf *m) {
	struct witness_store *r = w->store;
	struct window *open = &r->windows[r->open];
	struct seen *seen = &open->packets[open->count];
	uint8_t *bytes = packet_slot(r, r->open, open->count);
	struct timespec now;
	const void *read;

	clock_gettime(CLOCK_REALTIME, &now);
	seen->time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	seen->wire_size = rte_pktmbuf_pkt_len(m);
	seen->size = RTE_MIN(seen->wire_size, r->size);
	read = rte_pktmbuf_read(m, 0, seen->size, bytes);
	if (read != bytes)
		memcpy(bytes, read, seen->size);
	if (++open->count == WITNESS_WINDOW)
		window_next(w);
}

void witness_copy(struct witness *w, struct rte_mbuf *const *packets, unsigned n) {
	for (unsigned i = 0; i < n; i++) {
		if (w->skip > 0)
			w->skip--;
		else
			packet_keep(w, packets[i]);
	}
}

/* A file that is being written; `good` until something fails. */
struct writing {
	FILE *out;
	bool good;
	uint32_t interface, window; /* numbers of the next interface and window */
	uint8_t *block;
	size_t capacity;
};

static void block_flush(struct writing *f, struct pcapng *p) {
	f->good = f->good && fwrite(p->bytes, 1, p->size, f->out) == p->size;
	p->size = 0;
}

static void interface_write(struct writing *f, const char *direction, unsigned index,
			    const struct witness *w) {
	struct pcapng p = {.bytes = f->block, .capacity = f->capacity};
	struct pcapng_interface interface = {.link = PCAPNG_ETHERNET};
	char name[32];

	if (w->store == NULL)
		return;
	snprintf(name, sizeof(name), "%s %u", direction, index);
	interface.name = name;
	interface.snap = w->store->size;
	f->good = f->good && pcapng_interface(&p, &interface);
	block_flush(f, &p);
}

static void window_write(struct writing *f, const struct witness_store *r, uint32_t window) {
	char number[16];

	snprintf(number, sizeof(number), "%u", f->window++);
	for (unsigned i = 0; i < r->windows[window].count; i++) {
		const struct seen *seen = &r->windows[window].packets[i];
		struct pcapng p = {.bytes = f->block, .capacity = f->capacity};
		struct pcapng_packet packet = {
			.interface = f->interface,
			.time = seen->time,
			.bytes = packet_slot(r, window, i),
			.size = seen->size,
			.wire_size = seen->wire_size,
			.flags = PCAPNG_INBOUND,
			.comment = number,
		};

		f->good = f->good && pcapng_packet(&p, &packet);
		block_flush(f, &p);
	}
}

static void windows_write(struct writing *f, const struct witness *w) {
	if (w->store == NULL)
		return;
	for (uint32_t i = 0; i < w->store->count; i++)
		window_write(f, w->store, i);
	f->interface++;
}

static void groups_write(struct writing *f, const struct witness_pair *groups, unsigned count) {
	struct pcapng p = {.bytes = f->block, .capacity = f->capacity};

	f->good = pcapng_section(&p, "vcmts-traffic");
	block_flush(f, &p);
	for (unsigned g = 0; g < count; g++) {
		interface_write(f, "downstream", g, &groups[g].downstream);
		interface_write(f, "upstream", g, &groups[g].upstream);
	}
	for (unsigned g = 0; g < count; g++) {
		windows_write(f, &groups[g].downstream);
		windows_write(f, &groups[g].upstream);
	}
}

static uint32_t largest(const struct witness_pair *groups, unsigned count) {
	uint32_t size = 0;

	for (unsigned g = 0; g < count; g++) {
		const struct witness_store *down = groups[g].downstream.store;
		const struct witness_store *up = groups[g].upstream.store;

		size = RTE_MAX(size, down != NULL ? down->size : 0);
		size = RTE_MAX(size, up != NULL ? up->size : 0);
	}
	return size;
}

int witness_write(const struct witness_pair *groups, unsigned count, const char *path) {
	size_t capacity = largest(groups, count) + HEADS;
	struct writing f = {
		.out = fopen(path, "wb"), .block = malloc(capacity), .capacity = capacity};

	if (f.out != NULL && f.block != NULL)
		groups_write(&f, groups, count);
	free(f.block);
	if (f.out != NULL && fclose(f.out) != 0)
		f.good = false;
	if (f.good)
		return 0;
	fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
	return -1;
}
