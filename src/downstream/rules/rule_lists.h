/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rule lists in use, each stored once: modems with equal lists share one, as do filter groups.
 * A list never changes: its user gets another list and releases the old one. rules.h builds rules
 * from lists. Uses no DPDK and may be called before EAL starts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "downstream/rules/rule_lines.h"
#include "model/service_group.h"

#define RULE_LIST_MAX 0x7fffff /* highest number; it is part of struct rule_key */
#define RULE_LIST_NONE UINT32_MAX

struct rule_list {
	struct rule_line *lines;
	size_t count;
	uint64_t hash;
	uint32_t users; /* 0: unused; the number is not reused while `kept` is not 0 */
	uint32_t kept; /* number of rule tables that include it */
	uint32_t next; /* 1 + next list in the hash slot or free list; 0: none */
};

struct rule_lists {
	struct rule_list *all; /* by number */
	uint32_t count, capacity;
	uint32_t free; /* 1 + first free number; 0: none */
	uint32_t *slots; /* by hash: 1 + number of a list; 0: none */
	uint32_t slot_mask;
	uint32_t used; /* lists with users */
	size_t rule_count; /* rules of these lists */
	uint32_t builds; /* counter for unique names of built rules */
	struct rule_line *lines; /* buffer for rule_lists_get(); see rule_lists_reserve() */
	size_t line_capacity;
};

/* Creates an empty set of lists. Returns 0, or -1 after logging an error. Call rule_lists_free()
 * in any case. */
int rule_lists_create(struct rule_lists *l);

void rule_lists_free(struct rule_lists *l);

/* Ensures a size of `count` rules for l->lines. Returns false after logging an error if memory is
 * short. */
bool rule_lists_reserve(struct rule_lists *l, size_t count);

/* Finds or adds the list that equals the first `count` rules of l->lines, and adds a user. Returns
 * its number, or RULE_LIST_NONE after logging an error if memory or numbers are short. */
uint32_t rule_lists_get(struct rule_lists *l, size_t count);

/* The same for the modem's classifiers, and for the rules of a filter group. */
uint32_t rule_lists_get_classifiers(struct rule_lists *l, const struct modem *m);
uint32_t rule_lists_get_filters(struct rule_lists *l, const struct filter_group *g);

/* Removes a user that rule_lists_get() added. */
void rule_lists_put(struct rule_lists *l, uint32_t number);

/* Adds (`kept`) or removes a rule table that includes the list. Its number is not reused while a
 * table includes it. */
void rule_lists_keep(struct rule_lists *l, uint32_t number, bool kept);

/* Rules of a group's classifiers and filters if equal lists are shared. If memory is short,
 * counts all. */
size_t rule_lists_total(const struct service_group *sg);
