/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/hold.h"

#include <rte_malloc.h>

int holds_init(struct holds *all, uint32_t modems) {
	for (unsigned c = 0; c < HOLD_CLASSES; c++)
		TAILQ_INIT(&all->lists[c]);
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
	static const enum hold_class classes[HOLD_KINDS] = {
		[HOLD_PACKETS] = HOLD_CLASS_PACKETS, [HOLD_SEGMENTS] = HOLD_CLASS_SEGMENTS,
		[HOLD_BURST] = HOLD_CLASS_PARTS,     [HOLD_FRAME] = HOLD_CLASS_PARTS,
		[HOLD_FRAGMENTS] = HOLD_CLASS_PARTS,
	};

	return &all->lists[classes[h->kind]];
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

void hold_end(struct holds *all, struct hold *h) {
	if (h->bytes > 0)
		hold_remove(all, h, h->bytes);
}

void hold_renew(struct holds *all, struct hold *h, uint64_t now) {
	if (h->bytes == 0)
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

struct hold *holds_excess(struct holds *all, uint64_t until, bool *timeout) {
	struct hold *oldest = NULL;

	*timeout = true;
	for (unsigned c = 0; c < HOLD_CLASSES; c++) {
		struct hold *h = TAILQ_FIRST(&all->lists[c]);

		if (h != NULL && until >= h->since + all->timeouts[c])
			return h;
		if (h != NULL && (oldest == NULL || h->since < oldest->since))
			oldest = h;
	}
	*timeout = false;
	return all->bytes > all->limit ? oldest : NULL;
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
