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
			return us_change_refuse(c, "%s 0x%x has two owners", what, w->list[i].key);
	}
	return true;
}

static bool is_free(struct us_change *c, const struct rte_hash *hash, uint32_t key,
		    const char *what) {
	if (rte_hash_lookup(hash, &key) < 0)
		return true;
	return us_change_refuse(c, "%s 0x%x belongs to another", what, key);
}

bool us_net_settle(struct us_change *c, struct us_net *net, const char *what) {
	const struct us_entry *g, *l, *gained_end, *lost_end;

	if (!sorted(c, &net->gained, what) || !sorted(c, &net->lost, what))
		return false;
	g = net->gained.list;
	l = net->lost.list;
	gained_end = g + net->gained.count;
	lost_end = l + net->lost.count;
	while (g < gained_end || l < lost_end) {
		if (l == lost_end || (g < gained_end && g->key < l->key)) {
			if (!is_free(c, net->hash, g->key, what) ||
			    !us_entries_add(c, &net->opened, g->key, g->slot))
				return false;
			g++;
		} else if (g == gained_end || l->key < g->key) {
			if (!us_entries_add(c, &net->closed, l->key, l->slot))
				return false;
			l++;
		} else {
			if (g->slot != l->slot && !us_entries_add(c, &net->opened, g->key, g->slot))
				return false;
			g++;
			l++;
		}
	}
	return true;
}
