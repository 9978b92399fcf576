/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes the texts of files where objects in service differ from them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/keys/keys.h"
#include "model/live/group_json.h"
#include "model/live/live_kind.h"
#include "model/live/object_json.h"
#include "model/live/terse_json.h"
#include "server/save/saving.h"

/* A group of the file, and the maps that have its keys. */
struct group_save {
	struct saving *s;
	const struct service_group *file; /* as in the file */
	const struct live_group *live;
	struct live_changes changes; /* turn the group in service into that of the file */
	struct yaml_edit *edits[2]; /* of its item of the list, and of its own file */
	const struct span *maps[2];
	size_t count;
};

json_t *save_group_json(const struct live_group *l) {
	return terse_json(group_json(l, true), service_group_keys);
}

static bool no_memory(struct saving *s) {
	snprintf(s->why, sizeof(s->why), "no memory left");
	return false;
}

/* The index of a change's object in the file; the length of the list if the file has none. */
static size_t index_in_file(const struct group_save *g, const struct live_change *c) {
	const void *item = c->next != NULL ? c->next : g->live->blocks[c->object][c->slot];
	size_t count = live_count(g->file, c->object), i = 0;

	while (i < count && !unsaved_same_object(c->object, live_item(g->file, c->object, i), item))
		i++;
	return i;
}

/* Notes one object of a list. `c` leads to the file, and the save in the other direction. */
static bool note(struct group_save *g, const struct live_change *c, struct yaml_items *items) {
	size_t *counts = g->s->counts[c->object];
	size_t index = index_in_file(g, c);
	json_t *json;

	if (g->live->blocks[c->object][c->slot] == NULL) {
		items->removed[index] = true;
		counts[UNSAVED_REMOVED]++;
		return true;
	}
	json = terse_json(object_json(g->live, c->object, c->slot, true),
			  object_key(c->object)->item->keys);
	if (c->next == NULL) {
		counts[UNSAVED_ADDED]++;
		return json != NULL && json_array_append_new(items->added, json) == 0;
	}
	counts[UNSAVED_CHANGED]++;
	items->values[index] = json;
	return json != NULL;
}

static bool is_unsaved(const struct group_save *g, const struct live_change *c) {
	return unsaved_find(&g->s->server->unsaved, g->live, c) != NULL;
}

/* Notes all objects of one kind. Returns false if memory is short. */
static bool note_all(struct group_save *g, enum live_object object, struct yaml_items *items,
		     size_t *noted) {
	bool good = items->values != NULL && items->removed != NULL && items->added != NULL;

	for (size_t i = 0; good && i < g->changes.count; i++) {
		const struct live_change *c = &g->changes.list[i];

		if (c->object != object || !is_unsaved(g, c))
			continue;
		good = note(g, c, items);
		++*noted;
	}
	return good;
}

/* Changes the list in the first map that has it. A list that all groups share stays theirs. */
static void edit_list(struct group_save *g, enum live_object object,
		      const struct yaml_items *items) {
	const char *key = live_kinds[object].list;

	for (size_t i = 0; i < g->count; i++) {
		const struct span *list = span_value(g->maps[i], key);

		if (list == NULL)
			continue;
		if (list->type == SPAN_LIST && span_count(list) != live_count(g->file, object))
			g->s->rewrite = "a list is given twice";
		else
			yaml_edit_list(g->edits[i], list, items);
		return;
	}
	if (live_count(g->file, object) > 0)
		g->s->rewrite = "a list belongs to all groups";
	else
		yaml_edit_value(g->edits[g->count - 1], g->maps[g->count - 1], key, items->added);
}

static bool save_list(struct group_save *g, enum live_object object) {
	size_t count = live_count(g->file, object), noted = 0;
	struct yaml_items items = {
		.values = calloc(count + 1, sizeof(items.values[0])),
		.removed = calloc(count + 1, sizeof(items.removed[0])),
		.added = json_array(),
	};
	bool good = note_all(g, object, &items, &noted);

	if (good && noted > 0)
		edit_list(g, object, &items);
	for (size_t i = 0; items.values != NULL && i < count; i++)
		json_decref(items.values[i]);
	json_decref(items.added);
	free(items.values);
	free(items.removed);
	return good || no_memory(g->s);
}

/* Saves rate_limit and cpe_timeout in the first map that has them. */
static bool save_values(struct group_save *g) {
	json_t *live = object_values_json(&g->live->sg), *file = object_values_json(g->file),
	       *value;
	const char *key;

	json_object_foreach(live, key, value) {
		size_t at = 0;

		if (json_equal(value, json_object_get(file, key)))
			continue;
		while (at + 1 < g->count && span_value(g->maps[at], key) == NULL)
			at++;
		yaml_edit_value(g->edits[at], g->maps[at], key, value);
		g->s->counts[LIVE_GROUP][UNSAVED_CHANGED]++;
	}
	json_decref(file);
	json_decref(live);
	return (live != NULL && file != NULL) || no_memory(g->s);
}

/* Finds the maps of the group; `item` is its item of the list, or the whole file. */
static bool find_maps(struct group_save *g, struct yaml_edit *edit, const struct span *item) {
	const struct span *name = span_value(item, group_file_key.name);
	struct save_file *own;

	g->edits[g->count] = edit;
	g->maps[g->count++] = item;
	if (name == NULL)
		return true;
	if (name->type != SPAN_SCALAR) {
		g->s->rewrite = "the name of a group's own file is an alias";
		return true;
	}
	own = save_files_open_own(&g->s->files, name->text, g->s->why);
	if (own == NULL)
		return false;
	g->edits[g->count] = &own->edit;
	g->maps[g->count++] = own->edit.root;
	return true;
}

static bool save_objects(struct group_save *g) {
	bool values = false, good = true;

	for (size_t i = 0; i < g->changes.count; i++) {
		const struct live_change *c = &g->changes.list[i];

		g->s->others += !is_unsaved(g, c);
		values = values || (c->object == LIVE_GROUP && is_unsaved(g, c));
	}
	for (enum live_object o = LIVE_CHANNEL; good && o < LIVE_OBJECTS; o++)
		good = save_list(g, o);
	return good && (!values || save_values(g));
}

/* Saves a group that is in the file and in service. */
static bool save_group(struct saving *s, size_t index, unsigned slot, const struct span *item) {
	struct group_save g = {
		.s = s,
		.file = &s->config.groups[index],
		.live = &s->server->groups[slot].live,
	};
	char why[LIVE_LINE];
	bool good;

	if (!live_difference(g.live, g.file, &g.changes, why)) {
		snprintf(s->why, sizeof(s->why), "service group %u of the file: %.300s", g.file->id,
			 why);
		return false;
	}
	good = g.changes.count == 0 || item == NULL ||
	       (find_maps(&g, &s->files.list[0].edit, item) && save_objects(&g));
	live_changes_free(&g.changes);
	return good;
}

/* Notes groups that were added, replaced or removed as a whole. */
static bool save_whole_groups(struct saving *s, struct yaml_items *items, size_t *noted) {
	const struct unsaved *u = &s->server->unsaved;

	for (size_t i = 0; i < u->count; i++) {
		const struct unsaved_object *o = &u->list[i];
		unsigned slot = save_slot_of(s->server, o->group);
		size_t index = 0;
		json_t *json;

		if (o->object != LIVE_OBJECTS)
			continue;
		while (index < s->config.group_count && s->config.groups[index].id != o->group)
			index++;
		if (slot == NO_SLOT && index == s->config.group_count)
			continue;
		++*noted;
		s->counts[LIVE_OBJECTS][o->action]++;
		if (slot == NO_SLOT) {
			items->removed[index] = true;
			continue;
		}
		json = save_group_json(&s->server->groups[slot].live);
		if (json == NULL)
			return false;
		if (index < s->config.group_count)
			items->values[index] = json;
		else if (json_array_append_new(items->added, json) != 0)
			return false;
	}
	return true;
}

static bool save_group_list(struct saving *s, const struct span *list, struct yaml_items *items) {
	size_t noted = 0;

	if (!save_whole_groups(s, items, &noted))
		return no_memory(s);
	if (noted == 0)
		return true;
	if (list == NULL)
		s->rewrite = "it has one service group and no list service_groups";
	else
		yaml_edit_list(&s->files.list[0].edit, list, items);
	return true;
}

static bool save_all(struct saving *s, struct yaml_items *items) {
	const struct span *root = s->files.list[0].edit.root;
	const struct span *list = span_value(root, server_groups_key.name);

	if (items->values == NULL || items->removed == NULL || items->added == NULL)
		return no_memory(s);
	if (root == NULL || (list != NULL && (list->type != SPAN_LIST ||
					      span_count(list) != s->config.group_count))) {
		s->rewrite = "its list of service groups is an alias";
		list = NULL;
	}
	for (size_t n = 0; n < s->config.group_count; n++) {
		uint32_t id = s->config.groups[n].id;
		unsigned slot = save_slot_of(s->server, id);
		bool whole = unsaved_find_group(&s->server->unsaved, id) != NULL;

		s->others += slot == NO_SLOT && !whole; /* added to the file by hand */
		if (slot != NO_SLOT && !whole &&
		    !save_group(s, n, slot, list != NULL ? span_item(list, n) : root))
			return false;
	}
	return save_group_list(s, list, items);
}

bool save_edit_groups(struct saving *s) {
	size_t groups = s->config.group_count;
	struct yaml_items items = {
		.values = calloc(groups, sizeof(items.values[0])),
		.removed = calloc(groups, sizeof(items.removed[0])),
		.added = json_array(),
	};
	bool good = save_all(s, &items);

	for (size_t i = 0; items.values != NULL && i < groups; i++)
		json_decref(items.values[i]);
	json_decref(items.added);
	free(items.values);
	free(items.removed);
	return good;
}
