/* SPDX-License-Identifier: BSD-3-Clause */
/* The model: JSON as in a file, and what each request makes of it. */
#include <string.h>

#include "world.h"

#include "test.h"

const char *model_list(enum live_object object) {
	static const char *const names[LIVE_OBJECTS] = {
		[LIVE_CHANNEL] = "channels",
		[LIVE_UPSTREAM_CHANNEL] = "upstream_channels",
		[LIVE_BONDING_GROUP] = "bonding_groups",
		[LIVE_FILTER_GROUP] = "filter_groups",
		[LIVE_MODEM] = "modems",
	};

	return names[object];
}

const char *model_key(enum live_object object) {
	return object == LIVE_MODEM ? "mac" : "id";
}

static json_t *list_of(const json_t *group, enum live_object object) {
	return json_object_get(group, model_list(object));
}

static size_t index_of(const json_t *group, enum live_object object, const json_t *key) {
	const json_t *list = list_of(group, object);
	size_t i = 0;

	while (i < json_array_size(list) &&
	       !json_equal(json_object_get(json_array_get(list, i), model_key(object)), key))
		i++;
	return i;
}

json_t *model_find(const json_t *group, enum live_object object, const json_t *key) {
	return json_array_get(list_of(group, object), index_of(group, object, key));
}

static void apply_object(json_t *group, const struct op *op) {
	const json_t *key = json_object_get(op->item, model_key(op->object));
	json_t *list = list_of(group, op->object);
	size_t i = index_of(group, op->object, key);

	if (list == NULL) {
		list = json_array();
		json_object_set_new(group, model_list(op->object), list);
	}
	switch (op->kind) {
	case OP_ADD: json_array_append_new(list, json_deep_copy(op->item)); break;
	case OP_REPLACE: json_array_set_new(list, i, json_deep_copy(op->item)); break;
	case OP_SET: json_object_update(json_array_get(list, i), op->item); break;
	default: json_array_remove(list, i); break;
	}
}

/* Of a security association, whose members are those of one of its modems. */
static void apply_key(json_t *sa, const struct op *op) {
	json_t *sequence = json_object_get(sa, "key_sequence");

	switch (op->kind) {
	case OP_KEY_INSTALL:
		json_object_set(sa, "next_key", json_object_get(op->item, "key"));
		json_object_set(sa, "next_iv", json_object_get(op->item, "iv"));
		return;
	case OP_KEY_USE: json_object_set_new(sa, "use_next_key", json_true()); return;
	default: break;
	}
	json_object_set(sa, "key", json_object_get(sa, "next_key"));
	json_object_set(sa, "iv", json_object_get(sa, "next_iv"));
	json_object_set_new(sa, "key_sequence",
			    json_integer((json_integer_value(sequence) + 1) % 16));
	json_object_del(sa, "next_key");
	json_object_del(sa, "next_iv");
	json_object_del(sa, "use_next_key");
}

static void apply_keys(const json_t *group, const struct op *op) {
	json_t *modem;
	size_t i;

	json_array_foreach(json_object_get(group, "modems"), i, modem) {
		json_t *sa = json_object_get(modem, "security");

		if (json_integer_value(json_object_get(sa, "said")) == op->said)
			apply_key(sa, op);
	}
}

static void apply_file(json_t **groups, const json_t *list) {
	json_t *group;
	size_t i;

	for (unsigned id = 1; id <= WORLD_GROUPS; id++) {
		json_decref(groups[id]);
		groups[id] = NULL;
	}
	json_array_foreach(list, i, group)
		groups[json_integer_value(json_object_get(group, "service_group"))] =
			json_deep_copy(group);
}

void op_apply(json_t **groups, const struct op *op) {
	switch (op->kind) {
	case OP_ADD:
	case OP_REPLACE:
	case OP_SET:
	case OP_REMOVE: apply_object(groups[op->group], op); break;
	case OP_KEY_INSTALL:
	case OP_KEY_USE:
	case OP_KEY_REMOVE: apply_keys(groups[op->group], op); break;
	case OP_GROUP_SET: json_object_update(groups[op->group], op->item); break;
	case OP_GROUP_ADD: groups[op->group] = json_deep_copy(op->item); break;
	case OP_GROUP_REMOVE:
		json_decref(groups[op->group]);
		groups[op->group] = NULL;
		break;
	case OP_RELOAD: apply_file(groups, op->item); break;
	default: break;
	}
}

void op_free(struct op *op) {
	json_decref(op->item);
	op->item = NULL;
}
