/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/hold.h"

#include <rte_malloc.h>

int holds_init(struct holds *all, uint32_t modems) {
	for (unsigned c = 0; c < HOLD_CLASSES; c++)
		TAILQ_INIT(&all->lists[c]);
	for (unsigned p = 0; p < HOLD_POOLS; p++)
		all->buffers[p] = 0;
	all->modems = rte_zmalloc("hold", modems * sizeof(*all->modems), 0);
	if (all->modems == NULL)
		return -1;
	for (uint32_t m = 0; m < modems; m++)
		TAILQ_INIT(&all->modems[m].list);
	return 0;
}

void holds_free(struct holds *all) {
	rte_free(all->modems);
	all->modems = NULL;
}

void hold_init(struct hold *h, enum hold_kind kind, uint32_t modem) {
	*h = (struct hold){.kind = kind, .modem = modem};
}

static enum hold_class class_of(const struct hold *h) {
	static const enum hold_class classes[HOLD_KINDS] = {
		[HOLD_PACKETS] = HOLD_CLASS_PACKETS,  [HOLD_SEGMENTS] = HOLD_CLASS_SEGMENTS,
		[HOLD_BURST] = HOLD_CLASS_BURSTS,     [HOLD_FRAME] = HOLD_CLASS_FRAMES,
		[HOLD_FRAGMENTS] = HOLD_CLASS_FRAMES,
	};

	return classes[h->kind];
}

static enum hold_pool pool_of(enum hold_class class) {
	return class == HOLD_CLASS_FRAMES ? HOLD_POOL_FRAMES : HOLD_POOL_PACKETS;
}

static void begin(struct holds *all, struct hold *h, uint64_t now) {
	h->since = now;
	TAILQ_INSERT_TAIL(&all->lists[class_of(h)], h, link);
	if (h->modem != HOLD_NOBODY)
		TAILQ_INSERT_TAIL(&all->modems[h->modem].list, h, of_modem);
}

static void end(struct holds *all, struct hold *h) {
	TAILQ_REMOVE(&all->lists[class_of(h)], h, link);
	if (h->modem != HOLD_NOBODY)
		TAILQ_REMOVE(&all->modems[h->modem].list, h, of_modem);
}

void hold_add(struct holds *all, struct hold *h, struct hold_size size, uint64_t now) {
	if (h->size.bytes == 0)
		begin(all, h, now);
	h->size.buffers += size.buffers;
	h->size.bytes += size.bytes;
	all->buffers[pool_of(class_of(h))] += size.buffers;
	if (h->modem != HOLD_NOBODY)
		all->modems[h->modem].bytes += size.bytes;
}

void hold_remove(struct holds *all, struct hold *h, struct hold_size size) {
	h->size.buffers -= size.buffers;
	h->size.bytes -= size.bytes;
	all->buffers[pool_of(class_of(h))] -= size.buffers;
	if (h->modem != HOLD_NOBODY)
		all->modems[h->modem].bytes -= size.bytes;
	if (h->size.bytes == 0)
		end(all, h);
}

void hold_end(struct holds *all, struct hold *h) {
	if (h->size.bytes > 0)
		hold_remove(all, h, h->size);
}

void hold_renew(struct holds *all, struct hold *h, uint64_t now) {
	if (h->size.bytes == 0)
		return;
	end(all, h);
	begin(all, h, now);
}

uint64_t holds_deadline(const struct holds *all) {
	uint64_t first = UINT64_MAX;

	for (unsigned c = 0; c < HOLD_CLASSES; c++) {
		const struct hold *h = TAILQ_FIRST(&all->lists[c]);

		if (h != NULL)
			first = RTE_MIN(first, h->since + all->timeouts[c]);
	}
	return first;
}

static struct hold *oldest_in(struct holds *all, enum hold_pool pool) {
	struct hold *oldest = NULL;

	for (unsigned c = 0; c < HOLD_CLASSES; c++) {
		struct hold *h = TAILQ_FIRST(&all->lists[c]);

		if (h != NULL && pool_of((enum hold_class)c) == pool &&
		    (oldest == NULL || h->since < oldest->since))
			oldest = h;
	}
	return oldest;
}

struct hold *holds_excess(struct holds *all, uint64_t until, bool *timeout) {
	*timeout = true;
	for (unsigned c = 0; c < HOLD_CLASSES; c++) {
		struct hold *h = TAILQ_FIRST(&all->lists[c]);

		if (h != NULL && until >= h->since + all->timeouts[c])
			return h;
	}
	*timeout = false;
	for (unsigned p = 0; p < HOLD_POOLS; p++) {
		if (all->buffers[p] > all->limits[p])
			return oldest_in(all, (enum hold_pool)p);
	}
	return NULL;
}

struct hold *holds_oldest_gap(struct holds *all) {
	struct hold *packets = TAILQ_FIRST(&all->lists[HOLD_CLASS_PACKETS]);
	struct hold *segments = TAILQ_FIRST(&all->lists[HOLD_CLASS_SEGMENTS]);

	if (packets == NULL || segments == NULL)
		return packets != NULL ? packets : segments;
	return packets->since <= segments->since ? packets : segments;
}

struct hold *holds_modem_excess(struct holds *all, uint32_t modem) {
	struct modem_holds *m = &all->modems[modem];

	return m->bytes > all->modem_limit ? TAILQ_FIRST(&m->list) : NULL;
}
