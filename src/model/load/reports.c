/* SPDX-License-Identifier: BSD-3-Clause */
/* The errors of a map and of its values: unknown, repeated and missing keys, and wrong values. */
#include "model/load/reports.h"

#include <stdio.h>

#include "platform/secret/secret_text.h"

#define TEXT_SIZE 512

static void describe_collection(const struct node *value, char *text, size_t size) {
	const char *kind = value->type == NODE_LIST ? "list" : "map";

	if (value->length == 0)
		snprintf(text, size, "an empty %s", kind);
	else
		snprintf(text, size, "a %s of %u", kind, value->length);
}

void reader_refuse(struct reader *reader, struct node *node, const struct path *path,
		   const struct key *key) {
	char found[TEXT_SIZE], allowed[TEXT_SIZE];
	struct node *value = node_resolve(node);

	value->bad = true;
	key_describe(key, allowed, sizeof(allowed));
	if (value->type == NODE_SCALAR && value->length == 0) {
		errors_say(reader->errors, node->line, path, "no value; needed: %s", allowed);
		return;
	}
	if (value->type == NODE_SCALAR)
		key_describe_found(key, value->text, value->length, found, sizeof(found));
	else
		describe_collection(value, found, sizeof(found));
	errors_add(reader->errors, node->line, path, found, allowed);
}

void reader_report_missing(struct reader *reader, const struct node *map, const struct path *up,
			   const struct key *key) {
	struct path path = {.up = up, .key = key->name};
	char needed[TEXT_SIZE];

	key_describe(key, needed, sizeof(needed));
	errors_add_missing(reader->errors, map->line, &path, needed);
}

void reader_report_unknown(struct reader *reader, struct node *name, const struct path *up,
			   const struct key *keys) {
	const struct node *word = node_resolve(name);
	char quoted[TEXT_SIZE], known[2 * TEXT_SIZE];
	const char *nearest;

	if (word->type != NODE_SCALAR) {
		errors_say(reader->errors, name->line, up, "a list or map is the name of a key");
		return;
	}
	if (keys_have_secrets(keys) && word->length >= SECRET_MIN_LENGTH) {
		snprintf(quoted, sizeof(quoted), "of %u characters", word->length);
		nearest = NULL;
	} else {
		errors_quote(word->text, word->length, quoted, sizeof(quoted));
		nearest = keys_nearest(keys, word->text);
	}
	keys_list(keys, known, sizeof(known));
	errors_say(reader->errors, name->line, up, "unknown key %s; %s%s%s", quoted,
		   nearest != NULL ? "did you mean \"" : "allowed: ",
		   nearest != NULL ? nearest : known, nearest != NULL ? "\"?" : "");
}

void reader_report_repeated(struct errors *errors, uint32_t line, const struct path *up,
			    const char *key, uint32_t first) {
	char what[TEXT_SIZE];

	snprintf(what, sizeof(what), "key \"%s\"", key);
	errors_add_duplicate(errors, line, up, what, first);
}
