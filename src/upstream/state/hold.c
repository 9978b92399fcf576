/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/state/hold.h"

#include <rte_malloc.h>

int holds_init(struct holds *all, uint32_t modems) {
	for (unsigned c = 0; c < HOLD_CLASSES; c++)
		TAILQ_INIT(&all->lists[c]);
	for (unsigned p = 0; p < HOLD_POOLS; p++)
		all->buffers[p] = 0;
	TAILQ_INIT(&all->above_limit);
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

static void hold_enter(struct holds *all, struct hold *h, uint64_t now) {
	h->since = now;
	TAILQ_INSERT_TAIL(&all->lists[class_of(h)], h, link);
	if (h->modem != HOLD_NOBODY)
		TAILQ_INSERT_TAIL(&all->modems[h->modem].list, h, of_modem);
}

static void hold_leave(struct holds *all, struct hold *h) {
	TAILQ_REMOVE(&all->lists[class_of(h)], h, link);
	if (h->modem != HOLD_NOBODY)
		TAILQ_REMOVE(&all->modems[h->modem].list, h, of_modem);
}

static void modem_add(struct holds *all, struct modem_holds *m, uint32_t bytes) {
	m->bytes += bytes;
	if (m->bytes <= all->modem_limit || m->above_limit)
		return;
	TAILQ_INSERT_TAIL(&all->above_limit, m, link);
	m->above_limit = true;
}

void hold_add(struct holds *all, struct hold *h, struct hold_size size, uint64_t now) {
	if (h->size.bytes == 0)
		hold_enter(all, h, now);
	h->size.buffers += size.buffers;
	h->size.bytes += size.bytes;
	all->buffers[pool_of(class_of(h))] += size.buffers;
	if (h->modem != HOLD_NOBODY)
		modem_add(all, &all->modems[h->modem], size.bytes);
}

void hold_remove(struct holds *all, struct hold *h, struct hold_size size) {
	h->size.buffers -= size.buffers;
	h->size.bytes -= size.bytes;
	all->buffers[pool_of(class_of(h))] -= size.buffers;
	if (h->modem != HOLD_NOBODY)
		all->modems[h->modem].bytes -= size.bytes;
	if (h->size.bytes == 0)
		hold_leave(all, h);
}

void hold_end(struct holds *all, struct hold *h) {
	if (h->size.bytes > 0)
		hold_remove(all, h, h->size);
}

void hold_renew(struct holds *all, struct hold *h, uint64_t now) {
	if (h->size.bytes == 0)
		return;
	hold_leave(all, h);
	hold_enter(all, h, now);
}

static struct hold *oldest_in(const struct holds *all, enum hold_pool pool) {
	struct hold *oldest = NULL;

	for (unsigned c = 0; c < HOLD_CLASSES; c++) {
		struct hold *h = TAILQ_FIRST(&all->lists[c]);

		if (h != NULL && pool_of((enum hold_class)c) == pool &&
		    (oldest == NULL || h->since < oldest->since))
			oldest = h;
	}
	return oldest;
}

/* The oldest pending buffers of a modem above its limit. */
static struct hold *excess_of_modems(struct holds *all) {
	struct modem_holds *m;

	while ((m = TAILQ_FIRST(&all->above_limit)) != NULL) {
		if (m->bytes > all->modem_limit)
			return TAILQ_FIRST(&m->list);
		TAILQ_REMOVE(&all->above_limit, m, link);
		m->above_limit = false;
	}
	return NULL;
}

static struct hold *excess_of_pools(const struct holds *all) {
	struct hold *h = NULL;

	for (unsigned p = 0; p < HOLD_POOLS && h == NULL; p++) {
		if (all->buffers[p] > all->limits[p])
			h = oldest_in(all, (enum hold_pool)p);
	}
	return h;
}

struct hold *holds_excess(struct holds *all, uint64_t until, bool *timeout) {
	struct hold *h;

	*timeout = true;
	for (unsigned c = 0; c < HOLD_CLASSES; c++) {
		h = TAILQ_FIRST(&all->lists[c]);
		if (h != NULL && until >= h->since + all->timeouts[c])
			return h;
	}
	*timeout = false;
	h = excess_of_modems(all);
	return h != NULL ? h : excess_of_pools(all);
}

struct hold *holds_oldest_gap(const struct holds *all) {
	struct hold *packets = TAILQ_FIRST(&all->lists[HOLD_CLASS_PACKETS]);
	struct hold *segments = TAILQ_FIRST(&all->lists[HOLD_CLASS_SEGMENTS]);
	bool packets_first =
		segments == NULL || (packets != NULL && packets->since <= segments->since);

	return packets_first ? packets : segments;
}

bool holds_too_much(const struct holds *all) {
	return !TAILQ_EMPTY(&all->above_limit) || excess_of_pools(all) != NULL;
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
