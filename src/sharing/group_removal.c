/* SPDX-License-Identifier: BSD-3-Clause */
#include "sharing/group_removal.h"

#define STEP 32 /* keys */

static void vlans_forget(struct share_table *t, unsigned group) {
	for (unsigned v = 0; v < SHARE_MAX_GROUPS; v++) {
		if (t->vlans[v].group == group)
			t->vlans[v].group = SHARE_NO_GROUP;
	}
}

/* Sets the groups that still have the key. */
static void key_remove_group(const struct share_table *t, const void *stored, uint64_t groups) {
	struct share_key key;

	memcpy(&key, stored, sizeof(key)); /* may not be aligned */
	if (groups == 0)
		rte_hash_del_key(t->groups, &key);
	else
		RTE_VERIFY(rte_hash_add_key_data(t->groups, &key, (void *)(uintptr_t)groups) ==
			   0); /* the key exists: only its value changes */
}

/* Removing a key may move another one into its position, so the iteration repeats until it finds
 * none. */
bool share_group_remove(void *removal) {
	struct share_group_removal *f = removal;
	struct share_table *t = f->share->table;
	uint64_t bit = UINT64_C(1) << f->group;

	vlans_forget(t, f->group);
	for (unsigned n = 0; n < STEP && t->groups != NULL; n++) {
		const void *stored;
		void *groups;

		if (rte_hash_iterate(t->groups, &stored, &groups, &f->at) < 0) {
			bool repeat = f->found;

			f->at = 0;
			f->found = false;
			return !repeat;
		}
		if (((uintptr_t)groups & bit) == 0)
			continue;
		f->found = true;
		key_remove_group(t, stored, (uintptr_t)groups & ~bit);
	}
	return t->groups == NULL;
}
