/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/hold.h"

#include <rte_malloc.h>

int holds_init(struct holds *all, uint32_t modems) {
	TAILQ_INIT(&all->gaps);
	TAILQ_INIT(&all->parts);
	all->bytes = 0;
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

static struct hold_list *list_of(struct holds *all, const struct hold *h) {
	return h->kind <= HOLD_SEGMENTS ? &all->gaps : &all->parts;
}

static void begin(struct holds *all, struct hold *h, uint64_t now) {
	h->since = now;
	TAILQ_INSERT_TAIL(list_of(all, h), h, link);
	if (h->modem != HOLD_NOBODY)
		TAILQ_INSERT_TAIL(&all->modems[h->modem].list, h, of_modem);
}

static void end(struct holds *all, struct hold *h) {
	TAILQ_REMOVE(list_of(all, h), h, link);
	if (h->modem != HOLD_NOBODY)
		TAILQ_REMOVE(&all->modems[h->modem].list, h, of_modem);
}

void hold_add(struct holds *all, struct hold *h, uint32_t bytes, uint64_t now) {
	if (h->bytes == 0)
		begin(all, h, now);
	h->bytes += bytes;
	all->bytes += bytes;
	if (h->modem != HOLD_NOBODY)
		all->modems[h->modem].bytes += bytes;
}

void hold_remove(struct holds *all, struct hold *h, uint32_t bytes) {
	h->bytes -= bytes;
	all->bytes -= bytes;
	if (h->modem != HOLD_NOBODY)
		all->modems[h->modem].bytes -= bytes;
	if (h->bytes == 0)
		end(all, h);
}

void hold_renew(struct holds *all, struct hold *h, uint64_t now) {
	if (h->bytes == 0)
		return;
	end(all, h);
	begin(all, h, now);
}

struct hold *holds_excess(struct holds *all, uint64_t now, bool *timeout) {
	struct hold *gap = TAILQ_FIRST(&all->gaps), *part = TAILQ_FIRST(&all->parts);

	*timeout = true;
	if (gap != NULL && now - gap->since >= all->gap_timeout)
		return gap;
	if (part != NULL && now - part->since >= all->part_timeout)
		return part;
	*timeout = false;
	if (all->bytes <= all->limit)
		return NULL;
	if (gap == NULL || part == NULL)
		return gap != NULL ? gap : part;
	return gap->since <= part->since ? gap : part;
}

struct hold *holds_modem_excess(struct holds *all, uint32_t modem) {
	struct modem_holds *m = &all->modems[modem];

	return m->bytes > all->modem_limit ? TAILQ_FIRST(&m->list) : NULL;
}
