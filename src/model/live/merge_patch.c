/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/merge_patch.h"

#include <stdlib.h>

#include "model/units.h"

static bool has_ids(const json_t *list) {
	bool all = json_is_array(list);

	for (size_t i = 0; all && i < json_array_size(list); i++)
		all = json_is_integer(json_object_get(json_array_get(list, i), "id"));
	return all;
}

/* The index of the item with this ID; the length of the list if there is none. */
static size_t index_of(const json_t *list, uint64_t id) {
	size_t i = 0;

	while (i < json_array_size(list) &&
	       (uint64_t)json_integer_value(json_object_get(json_array_get(list, i), "id")) != id)
		i++;
	return i;
}

/* Creates an item from the patch of a new ID. */
static json_t *item_new(uint64_t id, json_t *patch) {
	json_t *item = json_object();

	if (json_object_set_new(item, "id", json_integer((json_int_t)id)) == 0 &&
	    merge_patch(item, patch))
		return item;
	json_decref(item);
	return NULL;
}

static bool merge_item(json_t *list, uint64_t id, json_t *patch) {
	size_t i = index_of(list, id);
	bool present = i < json_array_size(list);

	if (json_is_null(patch))
		return !present || json_array_remove(list, i) == 0;
	if (!json_is_object(patch)) /* the reader refuses it with its path */
		return (present ? json_array_set(list, i, patch)
				: json_array_append(list, patch)) == 0;
	if (present)
		return merge_patch(json_array_get(list, i), patch);
	return json_array_append_new(list, item_new(id, patch)) == 0;
}

static bool merge_items(json_t *list, json_t *patch) {
	const char *name;
	json_t *value;

	json_object_foreach(patch, name, value) {
		uint64_t id = 0;

		units_parse_integer(name, &id);
		if (!merge_item(list, id, value))
			return false;
	}
	return true;
}

static bool names_are_ids(json_t *patch) {
	const char *name;
	json_t *value;

	json_object_foreach(patch, name, value) {
		uint64_t id;

		if (!units_parse_integer(name, &id) || id > UINT32_MAX)
			return false;
	}
	return true;
}

static bool merge_object(json_t *target, const char *name, json_t *patch) {
	json_t *present = json_object_get(target, name);

	if (has_ids(present) && names_are_ids(patch))
		return merge_items(present, patch);
	if (json_is_object(present))
		return merge_patch(present, patch);
	if (present != NULL) /* a value of another type: the reader refuses it */
		return json_object_set(target, name, patch) == 0;
	present = json_object();
	return json_object_set_new(target, name, present) == 0 && merge_patch(present, patch);
}

bool merge_patch(json_t *target, json_t *patch) {
	const char *name;
	json_t *value;

	json_object_foreach(patch, name, value) {
		bool good = true;

		if (json_is_null(value))
			json_object_del(target, name);
		else if (json_is_object(value))
			good = merge_object(target, name, value);
		else
			good = json_object_set(target, name, value) == 0;
		if (!good)
			return false;
	}
	return true;
}
