/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/units.h"

#define ID_MAX 65535

static bool wrong(struct metrics_query *q, const char *why) {
	q->wrong = why;
	return false;
}

static bool take_names(struct metrics_query *q, const char *value) {
	char *rest = q->names, *name;

	if (strcmp(value, QUERY_REFERENCE) == 0) {
		q->reference = true;
		return true;
	}
	if (q->selection.names != NULL || strlen(value) >= sizeof(q->names))
		return wrong(q, "names: once, and 511 bytes at most");
	strcpy(q->names, value);
	q->selection.names = q->name_list;
	while ((name = strsep(&rest, ",")) != NULL) {
		if (q->selection.name_count == QUERY_NAMES)
			return wrong(q, "names: 16 at most, with commas between");
		q->name_list[q->selection.name_count++] = name;
	}
	return true;
}

/* "all", or one modem by its MAC address. */
static bool take_modems(struct metrics_query *q, const char *value, bool flows) {
	if (flows)
		q->selection.flows = true;
	else
		q->selection.modems = true;
	if (strcmp(value, "all") == 0)
		return true;
	if (!units_parse_mac(value, q->modem))
		return wrong(q, flows ? "flows: all, or the MAC address of a modem"
				      : "modems: all, or the MAC address of one");
	q->selection.modem = q->modem;
	return true;
}

static bool take_group(struct metrics_query *q, const char *value) {
	size_t digits = strspn(value, "0123456789");
	unsigned long id = strtoul(value, NULL, 10);

	if (digits == 0 || digits > 5 || value[digits] != '\0' || id == 0 || id > ID_MAX)
		return wrong(q, "service_group: a number from 1 to 65535");
	q->selection.group = (uint32_t)id;
	return true;
}

bool metrics_query_add(struct metrics_query *q, const char *name, const char *value) {
	size_t used = strlen(q->key);

	if (q->wrong != NULL)
		return false;
	if (value == NULL)
		value = "";
	if ((size_t)snprintf(q->key + used, sizeof(q->key) - used, "&%s=%s", name, value) >=
	    sizeof(q->key) - used)
		return wrong(q, "the query is too long");
	if (strcmp(name, "names") == 0)
		return take_names(q, value);
	if (strcmp(name, "modems") == 0)
		return take_modems(q, value, false);
	if (strcmp(name, "flows") == 0)
		return take_modems(q, value, true);
	if (strcmp(name, "service_group") == 0)
		return take_group(q, value);
	return wrong(q, "allowed: names, service_group, modems, flows");
}

bool metrics_query_end(struct metrics_query *q) {
	const struct metrics_selection *s = &q->selection;

	if (q->wrong != NULL)
		return false;
	if (q->reference && (s->names != NULL || s->group != 0 || s->modems || s->flows))
		return wrong(q, "names=reference: nothing beside it");
	if ((s->modems || s->flows) && s->modem == NULL && s->group == 0)
		return wrong(q, "all modems: of one service group, service_group=ID");
	return true;
}
