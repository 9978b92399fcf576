/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns rule lists to the large or small table, and decides when to rebuild the large one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "downstream/rules/rules.h"

#include "platform/log/log.h"

/* The small table has up to 1/SMALL_SHARE of the rules, or SMALL_MIN if that is more. */
#define SMALL_SHARE 4
#define SMALL_MIN 64

/* An empty list is in no table: its number never matches. */
static bool has_rules(const struct rule_list *list) {
	return list->users > 0 && list->count > 0;
}

static bool in_table(const struct rule_table *table, uint32_t number) {
	uint32_t low = 0, high = table == NULL ? 0 : table->list_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->lists[middle] == number)
			return true;
		if (table->lists[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Frees a table that was never in service, and so does not keep its lists. */
static void table_drop(struct rule_table *table) {
	rules_acl_free(table->acl);
	free(table->lists);
	free(table);
}

static void table_keep(const struct rule_table *table, struct rule_lists *l, bool kept) {
	for (uint32_t i = 0; i < table->list_count; i++)
		rule_lists_keep(l, table->lists[i], kept);
}

/* Adds the lists in use that are not in the table `but`. Returns false if memory is short. */
static bool table_fill(struct rule_table *table, const struct rule_lists *l,
		       const struct rule_table *but) {
	table->lists = malloc((l->used + (size_t)1) * sizeof(*table->lists));
	for (uint32_t n = 0; table->lists != NULL && n < l->count; n++) {
		if (!has_rules(&l->all[n]) || in_table(but, n))
			continue;
		table->lists[table->list_count++] = n;
		table->rule_count += l->all[n].count;
	}
	return table->lists != NULL;
}

static int table_build(struct rule_table *table, const char *name, const struct rule_lists *l) {
	struct rule *rules = malloc((table->rule_count + 1) * sizeof(*rules));
	size_t count = 0;
	int ret = -1;

	for (uint32_t i = 0; rules != NULL && i < table->list_count; i++) {
		const struct rule_list *list = &l->all[table->lists[i]];

		for (size_t k = 0; k < list->count; k++)
			rules[count++] = (struct rule){&list->lines[k].match, table->lists[i],
						       list->lines[k].result, (uint32_t)k};
	}
	if (rules != NULL)
		ret = rules_acl_create(table->acl, name, rules, count);
	else
		log_error("memory", LOG_NO_FIELDS, "downstream: no memory for %zu rules",
			  table->rule_count);
	free(rules);
	return ret;
}

/* Builds a table of all lists in use but those in `but`. Returns 0, with NULL in `made` if there
 * are none, or -1 after logging an error. */
static int table_create(struct rule_table **made, const char *name, struct rule_lists *l,
			const struct rule_table *but) {
	struct rule_table *table = calloc(1, sizeof(*table));
	char text[RTE_ACL_NAMESIZE];
	int ret = 0;

	*made = NULL;
	if (table == NULL || !table_fill(table, l, but)) {
		log_error("memory", LOG_NO_FIELDS, "downstream: no memory for rules");
		free(table);
		return -1;
	}
	snprintf(text, sizeof(text), "%s_%u", name, l->builds++ % 100000);
	if (table->list_count > 0)
		ret = table_build(table, text, l);
	if (ret != 0 || table->list_count == 0) {
		table_drop(table);
		return ret;
	}
	table_keep(table, l, true);
	*made = table;
	return 0;
}

/* Rules of the large table whose lists still have users. */
static size_t rules_alive(const struct rule_table *large, const struct rule_lists *l) {
	size_t alive = 0;

	for (uint32_t i = 0; large != NULL && i < large->list_count; i++) {
		const struct rule_list *list = &l->all[large->lists[i]];

		alive += list->users > 0 ? list->count : 0;
	}
	return alive;
}

/* Whether most rules of the large table are unused, or too many rules were added since it was
 * built. */
static bool large_is_old(const struct rule_table *large, const struct rule_lists *l) {
	size_t alive = rules_alive(large, l), fresh = l->rule_count - alive;

	return large == NULL || 2 * alive < large->rule_count ||
	       fresh > SMALL_MIN + l->rule_count / SMALL_SHARE;
}

int rules_build(struct rules *next, const char *name, struct rule_lists *l,
		const struct rules *now) {
	struct rule_table *large = now->tables[RULES_LARGE];

	*next = (struct rules){0};
	if (large_is_old(large, l))
		return table_create(&next->tables[RULES_LARGE], name, l, NULL);
	next->tables[RULES_LARGE] = large;
	if (table_create(&next->tables[RULES_SMALL], name, l, large) == 0)
		return 0;
	*next = (struct rules){0};
	return -1;
}

void rules_free(struct rules *old, const struct rules *other, struct rule_lists *l) {
	for (unsigned s = 0; s < RULES_TABLES; s++) {
		struct rule_table *table = old->tables[s];

		if (table != NULL && (other == NULL || other->tables[s] != table)) {
			table_keep(table, l, false);
			table_drop(table);
		}
		old->tables[s] = NULL;
	}
}
