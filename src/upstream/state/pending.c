/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/state/pending.h"

#include <rte_malloc.h>

int pending_set_init(struct pending_set *all, uint32_t modems) {
	for (unsigned c = 0; c < PENDING_CLASSES; c++)
		TAILQ_INIT(&all->lists[c]);
	for (unsigned p = 0; p < PENDING_POOLS; p++)
		all->buffers[p] = 0;
	TAILQ_INIT(&all->above_limit);
	all->modems = rte_zmalloc("hold", modems * sizeof(*all->modems), 0);
	if (all->modems == NULL)
		return -1;
	for (uint32_t m = 0; m < modems; m++)
		TAILQ_INIT(&all->modems[m].list);
	return 0;
}

void pending_set_free(struct pending_set *all) {
	rte_free(all->modems);
	all->modems = NULL;
}

void pending_init(struct pending *h, enum pending_kind kind, uint32_t modem) {
	*h = (struct pending){.kind = kind, .modem = modem};
}

static enum pending_class class_of(const struct pending *h) {
	static const enum pending_class classes[PENDING_KINDS] = {
		[PENDING_PACKETS] = PENDING_CLASS_PACKETS,
		[PENDING_SEGMENTS] = PENDING_CLASS_SEGMENTS,
		[PENDING_BURST] = PENDING_CLASS_BURSTS,
		[PENDING_FRAME] = PENDING_CLASS_FRAMES,
		[PENDING_FRAGMENTS] = PENDING_CLASS_FRAMES,
	};

	return classes[h->kind];
}

static enum pending_pool pool_of(enum pending_class class) {
	return class == PENDING_CLASS_FRAMES ? PENDING_POOL_FRAMES : PENDING_POOL_PACKETS;
}

static void pending_insert(struct pending_set *all, struct pending *h, uint64_t now) {
	h->since = now;
	TAILQ_INSERT_TAIL(&all->lists[class_of(h)], h, link);
	if (h->modem != PENDING_NO_MODEM)
		TAILQ_INSERT_TAIL(&all->modems[h->modem].list, h, of_modem);
}

static void pending_unlink(struct pending_set *all, struct pending *h) {
	TAILQ_REMOVE(&all->lists[class_of(h)], h, link);
	if (h->modem != PENDING_NO_MODEM)
		TAILQ_REMOVE(&all->modems[h->modem].list, h, of_modem);
}

static void modem_add(struct pending_set *all, struct modem_pending *m, uint32_t bytes) {
	m->bytes += bytes;
	if (m->bytes <= all->modem_limit || m->above_limit)
		return;
	TAILQ_INSERT_TAIL(&all->above_limit, m, link);
	m->above_limit = true;
}

void pending_add(struct pending_set *all, struct pending *h, struct pending_size size,
		 uint64_t now) {
	if (h->size.bytes == 0)
		pending_insert(all, h, now);
	h->size.buffers += size.buffers;
	h->size.bytes += size.bytes;
	all->buffers[pool_of(class_of(h))] += size.buffers;
	if (h->modem != PENDING_NO_MODEM)
		modem_add(all, &all->modems[h->modem], size.bytes);
}

void pending_remove(struct pending_set *all, struct pending *h, struct pending_size size) {
	h->size.buffers -= size.buffers;
	h->size.bytes -= size.bytes;
	all->buffers[pool_of(class_of(h))] -= size.buffers;
	if (h->modem != PENDING_NO_MODEM)
		all->modems[h->modem].bytes -= size.bytes;
	if (h->size.bytes == 0)
		pending_unlink(all, h);
}

void pending_clear(struct pending_set *all, struct pending *h) {
	if (h->size.bytes > 0)
		pending_remove(all, h, h->size);
}

void pending_restart(struct pending_set *all, struct pending *h, uint64_t now) {
	if (h->size.bytes == 0)
		return;
	pending_unlink(all, h);
	pending_insert(all, h, now);
}

static struct pending *oldest_in(const struct pending_set *all, enum pending_pool pool) {
	struct pending *oldest = NULL;

	for (unsigned c = 0; c < PENDING_CLASSES; c++) {
		struct pending *h = TAILQ_FIRST(&all->lists[c]);

		if (h != NULL && pool_of((enum pending_class)c) == pool &&
		    (oldest == NULL || h->since < oldest->since))
			oldest = h;
	}
	return oldest;
}

/* The oldest pending buffers of a modem above its limit. */
static struct pending *excess_of_modems(struct pending_set *all) {
	struct modem_pending *m;

	while ((m = TAILQ_FIRST(&all->above_limit)) != NULL) {
		if (m->bytes > all->modem_limit)
			return TAILQ_FIRST(&m->list);
		TAILQ_REMOVE(&all->above_limit, m, link);
		m->above_limit = false;
	}
	return NULL;
}

/* The oldest entry of a pool that is above its limit, or NULL. */
static struct pending *excess_of_pools(const struct pending_set *all) {
	struct pending *h = NULL;

	for (unsigned p = 0; p < PENDING_POOLS && h == NULL; p++) {
		if (all->buffers[p] > all->limits[p])
			h = oldest_in(all, (enum pending_pool)p);
	}
	return h;
}

struct pending *pending_excess(struct pending_set *all, uint64_t until, bool *timeout) {
	struct pending *h;

	*timeout = true;
	for (unsigned c = 0; c < PENDING_CLASSES; c++) {
		h = TAILQ_FIRST(&all->lists[c]);
		if (h != NULL && until >= h->since + all->timeouts[c])
			return h;
	}
	*timeout = false;
	h = excess_of_modems(all);
	return h != NULL ? h : excess_of_pools(all);
}

struct pending *pending_oldest_gap(const struct pending_set *all) {
	struct pending *packets = TAILQ_FIRST(&all->lists[PENDING_CLASS_PACKETS]);
	struct pending *segments = TAILQ_FIRST(&all->lists[PENDING_CLASS_SEGMENTS]);
	bool packets_first =
		segments == NULL || (packets != NULL && packets->since <= segments->since);

	return packets_first ? packets : segments;
}

bool pending_exceeded(const struct pending_set *all) {
	return !TAILQ_EMPTY(&all->above_limit) || excess_of_pools(all) != NULL;
}

uint64_t pending_deadline(const struct pending_set *all) {
	uint64_t first = UINT64_MAX;

	for (unsigned c = 0; c < PENDING_CLASSES; c++) {
		const struct pending *h = TAILQ_FIRST(&all->lists[c]);

		if (h != NULL)
			first = RTE_MIN(first, h->since + all->timeouts[c]);
	}
	return first;
}
