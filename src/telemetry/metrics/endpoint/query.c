/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/metrics/endpoint/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/units.h"

#define ID_MAX 65535

enum argument { NAMES, MODEMS, FLOWS, SERVICE_GROUP, ARGUMENTS };
static const char *const arguments[] = {"names", "modems", "flows", "service_group"};

static bool wrong(struct metrics_query *q, const char *why) {
	q->wrong = why;
	return false;
}

static bool parse_names(struct metrics_query *q, const char *value) {
	char *rest = q->names, *name;

	if (strlen(value) >= sizeof(q->names))
		return wrong(q, "names: 511 bytes at most");
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
static bool parse_modems(struct metrics_query *q, const char *value, bool flows) {
	struct metrics_selection *s = &q->selection;
	bool second = s->modems || s->flows, one = strcmp(value, "all") != 0;
	uint8_t mac[6] = {0};

	if (one && !units_parse_mac(value, mac))
		return wrong(q, flows ? "flows: all, or the MAC address of a modem"
				      : "modems: all, or the MAC address of one");
	if (second && (one != (s->modem != NULL) || memcmp(mac, q->modem, sizeof(mac)) != 0))
		return wrong(q, "modems and flows: of the same modem, or of all");
	if (flows)
		s->flows = true;
	else
		s->modems = true;
	memcpy(q->modem, mac, sizeof(mac));
	s->modem = one ? q->modem : NULL;
	return true;
}

static bool parse_group(struct metrics_query *q, const char *value) {
	size_t digits = strspn(value, "0123456789");
	unsigned long id = strtoul(value, NULL, 10);

	if (digits == 0 || digits > 5 || value[digits] != '\0' || id == 0 || id > ID_MAX)
		return wrong(q, "service_group: a number from 1 to 65535");
	q->selection.group = (uint32_t)id;
	return true;
}

static bool parse(struct metrics_query *q, enum argument argument, const char *value) {
	switch (argument) {
	case NAMES: return parse_names(q, value);
	case MODEMS: return parse_modems(q, value, false);
	case FLOWS: return parse_modems(q, value, true);
	case SERVICE_GROUP: return parse_group(q, value);
	case ARGUMENTS: break;
	}
	return wrong(q, "allowed: names, service_group, modems, flows");
}

bool metrics_query_add(struct metrics_query *q, const char *name, const char *value) {
	size_t used = strlen(q->key), space = sizeof(q->key) - used;
	enum argument argument = 0;

	if (q->wrong != NULL)
		return false;
	if (value == NULL)
		value = "";
	while (argument < ARGUMENTS && strcmp(name, arguments[argument]) != 0)
		argument++;
	if ((q->seen >> argument & 1) != 0)
		return wrong(q, "names, service_group, modems, flows: each once");
	q->seen |= 1u << argument;
	/* Includes the size, as a value may contain any bytes and look like two arguments. */
	if ((size_t)snprintf(q->key + used, space, "&%u=%zu:%s", argument, strlen(value), value) >=
	    space)
		return wrong(q, "the query is too long");
	return parse(q, argument, value);
}

bool metrics_query_end(struct metrics_query *q) {
	const struct metrics_selection *s = &q->selection;

	if (q->wrong != NULL)
		return false;
	if ((s->modems || s->flows) && s->modem == NULL && s->group == 0)
		return wrong(q, "all modems: of one service group, service_group=ID");
	return true;
}
