/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/request_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/live/live_kind.h"

#define NAME_SIZE 192
#define ID_LONGEST 17 /* a MAC address */

/* Lists inside objects whose items have an ID. */
static const struct {
	const char *list, *name;
} lists[] = {
	{"service_flows", "service flow"},
	{"upstream_service_flows", "upstream service flow"},
	{"sid_clusters", "SID cluster"},
};

static const char *list_name(const char *key, size_t length) {
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (strlen(lists[i].list) == length && memcmp(lists[i].list, key, length) == 0)
			return lists[i].name;
	}
	return NULL;
}

/* Writes the MAC address or ID of an object. Returns false if it has none that can be quoted. */
static bool write_id(const json_t *object, const char *key, char text[ID_LONGEST + 1]) {
	const json_t *id = json_object_get(object, key);
	const char *string = json_string_value(id);

	if (json_is_integer(id))
		snprintf(text, ID_LONGEST + 1, "%" JSON_INTEGER_FORMAT, json_integer_value(id));
	else if (string != NULL && string[0] != '\0' && strlen(string) <= ID_LONGEST &&
		 string[strspn(string, "0123456789abcdefABCDEFx:")] == '\0')
		snprintf(text, ID_LONGEST + 1, "%s", string);
	else
		return false;
	return true;
}

/* Puts the name of an inner object before `name`. Returns the end of its part of the path, and the
 * object in `at`; NULL if the part names no object with an ID. */
static const char *enter(const char *path, const json_t **at, char name[NAME_SIZE]) {
	size_t length = strcspn(path + 1, ".[: ");
	const char *kind = list_name(path + 1, length), *digits = path + 1 + length;
	char id[ID_LONGEST + 1], outer[NAME_SIZE];
	char *end;
	json_t *item;
	char key[32];

	if (*path != '.' || kind == NULL || *digits != '[')
		return NULL;
	snprintf(key, sizeof(key), "%.*s", (int)length, path + 1);
	item = json_array_get(json_object_get(*at, key), strtoul(digits + 1, &end, 10));
	if (*end != ']' || !write_id(item, "id", id))
		return NULL;
	snprintf(outer, sizeof(outer), "%s", name);
	snprintf(name, NAME_SIZE, "%s %s of %.120s", kind, id, outer);
	*at = item;
	return end + 1;
}

/* Appends one line to `out`. */
static void name_line(enum live_object object, const json_t *value, const char *line, FILE *out) {
	const struct live_kind *kind = &live_kinds[object];
	size_t length = object != LIVE_GROUP ? strlen(kind->item) : 0;
	char id[ID_LONGEST + 1], name[NAME_SIZE];
	const char *path = line + length, *next;

	if (length == 0 || strncmp(line, kind->item, length) != 0 ||
	    (*path != '.' && *path != ':')) {
		fputs(line, out);
		return;
	}
	if (write_id(value, object == LIVE_MODEM ? "mac" : "id", id))
		snprintf(name, sizeof(name), "%s %s", kind->name, id);
	else
		snprintf(name, sizeof(name), "%s", kind->name);
	while ((next = enter(path, &value, name)) != NULL)
		path = next;
	fprintf(out, "%s%s%s", name, *path == '.' ? ": " : "", path + (*path == '.'));
}

void request_names(enum live_object object, const json_t *value, char why[LIVE_LINE]) {
	char copy[LIVE_LINE], *rest = copy, *line;
	FILE *out;

	memcpy(copy, why, sizeof(copy));
	out = fmemopen(why, LIVE_LINE, "w");
	if (out == NULL)
		return;
	while ((line = strsep(&rest, "\n")) != NULL) {
		name_line(object, value, line, out);
		if (rest != NULL)
			fputc('\n', out);
	}
	fclose(out);
	why[LIVE_LINE - 1] = '\0';
}
