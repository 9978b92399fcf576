/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/tree_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEEPEST 16 /* as in a file */
#define NUMBER_TEXT 32

struct maker {
	struct tree *tree;
	struct errors *errors;
};

static struct node *make(struct maker *m, json_t *value, unsigned depth);

static struct node *refuse_memory(struct maker *m) {
	errors_add_no_memory(m->errors);
	return NULL;
}

static struct node *node_make(struct maker *m, enum node_type type) {
	struct node *node = arena_alloc(m->tree->arena, 1, sizeof(*node));

	if (node == NULL)
		return refuse_memory(m);
	node->type = (uint8_t)type;
	m->tree->nodes++;
	return node;
}

static struct node *make_text(struct maker *m, const char *text, size_t length) {
	struct node *node = node_make(m, NODE_SCALAR);

	if (node == NULL)
		return NULL;
	node->length = (uint32_t)length;
	node->text = arena_text(m->tree->arena, text, length);
	return node->text != NULL ? node : refuse_memory(m);
}

static struct node *make_number(struct maker *m, json_t *value) {
	char text[NUMBER_TEXT];

	if (json_is_integer(value))
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		snprintf(text, sizeof(text), "%.17g", json_real_value(value));
	return make_text(m, text, strlen(text));
}

/* Appends `child` after `last`, or as the first child of `parent`. */
static bool hang(struct node *parent, struct node **last, struct node *child) {
	if (child == NULL)
		return false;
	if (*last == NULL)
		parent->first = child;
	else
		(*last)->next = child;
	*last = child;
	return true;
}

static struct node *make_list(struct maker *m, json_t *value, unsigned depth) {
	struct node *node = node_make(m, NODE_LIST), *last = NULL;

	for (size_t i = 0; node != NULL && i < json_array_size(value); i++) {
		if (!hang(node, &last, make(m, json_array_get(value, i), depth)))
			return NULL;
		node->length++;
	}
	return node;
}

static struct node *make_map(struct maker *m, json_t *value, unsigned depth) {
	struct node *node = node_make(m, NODE_MAP), *last = NULL;
	const char *name;
	json_t *inner;

	if (node == NULL)
		return NULL;
	json_object_foreach(value, name, inner) {
		if (!hang(node, &last, make_text(m, name, strlen(name))) ||
		    !hang(node, &last, make(m, inner, depth)))
			return NULL;
		node->length++;
	}
	return node;
}

static struct node *make(struct maker *m, json_t *value, unsigned depth) {
	bool collection = json_is_array(value) || json_is_object(value);

	if (collection && depth == DEEPEST) {
		errors_say(m->errors, 0, NULL, TREE_TOO_DEEP);
		return NULL;
	}
	if (json_is_array(value))
		return make_list(m, value, depth + 1);
	if (json_is_object(value))
		return make_map(m, value, depth + 1);
	if (json_is_string(value))
		return make_text(m, json_string_value(value), json_string_length(value));
	if (json_is_number(value))
		return make_number(m, value);
	if (json_is_boolean(value))
		return json_is_true(value) ? make_text(m, "true", 4) : make_text(m, "false", 5);
	return make_text(m, "null", 4);
}

bool tree_from_json(struct tree *tree, json_t *value, struct errors *errors) {
	struct maker m = {tree, errors};

	*tree = (struct tree){.arena = arena_new()};
	if (tree->arena == NULL)
		refuse_memory(&m);
	else
		tree->root = make(&m, value, 0);
	return tree->root != NULL;
}
