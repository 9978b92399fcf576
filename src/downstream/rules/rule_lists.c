/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/rules/rule_lists.h"

#include <stdlib.h>
#include <string.h>

#include "platform/log/log.h"

#define FIRST_CAPACITY 64

int rule_lists_create(struct rule_lists *l) {
	*l = (struct rule_lists){
		.slots = calloc(2 * FIRST_CAPACITY, sizeof(*l->slots)),
		.slot_mask = 2 * FIRST_CAPACITY - 1,
		.lines = calloc(FIRST_CAPACITY, sizeof(*l->lines)),
		.line_capacity = FIRST_CAPACITY,
	};
	if (l->slots != NULL && l->lines != NULL)
		return 0;
	log_error("memory", LOG_NO_FIELDS, "downstream: no memory for lists of rules");
	return -1;
}

void rule_lists_free(struct rule_lists *l) {
	for (uint32_t i = 0; i < l->count; i++)
		free(l->all[i].lines);
	free(l->all);
	free(l->slots);
	free(l->lines);
	*l = (struct rule_lists){0};
}

static uint32_t *slot_of(const struct rule_lists *l, uint64_t hash) {
	return &l->slots[hash & l->slot_mask];
}

/* Allocates twice as many slots as lists, and inserts the lists in use. */
static bool slots_grow(struct rule_lists *l, uint32_t capacity) {
	uint32_t *slots = calloc(2 * (size_t)capacity, sizeof(*slots));

	if (slots == NULL)
		return false;
	free(l->slots);
	l->slots = slots;
	l->slot_mask = 2 * capacity - 1;
	for (uint32_t i = 0; i < l->count; i++) {
		struct rule_list *list = &l->all[i];
		uint32_t *slot = slot_of(l, list->hash);

		if (list->users == 0)
			continue;
		list->next = *slot;
		*slot = i + 1;
	}
	return true;
}

/* Allocates a number, or returns RULE_LIST_NONE. */
static uint32_t number_alloc(struct rule_lists *l) {
	uint32_t number = l->free;

	if (number != 0) {
		l->free = l->all[number - 1].next;
		return number - 1;
	}
	if (l->count == l->capacity) {
		uint32_t capacity = l->capacity == 0 ? FIRST_CAPACITY : 2 * l->capacity;
		struct rule_list *all = reallocarray(l->all, capacity, sizeof(*all));

		if (all == NULL)
			return RULE_LIST_NONE;
		l->all = all;
		if (!slots_grow(l, capacity))
			return RULE_LIST_NONE;
		l->capacity = capacity;
	}
	return l->count <= RULE_LIST_MAX ? l->count++ : RULE_LIST_NONE;
}

/* Frees a number whose list has no users and is in no built rules. */
static void number_settle(struct rule_lists *l, uint32_t number) {
	struct rule_list *list = &l->all[number];

	if (list->users > 0 || list->kept)
		return;
	free(list->lines);
	*list = (struct rule_list){.next = l->free};
	l->free = number + 1;
}

static uint32_t list_find(const struct rule_lists *l, uint64_t hash, size_t count) {
	for (uint32_t n = *slot_of(l, hash); n != 0; n = l->all[n - 1].next) {
		const struct rule_list *list = &l->all[n - 1];

		if (list->hash == hash && list->count == count &&
		    rule_lines_same(list->lines, l->lines, count))
			return n - 1;
	}
	return RULE_LIST_NONE;
}

static uint32_t list_refuse(const char *why, struct rule_line *lines) {
	log_error("downstream", LOG_NO_FIELDS, "downstream: no free rule list: %s", why);
	free(lines);
	return RULE_LIST_NONE;
}

static uint32_t list_add(struct rule_lists *l, uint64_t hash, size_t count) {
	struct rule_line *lines = malloc((count + 1) * sizeof(*lines));
	uint32_t number, *slot;

	if (lines == NULL)
		return list_refuse("no memory left", lines);
	number = number_alloc(l);
	if (number == RULE_LIST_NONE)
		return list_refuse("no memory, or too many different lists", lines);
	memcpy(lines, l->lines, count * sizeof(*lines));
	slot = slot_of(l, hash);
	l->all[number] =
		(struct rule_list){.lines = lines, .count = count, .hash = hash, .next = *slot};
	*slot = number + 1;
	l->used++;
	l->rule_count += count;
	return number;
}

uint32_t rule_lists_get(struct rule_lists *l, size_t count) {
	uint64_t hash = rule_lines_hash(l->lines, count);
	uint32_t number = list_find(l, hash, count);

	if (number == RULE_LIST_NONE)
		number = list_add(l, hash, count);
	if (number != RULE_LIST_NONE)
		l->all[number].users++;
	return number;
}

bool rule_lists_reserve(struct rule_lists *l, size_t count) {
	struct rule_line *lines;

	if (count <= l->line_capacity)
		return true;
	lines = reallocarray(l->lines, count, sizeof(*lines));
	if (lines == NULL) {
		list_refuse("no memory left", NULL);
		return false;
	}
	l->lines = lines;
	l->line_capacity = count;
	return true;
}

uint32_t rule_lists_get_classifiers(struct rule_lists *l, const struct modem *m) {
	if (!rule_lists_reserve(l, m->classifier_count))
		return RULE_LIST_NONE;
	return rule_lists_get(l, rule_lines_classifiers(m, l->lines));
}

uint32_t rule_lists_get_filters(struct rule_lists *l, const struct filter_group *g) {
	if (!rule_lists_reserve(l, g->rule_count))
		return RULE_LIST_NONE;
	return rule_lists_get(l, rule_lines_filters(g, l->lines));
}

void rule_lists_put(struct rule_lists *l, uint32_t number) {
	struct rule_list *list = &l->all[number];
	uint32_t *link = slot_of(l, list->hash);

	if (--list->users > 0)
		return;
	while (*link != number + 1)
		link = &l->all[*link - 1].next;
	*link = list->next;
	l->used--;
	l->rule_count -= list->count;
	number_settle(l, number);
}

void rule_lists_keep(struct rule_lists *l, uint32_t number, bool kept) {
	struct rule_list *list = &l->all[number];

	list->kept = kept ? list->kept + 1 : list->kept - 1;
	number_settle(l, number);
}

static size_t rules_unshared(const struct service_group *sg) {
	size_t rules = 0;

	for (size_t m = 0; m < sg->modem_count; m++)
		rules += sg->modems[m].classifier_count;
	for (size_t g = 0; g < sg->filter_group_count; g++)
		rules += sg->filter_groups[g].rule_count;
	return rules;
}

size_t rule_lists_total(const struct service_group *sg) {
	struct rule_lists filters, classifiers;
	bool ok = rule_lists_create(&filters) == 0;
	size_t total;

	ok = rule_lists_create(&classifiers) == 0 && ok;
	for (size_t m = 0; ok && m < sg->modem_count; m++)
		ok = rule_lists_get_classifiers(&classifiers, &sg->modems[m]) != RULE_LIST_NONE;
	for (size_t g = 0; ok && g < sg->filter_group_count; g++)
		ok = rule_lists_get_filters(&filters, &sg->filter_groups[g]) != RULE_LIST_NONE;
	total = ok ? filters.rule_count + classifiers.rule_count : rules_unshared(sg);
	rule_lists_free(&filters);
	rule_lists_free(&classifiers);
	return total;
}
