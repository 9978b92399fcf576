/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of a shared port's table that a change adds or removes, in ascending order. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sharing/keys.h"

struct key_list {
	struct share_key *list;
	size_t count, capacity;
};

/* Appends the keys of a modem. Returns 0, or -1 if memory is short. Call key_list_sort() before the
 * functions below. */
int key_list_add_modem(struct key_list *k, const struct modem *m, uint8_t vlan);
void key_list_sort(struct key_list *k);

bool key_list_has(const struct key_list *k, const struct share_key *key);

/* Removes the keys that `other` has. */
void key_list_subtract(struct key_list *k, const struct key_list *other);

/* Allowed on a zeroed list. */
void key_list_free(struct key_list *k);
