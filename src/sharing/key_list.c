/* SPDX-License-Identifier: BSD-3-Clause */
#include "sharing/key_list.h"

#include <stdlib.h>
#include <string.h>

#include "sharing/entries.h"

#define MODEM_KEYS (1 + SG_MAX_MODEM_ADDRESSES)

static int compare_keys(const void *a, const void *b) {
	return memcmp(a, b, sizeof(struct share_key));
}

int key_list_add_modem(struct key_list *k, const struct modem *m, uint8_t vlan) {
	if (k->count + MODEM_KEYS > k->capacity) {
		size_t capacity = 2 * k->capacity + MODEM_KEYS;
		struct share_key *list =
			aligned_alloc(_Alignof(struct share_key), capacity * sizeof(*list));

		if (list == NULL)
			return -1;
		if (k->count > 0)
			memcpy(list, k->list, k->count * sizeof(*list));
		free(k->list);
		k->list = list;
		k->capacity = capacity;
	}
	k->count += share_modem_keys(m, vlan, k->list + k->count);
	return 0;
}

void key_list_sort(struct key_list *k) {
	if (k->count > 0)
		qsort(k->list, k->count, sizeof(*k->list), compare_keys);
}

bool key_list_has(const struct key_list *k, const struct share_key *key) {
	return k->count > 0 && bsearch(key, k->list, k->count, sizeof(*key), compare_keys) != NULL;
}

void key_list_subtract(struct key_list *k, const struct key_list *other) {
	size_t kept = 0;

	for (size_t i = 0; i < k->count; i++) {
		if (!key_list_has(other, &k->list[i]))
			k->list[kept++] = k->list[i];
	}
	k->count = kept;
}

void key_list_free(struct key_list *k) {
	free(k->list);
	*k = (struct key_list){0};
}
