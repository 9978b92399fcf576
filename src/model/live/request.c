/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/check/check.h"
#include "model/live/conflicts.h"
#include "model/live/live_index.h"
#include "model/live/live_kind.h"
#include "model/live/merge_patch.h"
#include "model/live/object_copy.h"
#include "model/live/object_json.h"
#include "model/live/request_names.h"
#include "model/load/reader.h"
#include "model/tree_json.h"

#define MAX_VALUES 1000000 /* per request */
#define NO_MEMORY "no memory left for the request"
#define MORE_SIZE 48 /* of the last line, which counts further errors */

/* The state of reading a request; its arena and tree own what is read. */
struct request {
	const struct live_group *l;
	enum live_object object;
	struct errors errors;
	struct arena *arena;
	struct tree tree;
	struct service_group view; /* the group, with this object alone in its list */
};

static bool set_why(char why[LIVE_LINE], const char *text) {
	snprintf(why, LIVE_LINE, "%s", text);
	return false;
}

/* Appends a line of errors_print(), with the path "modem.mac" for "modems[0].mac", as the request
 * has no list. Returns false if it does not fit. */
static bool add_line(const char *line, enum live_object object, char why[LIVE_LINE]) {
	const char *space = strchr(line, ' '); /* after the name that stands for a file name */
	const char *text = space != NULL ? space + 1 : line;
	const struct live_kind *kind = &live_kinds[object];
	size_t length = object != LIVE_GROUP ? strlen(kind->list) : 0, used = strlen(why);
	bool listed = length > 0 && strncmp(text, kind->list, length) == 0 &&
		      strncmp(text + length, "[0]", 3) == 0;

	if (listed)
		text += length + 3;
	if (used + strlen(text) + sizeof("bonding_group") + MORE_SIZE > LIVE_LINE && used > 0)
		return false;
	snprintf(why + used, LIVE_LINE - used, "%s%s%s", used > 0 ? "\n" : "",
		 listed ? kind->item : "", text);
	return true;
}

/* Writes all errors, one per line, and frees them. */
static bool report_all(struct request *r, char why[LIVE_LINE]) {
	char *text = NULL, *rest, *line;
	uint64_t total = r->errors.total, shown = 0;
	size_t size, used;
	FILE *out = open_memstream(&text, &size);

	set_why(why, NO_MEMORY);
	if (out == NULL) {
		for (size_t i = 0; i < r->errors.shown_count; i++)
			free(r->errors.shown[i].text);
		return false;
	}
	errors_print(&r->errors, out);
	fclose(out);
	rest = text;
	if (text != NULL && strncmp(text, "no memory", 9) != 0)
		why[0] = '\0';
	while (why[0] == '\0' || shown > 0) {
		line = strsep(&rest, "\n");
		if (line == NULL || line[0] == '\0' || !add_line(line, r->object, why))
			break;
		shown++;
	}
	used = strlen(why);
	if (shown > 0 && shown < total)
		snprintf(why + used, LIVE_LINE - used, "\nand %" PRIu64 " more", total - shown);
	free(text);
	return false;
}

static void request_end(struct request *r) {
	if (r->tree.arena != NULL)
		tree_free(&r->tree);
	arena_free(r->arena);
}

static uint32_t find_id(const struct live_group *l, enum live_object object, uint32_t id) {
	const struct identity identity = identity_of_id(object, id);

	return live_index_find(l->index, &identity);
}

static uint32_t find_channel(const void *group, uint32_t id) {
	return find_id(group, LIVE_CHANNEL, id);
}

static uint32_t find_upstream_channel(const void *group, uint32_t id) {
	return find_id(group, LIVE_UPSTREAM_CHANNEL, id);
}

static uint32_t find_bonding_group(const void *group, uint32_t id) {
	return find_id(group, LIVE_BONDING_GROUP, id);
}

static uint32_t find_filter_group(const void *group, uint32_t id) {
	return find_id(group, LIVE_FILTER_GROUP, id);
}

/* Runs the checks of a file on one list with one object. */
static void request_check(struct request *r, struct node *list) {
	struct node name = {.text = live_kinds[r->object].list, .next = list};
	struct node root = {.type = NODE_MAP, .length = 1, .first = &name};
	struct check check = {
		.sg = &r->view,
		.errors = &r->errors,
		.channels = {.find = find_channel, .group = r->l, .complete = true},
		.bonding_groups = {.find = find_bonding_group, .group = r->l, .complete = true},
		.filter_groups = {.find = find_filter_group, .group = r->l, .complete = true},
		.upstream_channels = {.find = find_upstream_channel,
				      .group = r->l,
				      .complete = true},
		.flows = CHECK_FLOWS,
	};

	if (r->object != LIVE_MODEM)
		r->view.modem_count = 0;
	check_lists(&check, &root);
}

/* Reads the object of `value` and checks it without the group. Returns NULL with a line in
 * `why`. */
static const void *request_read(struct request *r, json_t *value, char why[LIVE_LINE]) {
	struct node list = {.type = NODE_LIST, .length = 1};
	struct reader reader = {.errors = &r->errors, .visits = MAX_VALUES};

	r->view = r->l->sg;
	r->arena = arena_new();
	reader.arena = r->arena;
	if (r->arena == NULL) {
		set_why(why, NO_MEMORY);
		return NULL;
	}
	if (tree_from_json(&r->tree, value, &r->errors)) {
		list.first = r->tree.root;
		reader_read_one(&reader, object_key(r->object), &list, &r->view, NULL);
		if (r->errors.total == 0)
			request_check(r, &list);
	}
	if (r->errors.total == 0)
		return live_item(&r->view, r->object, 0);
	report_all(r, why);
	return NULL;
}

/* Reads the key that identifies objects of this kind: mac or id. */
static bool read_name(struct request *r, json_t *value, struct identity *identity,
		      char why[LIVE_LINE]) {
	const struct live_kind *kind = &live_kinds[r->object];
	const struct key *keys = object_key(r->object)->item->keys;
	struct path path = {.key = kind->item}, up = {.up = &path, .key = keys->name};
	struct reader reader = {.errors = &r->errors, .visits = MAX_VALUES};
	char allowed[LIVE_LINE];
	struct node *node = NULL;
	struct modem item = {0}; /* the largest kind */

	r->arena = arena_new();
	reader.arena = r->arena;
	if (r->arena == NULL)
		return set_why(why, NO_MEMORY);
	if (tree_from_json(&r->tree, value, &r->errors))
		node = node_present(r->tree.root, keys->name);
	if (node != NULL) {
		reader_read_one(&reader, keys, node, &item, &path);
	} else if (r->errors.total == 0) {
		key_describe(keys, allowed, sizeof(allowed));
		errors_add_missing(&r->errors, 0, &up, allowed);
	}
	*identity = identity_of(r->object, &item);
	return r->errors.total == 0 || report_all(r, why);
}

bool live_request_find(const struct live_group *l, enum live_object object, json_t *value,
		       uint32_t *slot, char why[LIVE_LINE]) {
	const struct live_kind *kind = &live_kinds[object];
	struct request r = {.l = l, .object = object, .errors = {.file = ""}};
	struct identity identity;
	char text[64];
	bool good;

	*slot = 0;
	if (object == LIVE_GROUP)
		return true;
	good = read_name(&r, value, &identity, why);
	request_end(&r);
	if (!good)
		return false;
	*slot = live_index_find(l->index, &identity);
	if (*slot != IDENTITY_NONE)
		return true;
	identity_text(&identity, text, sizeof(text));
	snprintf(why, LIVE_LINE, "no %s %s in service group %" PRIu32, kind->name, text, l->sg.id);
	return false;
}

/* Appends a change; `block` NULL: the object is removed. */
static bool add_change(struct live_changes *changes, enum live_object object, uint32_t slot,
		       void *block, char why[LIVE_LINE]) {
	if (live_changes_add(changes, object, slot, block))
		return true;
	live_changes_free(changes);
	return set_why(why, NO_MEMORY);
}

/* Changes `slot` to the whole object; IDENTITY_NONE: selects a free slot. */
static bool request_put(const struct live_group *l, enum live_object object, json_t *value,
			uint32_t slot, struct live_changes *changes, char why[LIVE_LINE]) {
	struct request r = {.l = l, .object = object, .errors = {.file = ""}};
	const void *item = request_read(&r, value, why);
	bool good = item != NULL && conflicts_none(l, object, item, slot, why);
	bool same =
		good && slot != IDENTITY_NONE && object_same(object, item, l->blocks[object][slot]);

	if (good && !same) {
		void *block = object_copy(object, item, NULL);

		if (slot == IDENTITY_NONE)
			slot = l->first_free[object];
		good = block != NULL ? add_change(changes, object, slot, block, why)
				     : set_why(why, NO_MEMORY);
	}
	request_end(&r);
	if (!good)
		request_names(object, value, why);
	return good;
}

/* Sets the single values; all of them are in `value`. */
static bool put_single_values(const struct live_group *l, json_t *value,
			      struct live_changes *changes, char why[LIVE_LINE]) {
	struct request r = {.l = l, .errors = {.file = ""}};
	struct reader reader = {.errors = &r.errors, .visits = MAX_VALUES};
	struct service_group *block = calloc(1, sizeof(*block));
	struct key keys[OBJECT_SINGLE_KEYS + 1];
	bool good = block != NULL;

	object_single_keys(keys);
	if (good)
		*block = l->sg; /* the upstream also reads members that are equal */
	if (good && tree_from_json(&r.tree, value, &r.errors))
		reader_read(&reader, keys, r.tree.root, block);
	if (r.errors.total > 0)
		good = report_all(&r, why);
	else if (!good)
		set_why(why, NO_MEMORY);
	request_end(&r);
	if (good && (block->rate_limit != l->sg.rate_limit ||
		     block->cpe_timeout_ns != l->sg.cpe_timeout_ns))
		return add_change(changes, LIVE_GROUP, 0, block, why);
	free(block);
	return good;
}

/* Merges the patch into the present object. */
static bool request_set(const struct live_group *l, enum live_object object, json_t *patch,
			uint32_t slot, struct live_changes *changes, char why[LIVE_LINE]) {
	json_t *whole = object_json(l, object, slot, true);
	bool good = whole != NULL && json_is_object(patch) && merge_patch(whole, patch);

	if (!good)
		set_why(why, NO_MEMORY);
	else if (object == LIVE_GROUP)
		good = put_single_values(l, whole, changes, why);
	else
		good = request_put(l, object, whole, slot, changes, why);
	json_decref(whole);
	return good;
}

bool live_request(const struct live_group *l, enum live_verb verb, enum live_object object,
		  json_t *value, struct live_changes *changes, char why[LIVE_LINE]) {
	uint32_t slot;

	*changes = (struct live_changes){0};
	if (!json_is_object(value))
		return set_why(why, "the object is no map of its keys");
	if (object == LIVE_GROUP && verb != LIVE_SET)
		return set_why(why, "a service group can only be changed: group.set");
	if (verb == LIVE_ADD)
		return request_put(l, object, value, IDENTITY_NONE, changes, why);
	if (!live_request_find(l, object, value, &slot, why))
		return false;
	if (verb == LIVE_REPLACE)
		return request_put(l, object, value, slot, changes, why);
	if (verb == LIVE_SET)
		return request_set(l, object, value, slot, changes, why);
	return conflicts_no_users(l, object, slot, why) &&
	       add_change(changes, object, slot, NULL, why);
}
