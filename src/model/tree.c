/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds the tree from libyaml's events. libyaml's own document API needs about 180 bytes per
 * scalar, which is gigabytes for a large service group. This tree needs 32 bytes and the text,
 * which nearby equal scalars share. An anchor is defined only when its node is complete, so that no
 * alias can make a cycle.
 */
#include "model/tree.h"

#include <stdio.h>
#include <string.h>

#include <yaml.h>

#define MAX_DEPTH 16 /* the deepest value of a service group, a SID, is at 9 */
#define MAX_ANCHORS 256
#define KNOWN_LONGEST 23 /* bytes of a text that nodes may share */
#define KNOWN_BITS 6

struct anchor {
	const char *name;
	struct node *node;
};

struct open_node {
	struct node *node;
	struct node *last; /* child */
	uint32_t children;
	const char *anchor;
};

struct composer {
	struct tree *tree;
	struct errors *errors;
	uint32_t first_line;
	struct open_node open[MAX_DEPTH];
	size_t depth;
	struct anchor anchors[MAX_ANCHORS];
	size_t anchor_count;
	const char *known[KNOWN_LONGEST + 1][1 << KNOWN_BITS]; /* texts by length and hash */
};

static bool tree_refuse(struct composer *composer, uint32_t line, const char *text) {
	errors_say(composer->errors, line, NULL, "%s", text);
	return false;
}

static bool refuse_memory(struct composer *composer) {
	errors_add_no_memory(composer->errors);
	return false;
}

static uint32_t line_of(const struct composer *composer, const yaml_event_t *event) {
	return (uint32_t)event->start_mark.line + composer->first_line;
}

static const char *tree_keep(struct composer *composer, const void *text, size_t length) {
	return arena_text(composer->tree->arena, text, length);
}

/* Keys and many values repeat, so a scalar shares the text of the last equal one. */
static const char *scalar_keep(struct composer *composer, const unsigned char *text,
			       size_t length) {
	uint32_t hash = 0;
	const char **known, *kept;

	if (length > KNOWN_LONGEST)
		return tree_keep(composer, text, length);
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ text[i]) * 0x9e3779b1;
	known = &composer->known[length][hash >> (32 - KNOWN_BITS)];
	if (*known != NULL && memcmp(*known, text, length) == 0)
		return *known;
	kept = tree_keep(composer, text, length);
	if (kept != NULL)
		*known = kept;
	return kept;
}

static bool define_anchor(struct composer *composer, const char *name, struct node *node) {
	struct anchor *anchor = composer->anchors;
	struct anchor *end = &composer->anchors[composer->anchor_count];

	if (name == NULL)
		return true;
	while (anchor < end && strcmp(anchor->name, name) != 0)
		anchor++;
	if (anchor == &composer->anchors[MAX_ANCHORS])
		return tree_refuse(composer, node->line, "more than 256 anchors in a file");
	if (anchor == end)
		composer->anchor_count++;
	*anchor = (struct anchor){.name = name, .node = node};
	return true;
}

/* Appends a node to the innermost open one, or makes it the root. */
static struct node *tree_append(struct composer *composer, enum node_type type, uint32_t line) {
	struct node *node = arena_alloc(composer->tree->arena, 1, sizeof(*node));
	struct open_node *parent;

	if (node == NULL) {
		refuse_memory(composer);
		return NULL;
	}
	node->type = (uint8_t)type;
	node->line = line;
	composer->tree->nodes++;
	if (composer->depth == 0) {
		composer->tree->root = node;
		return node;
	}
	parent = &composer->open[composer->depth - 1];
	if (parent->last == NULL)
		parent->node->first = node;
	else
		parent->last->next = node;
	parent->last = node;
	parent->children++;
	return node;
}

static bool add_scalar(struct composer *composer, const yaml_event_t *event) {
	const char *anchor = (const char *)event->data.scalar.anchor;
	struct node *node = tree_append(composer, NODE_SCALAR, line_of(composer, event));

	if (node == NULL)
		return false;
	if (event->data.scalar.length > UINT32_MAX)
		return tree_refuse(composer, node->line, "a text of more than 4 GB");
	node->length = (uint32_t)event->data.scalar.length;
	node->text = scalar_keep(composer, event->data.scalar.value, node->length);
	if (anchor != NULL)
		anchor = tree_keep(composer, anchor, strlen(anchor));
	if (node->text == NULL || (anchor == NULL && event->data.scalar.anchor != NULL))
		return refuse_memory(composer);
	return define_anchor(composer, anchor, node);
}

static bool open_collection(struct composer *composer, const yaml_event_t *event) {
	bool map = event->type == YAML_MAPPING_START_EVENT;
	const yaml_char_t *anchor =
		map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
	struct node *node =
		tree_append(composer, map ? NODE_MAP : NODE_LIST, line_of(composer, event));
	struct open_node *open;

	if (node == NULL)
		return false;
	if (composer->depth == MAX_DEPTH)
		return tree_refuse(composer, node->line, TREE_TOO_DEEP);
	open = &composer->open[composer->depth++];
	*open = (struct open_node){.node = node};
	if (anchor == NULL)
		return true;
	open->anchor = tree_keep(composer, anchor, strlen((const char *)anchor));
	return open->anchor != NULL || refuse_memory(composer);
}

static bool close_collection(struct composer *composer) {
	struct open_node *open = &composer->open[--composer->depth];

	open->node->length = open->node->type == NODE_MAP ? open->children / 2 : open->children;
	return define_anchor(composer, open->anchor, open->node);
}

/* An alias inside of its own anchor's value is refused, too. */
static bool refuse_alias(struct composer *composer, uint32_t line, const char *name) {
	char quoted[256];

	errors_quote(name, strlen(name), quoted, sizeof(quoted));
	errors_say(composer->errors, line, NULL,
		   "the alias %s has no anchor (&) on a complete value before it", quoted);
	return false;
}

static bool add_alias(struct composer *composer, const yaml_event_t *event) {
	const char *name = (const char *)event->data.alias.anchor;
	struct node *node;

	for (size_t i = 0; i < composer->anchor_count; i++) {
		if (strcmp(composer->anchors[i].name, name) != 0)
			continue;
		node = tree_append(composer, NODE_ALIAS, line_of(composer, event));
		if (node != NULL)
			node->target = composer->anchors[i].node;
		return node != NULL;
	}
	return refuse_alias(composer, line_of(composer, event), name);
}

/* A tag could give "12" another type than that of its key, so tags are refused. */
static bool has_tag(const yaml_event_t *event) {
	const yaml_char_t *tag = NULL;

	if (event->type == YAML_SCALAR_EVENT)
		tag = event->data.scalar.tag;
	else if (event->type == YAML_SEQUENCE_START_EVENT)
		tag = event->data.sequence_start.tag;
	else if (event->type == YAML_MAPPING_START_EVENT)
		tag = event->data.mapping_start.tag;
	return tag != NULL;
}

/* Returns false at the end of the stream and after an error. */
static bool add_event(struct composer *composer, const yaml_event_t *event) {
	if (has_tag(event))
		return tree_refuse(composer, line_of(composer, event),
				   "YAML tags such as !!str are not allowed");
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		return composer->tree->root == NULL ||
		       tree_refuse(composer, line_of(composer, event),
				   "a second YAML document begins here, allowed: one document");
	case YAML_SCALAR_EVENT: return add_scalar(composer, event);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT: return open_collection(composer, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT: return close_collection(composer);
	case YAML_ALIAS_EVENT: return add_alias(composer, event);
	case YAML_STREAM_END_EVENT:
		if (composer->tree->root == NULL)
			tree_refuse(composer, composer->first_line,
				    "the file is empty; it needs the keys of a service group");
		return false;
	default: return true;
	}
}

static void refuse_syntax(struct composer *composer, const yaml_parser_t *parser) {
	char text[200];
	size_t line = parser->problem_mark.line;

	/* the byte reader knows an offset only; the last scanned line is the nearest */
	if (parser->error == YAML_READER_ERROR)
		line = parser->mark.line;
	snprintf(text, sizeof(text), "invalid YAML: %s%s%s",
		 parser->problem != NULL ? parser->problem : "no memory left",
		 parser->context != NULL ? " " : "",
		 parser->context != NULL ? parser->context : "");
	tree_refuse(composer, (uint32_t)line + composer->first_line, text);
}

/* The size of a byte-order mark (YAML 1.1, 5.2), as some editors write it. libyaml counts it as a
 * column and then takes the first line as indented. */
static size_t mark_size(const char *text, size_t size) {
	static const char mark[] = "\xef\xbb\xbf";

	return size >= sizeof(mark) - 1 && memcmp(text, mark, sizeof(mark) - 1) == 0
		       ? sizeof(mark) - 1
		       : 0;
}

bool tree_load(struct tree *tree, const char *text, size_t size, uint32_t first,
	       struct errors *errors) {
	struct composer composer = {.tree = tree, .errors = errors, .first_line = first};
	uint64_t mistakes = errors->total;
	size_t mark = mark_size(text, size);
	yaml_parser_t parser;
	yaml_event_t event;
	bool more = true;

	*tree = (struct tree){.arena = arena_new()};
	if (tree->arena == NULL || !yaml_parser_initialize(&parser))
		return refuse_memory(&composer);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)(size > 0 ? text : "") + mark,
				     size - mark);
	while (more) {
		if (!yaml_parser_parse(&parser, &event)) {
			refuse_syntax(&composer, &parser);
			break;
		}
		more = add_event(&composer, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return errors->total == mistakes;
}

void tree_free(struct tree *tree) {
	arena_free(tree->arena);
	*tree = (struct tree){0};
}

static void shift_lines(struct node *node, uint32_t from, uint32_t first, uint32_t *last) {
	node->line = node->line - from + first;
	if (node->line > *last)
		*last = node->line;
	if (node->type != NODE_LIST && node->type != NODE_MAP)
		return;
	for (struct node *child = node->first; child != NULL; child = child->next)
		shift_lines(child, from, first, last);
}

uint32_t tree_renumber(struct node *node, uint32_t first) {
	uint32_t last = first;

	shift_lines(node, node->line, first, &last);
	return last + 1;
}

struct node *node_resolve(struct node *node) {
	while (node != NULL && node->type == NODE_ALIAS)
		node = node->target;
	return node;
}

struct node *node_present(const struct node *map, const char *key) {
	if (map == NULL || map->type != NODE_MAP)
		return NULL;
	for (struct node *name = map->first; name != NULL; name = name->next->next) {
		const struct node *text = node_resolve(name);

		if (text->type == NODE_SCALAR && strcmp(text->text, key) == 0)
			return name->next;
	}
	return NULL;
}

struct node *node_field(const struct node *map, const char *key) {
	struct node *value = node_resolve(node_present(map, key));

	return value != NULL && !value->bad ? value : NULL;
}

bool node_is_valid(const struct node *map, const char *key) {
	return node_present(map, key) == NULL || node_field(map, key) != NULL;
}
