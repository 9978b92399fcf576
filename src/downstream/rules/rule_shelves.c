/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns rule lists to the large or small table, and decides when to rebuild the large one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "downstream/rules/rules.h"

#include "platform/log/log.h"

/* The small table has up to 1/SMALL_SHARE of the rules, or SMALL_LEAST if that is more. */
#define SMALL_SHARE 4
#define SMALL_LEAST 64

/* An empty list is in no table: its number never matches. */
static bool has_rules(const struct rule_list *list) {
	return list->users > 0 && list->count > 0;
}

static bool on_shelf(const struct rule_shelf *shelf, uint32_t number) {
	uint32_t low = 0, high = shelf == NULL ? 0 : shelf->list_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (shelf->lists[middle] == number)
			return true;
		if (shelf->lists[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Frees a table that was never in service, and so does not keep its lists. */
static void shelf_drop(struct rule_shelf *shelf) {
	rules_acl_free(shelf->acl);
	free(shelf->lists);
	free(shelf);
}

static void shelf_keep(const struct rule_shelf *shelf, struct rule_lists *l, bool kept) {
	for (uint32_t i = 0; i < shelf->list_count; i++)
		rule_lists_keep(l, shelf->lists[i], kept);
}

/* Adds the lists in use that are not in the table `but`. Returns false if memory is short. */
static bool shelf_fill(struct rule_shelf *shelf, const struct rule_lists *l,
		       const struct rule_shelf *but) {
	shelf->lists = malloc((l->used + (size_t)1) * sizeof(*shelf->lists));
	for (uint32_t n = 0; shelf->lists != NULL && n < l->count; n++) {
		if (!has_rules(&l->all[n]) || on_shelf(but, n))
			continue;
		shelf->lists[shelf->list_count++] = n;
		shelf->rule_count += l->all[n].count;
	}
	return shelf->lists != NULL;
}

static int shelf_build(struct rule_shelf *shelf, const char *name, const struct rule_lists *l) {
	struct rule *rules = malloc((shelf->rule_count + 1) * sizeof(*rules));
	size_t count = 0;
	int ret = -1;

	for (uint32_t i = 0; rules != NULL && i < shelf->list_count; i++) {
		const struct rule_list *list = &l->all[shelf->lists[i]];

		for (size_t k = 0; k < list->count; k++)
			rules[count++] = (struct rule){&list->lines[k].match, shelf->lists[i],
						       list->lines[k].result, (uint32_t)k};
	}
	if (rules != NULL)
		ret = rules_acl_create(shelf->acl, name, rules, count);
	else
		log_error("memory", LOG_NO_FIELDS, "downstream: no memory for %zu rules",
			  shelf->rule_count);
	free(rules);
	return ret;
}

/* Builds a table of all lists in use but those in `but`. Returns 0, with NULL in `made` if there
 * are none, or -1 after logging an error. */
static int shelf_create(struct rule_shelf **made, const char *name, struct rule_lists *l,
			const struct rule_shelf *but) {
	struct rule_shelf *shelf = calloc(1, sizeof(*shelf));
	char text[RTE_ACL_NAMESIZE];
	int ret = 0;

	*made = NULL;
	if (shelf == NULL || !shelf_fill(shelf, l, but)) {
		log_error("memory", LOG_NO_FIELDS, "downstream: no memory for rules");
		free(shelf);
		return -1;
	}
	snprintf(text, sizeof(text), "%s_%u", name, l->builds++ % 100000);
	if (shelf->list_count > 0)
		ret = shelf_build(shelf, text, l);
	if (ret != 0 || shelf->list_count == 0) {
		shelf_drop(shelf);
		return ret;
	}
	shelf_keep(shelf, l, true);
	*made = shelf;
	return 0;
}

/* Rules of the large table whose lists still have users. */
static size_t rules_alive(const struct rule_shelf *large, const struct rule_lists *l) {
	size_t alive = 0;

	for (uint32_t i = 0; large != NULL && i < large->list_count; i++) {
		const struct rule_list *list = &l->all[large->lists[i]];

		alive += list->users > 0 ? list->count : 0;
	}
	return alive;
}

/* Whether most rules of the large table are unused, or too many rules were added since it was
 * built. */
static bool large_is_old(const struct rule_shelf *large, const struct rule_lists *l) {
	size_t alive = rules_alive(large, l), fresh = l->rule_count - alive;

	return large == NULL || 2 * alive < large->rule_count ||
	       fresh > SMALL_LEAST + l->rule_count / SMALL_SHARE;
}

int rules_build(struct rules *next, const char *name, struct rule_lists *l,
		const struct rules *now) {
	struct rule_shelf *large = now->shelves[RULES_LARGE];

	*next = (struct rules){0};
	if (large_is_old(large, l))
		return shelf_create(&next->shelves[RULES_LARGE], name, l, NULL);
	next->shelves[RULES_LARGE] = large;
	if (shelf_create(&next->shelves[RULES_SMALL], name, l, large) == 0)
		return 0;
	*next = (struct rules){0};
	return -1;
}

void rules_free(struct rules *old, const struct rules *other, struct rule_lists *l) {
	for (unsigned s = 0; s < RULES_SHELVES; s++) {
		struct rule_shelf *shelf = old->shelves[s];

		if (shelf != NULL && (other == NULL || other->shelves[s] != shelf)) {
			shelf_keep(shelf, l, false);
			shelf_drop(shelf);
		}
		old->shelves[s] = NULL;
	}
}
