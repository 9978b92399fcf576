/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_hash.h>

#include "upstream/change/internal.h"

static int by_key(const void *a, const void *b) {
	const struct us_entry *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static bool sorted(struct us_change *c, struct us_entries *w, const char *what) {
	if (w->count > 0)
		qsort(w->list, w->count, sizeof(w->list[0]), by_key);
	for (uint32_t i = 1; i < w->count; i++) {
		if (w->list[i].key == w->list[i - 1].key)
			return us_change_refuse(c,
						"%s 0x%x is used twice in the "
						"change",
						what, w->list[i].key);
	}
	return true;
}

static bool is_free(struct us_change *c, const struct rte_hash *hash, uint32_t key,
		    const char *what) {
	if (rte_hash_lookup(hash, &key) < 0)
		return true;
	return us_change_refuse(c, "%s 0x%x belongs to another object in service", what, key);
}

bool us_hash_update_plan(struct us_change *c, struct us_hash_update *net, const char *what) {
	const struct us_entry *g, *l, *added_end, *removed_end;

	if (!sorted(c, &net->added, what) || !sorted(c, &net->removed, what))
		return false;
	g = net->added.list;
	l = net->removed.list;
	added_end = g + net->added.count;
	removed_end = l + net->removed.count;
	while (g < added_end || l < removed_end) {
		if (l == removed_end || (g < added_end && g->key < l->key)) {
			if (!is_free(c, net->hash, g->key, what) ||
			    !us_entries_add(c, &net->to_set, g->key, g->slot))
				return false;
			g++;
		} else if (g == added_end || l->key < g->key) {
			if (!us_entries_add(c, &net->to_delete, l->key, l->slot))
				return false;
			l++;
		} else {
			if (g->slot != l->slot && !us_entries_add(c, &net->to_set, g->key, g->slot))
				return false;
			g++;
			l++;
		}
	}
	return true;
}
