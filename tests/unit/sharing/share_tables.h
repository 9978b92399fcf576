/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of a shared port beside one that is made anew of the groups in service. */
#pragma once

#include "test.h"

#include <string.h>

#include "share_rig.h"
#include "sharing/change.h"
#include "sharing/forget.h"

static struct share_rig storage, *const rig = &storage;

/* Whether the keys of both tables tell the same. */
static inline void same_keys(const struct share_table *a, const struct share_table *b) {
	const void *stored; /* not aligned as a key is */
	struct share_key key;
	uint32_t at = 0;
	void *groups, *others;

	if (a->groups == NULL || b->groups == NULL) {
		assert_ptr_equal(a->groups, b->groups);
		return;
	}
	assert_int_equal(rte_hash_count(a->groups), rte_hash_count(b->groups));
	while (rte_hash_iterate(a->groups, &stored, &groups, &at) >= 0) {
		memcpy(&key, stored, sizeof(key));
		assert_true(rte_hash_lookup_data(b->groups, &key, &others) >= 0);
		assert_ptr_equal(groups, others);
	}
}

/* NULL where the groups cannot be told apart. */
static inline struct share_table *table_anew(void) {
	return share_table_create("test", rig->s->side, rig->list, rig->count,
				  (char[LIVE_LINE]){0});
}

static inline void same_as_anew(void) {
	struct share_table *anew = table_anew();

	assert_non_null(anew);
	assert_memory_equal(rig->s->table->vlans, anew->vlans, sizeof(anew->vlans));
	same_keys(rig->s->table, anew);
	share_table_free(anew);
}

/* Taken out of the table as it is, a group is as if it had not been. */
static inline void forgotten(unsigned group) {
	struct share_forgetting f = {.share = rig->s, .group = group};
	const struct service_group *was = rig->list[group];
	struct share_table *anew;

	while (!share_forget(&f))
		;
	rig->list[group] = NULL;
	anew = table_anew();
	same_keys(rig->s->table, anew);
	share_table_free(anew);
	rig->list[group] = was;
}
