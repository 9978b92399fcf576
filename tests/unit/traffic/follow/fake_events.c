/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_events.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

struct list {
	const char *name, *kind, *id;
};

static const struct list lists[] = {
	{"filter_groups", "filter_group", "id"},
	{"channels", "channel", "id"},
	{"upstream_channels", "upstream_channel", "id"},
	{"bonding_groups", "bonding_group", "id"},
	{"modems", "modem", "mac"},
};

struct telling {
	json_t *events;
	json_t *group; /* its number */
};

static void tell(struct telling *t, const char *kind, const char *action, json_t *object) {
	json_array_append_new(t->events,
			      json_pack("{s:o, s:s, s:s, s:O}", "group",
					json_integer(atoi(json_string_value(t->group))), "kind",
					kind, "action", action, "object", object));
}

/* Numbers may be texts. */
static bool same_id(const json_t *a, const json_t *b) {
	char *left = json_dumps(a, JSON_ENCODE_ANY), *right = json_dumps(b, JSON_ENCODE_ANY);
	bool same = atoi(left + (*left == '"')) == atoi(right + (*right == '"')) &&
		    (!json_is_string(a) || !json_is_string(b) || json_equal(a, b));

	free(left);
	free(right);
	return same;
}

static json_t *find(const json_t *group, const struct list *list, const json_t *item) {
	json_t *other;
	size_t i;

	json_array_foreach(json_object_get(group, list->name), i, other) {
		if (same_id(json_object_get(other, list->id), json_object_get(item, list->id)))
			return other;
	}
	return NULL;
}

static bool keys_alone(const json_t *before, const json_t *after) {
	json_t *a = json_deep_copy(before), *b = json_deep_copy(after);
	bool same;

	json_object_del(a, "security");
	json_object_del(b, "security");
	same = json_equal(a, b);
	json_decref(a);
	json_decref(b);
	return same;
}

static void tell_put(struct telling *t, const json_t *before, const json_t *after,
		     const struct list *list) {
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(after, list->name), i, item) {
		const json_t *was = find(before, list, item);

		if (was == NULL)
			tell(t, list->kind, "added", item);
		else if (!json_equal(was, item) && strcmp(list->kind, "modem") == 0 &&
			 keys_alone(was, item))
			tell(t, "key", "changed", json_object_get(item, "security"));
		else if (!json_equal(was, item))
			tell(t, list->kind, "changed", item);
	}
}

static void tell_gone(struct telling *t, const json_t *before, const json_t *after,
		      const struct list *list) {
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(before, list->name), i, item) {
		if (find(after, list, item) != NULL)
			continue;

		json_t *name = json_pack("{s:O}", list->id, json_object_get(item, list->id));

		tell(t, list->kind, "removed", name);
		json_decref(name);
	}
}

static void tell_group(struct telling *t, const json_t *before, const json_t *after) {
	const size_t modems = ARRAY_COUNT(lists) - 1;

	for (size_t i = 0; i < modems; i++)
		tell_put(t, before, after, &lists[i]);
	tell_gone(t, before, after, &lists[modems]);
	tell_put(t, before, after, &lists[modems]);
	for (size_t i = modems; i > 0; i--)
		tell_gone(t, before, after, &lists[i - 1]);
}

/* The groups of a configuration, by number. */
static json_t *groups_of(const json_t *config) {
	json_t *groups = json_object(), *group, *list = json_object_get(config, "service_groups");
	size_t i;

	if (list == NULL) {
		list = json_pack("[O]", config);
	} else {
		json_incref(list);
	}
	json_array_foreach(list, i, group) {
		json_t *number = json_object_get(group, "service_group");
		char text[16];

		snprintf(text, sizeof(text), "%d",
			 json_is_string(number) ? atoi(json_string_value(number))
						: (int)json_integer_value(number));
		json_object_set(groups, text, group);
	}
	json_decref(list);
	return groups;
}

json_t *fake_events(const json_t *before, const json_t *after) {
	json_t *was = groups_of(before), *is = groups_of(after), *group;
	struct telling t = {.events = json_array()};
	const char *number;

	json_object_foreach(was, number, group) {
		t.group = json_string(number);
		if (json_object_get(is, number) == NULL) {
			json_t *name = json_pack("{s:i}", "id", atoi(number));

			tell(&t, "group", "removed", name);
			json_decref(name);
		} else {
			tell_group(&t, group, json_object_get(is, number));
		}
		json_decref(t.group);
	}
	json_object_foreach(is, number, group) {
		if (json_object_get(was, number) != NULL)
			continue;
		t.group = json_string(number);
		tell(&t, "group", "added", group);
		json_decref(t.group);
	}
	json_decref(was);
	json_decref(is);
	return t.events;
}
