/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lists of rules that are in use, each once: modems whose lists tell the same share one, and so do
 * filter groups. A list never changes; who has another one takes that and gives back the old. What rules.h
 * matches is built of them. No DPDK: may be used before EAL starts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "downstream/rules/rule_lines.h"
#include "model/service_group.h"

#define RULE_LIST_MOST 0x7fffff /* the highest number: it is part of the key that rules.h matches */
#define RULE_LIST_NONE UINT32_MAX

struct rule_list {
	struct rule_line *lines;
	size_t count;
	uint64_t hash;
	uint32_t users; /* 0: nobody has it; its number is not given again while it is kept */
	uint32_t kept; /* by so many shelves of rules.h */
	uint32_t next; /* 1 + that of the same slot, or of the next free number; 0: none */
};

struct rule_lists {
	struct rule_list *all; /* by number */
	uint32_t count, room;
	uint32_t free; /* 1 + a number that is free; 0: none */
	uint32_t *slots; /* by hash: 1 + the number of a list; 0: none */
	uint32_t slot_mask;
	uint32_t used; /* lists that somebody has */
	size_t rule_count; /* of these */
	uint32_t builds; /* of rules.h, for names that differ */
	struct rule_line *lines; /* to be filled in and taken: see rule_lists_room() */
	size_t line_room;
};

/* Empty ones. Returns 0, or -1 after a message. To be freed by rule_lists_free(), also after a failure. */
int rule_lists_create(struct rule_lists *l);

void rule_lists_free(struct rule_lists *l);

/* Sees to it that l->lines has room for so many. Returns false after a message without memory. */
bool rule_lists_room(struct rule_lists *l, size_t count);

/* Takes the list of the first `count` of l->lines. Returns its number; RULE_LIST_NONE after a message where
 * memory is short or there are too many lists. */
uint32_t rule_lists_take(struct rule_lists *l, size_t count);

/* The list of the modem's classifiers, and that of the filter group's rules. */
uint32_t rule_lists_take_classifiers(struct rule_lists *l, const struct modem *m);
uint32_t rule_lists_take_filters(struct rule_lists *l, const struct filter_group *g);

/* One that was taken is used once less. */
void rule_lists_give(struct rule_lists *l, uint32_t number);

/* Rules that are built have the list, or no longer: its number means this list as long as any do. */
void rule_lists_keep(struct rule_lists *l, uint32_t number, bool kept);

/* The rules of classifiers and filters of a group, once shared; where memory is too short to tell, all. */
size_t rule_lists_total(const struct service_group *sg);
