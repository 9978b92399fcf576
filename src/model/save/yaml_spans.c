/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/save/yaml_spans.h"

#include <string.h>

#include <yaml.h>

#define MAX_DEPTH 32

struct composer {
	struct arena *arena;
	const char *text;
	size_t size;
	size_t index, byte; /* libyaml counts characters; the last position in both units */
	struct span *root;
	struct span *open[MAX_DEPTH], *last[MAX_DEPTH]; /* NULL: deeper than SPANS_DEPTH */
	bool flow[MAX_DEPTH];
	size_t depth;
	size_t leaf_end; /* of the last scalar, alias or closing bracket */
};

static size_t byte_at(struct composer *c, size_t index) {
	if (index < c->index)
		c->index = c->byte = 0;
	while (c->index < index && c->byte < c->size) {
		c->byte++;
		while (c->byte < c->size && (c->text[c->byte] & 0xc0) == 0x80)
			c->byte++;
		c->index++;
	}
	return c->byte;
}

/* Appends a span; returns false if memory is short. A deep node has none. */
static bool append(struct composer *c, enum span_type type, const yaml_event_t *event,
		   struct span **made) {
	struct span *s, *parent = c->depth > 0 ? c->open[c->depth - 1] : NULL;

	*made = NULL;
	if (c->depth >= SPANS_DEPTH)
		return true;
	s = arena_alloc(c->arena, 1, sizeof(*s));
	if (s == NULL)
		return false;
	s->type = type;
	s->start = byte_at(c, event->start_mark.index);
	if (parent == NULL)
		c->root = s;
	else if (c->last[c->depth - 1] == NULL)
		parent->first = s;
	else
		c->last[c->depth - 1]->next = s;
	if (parent != NULL)
		c->last[c->depth - 1] = s;
	*made = s;
	return true;
}

static bool add_leaf(struct composer *c, enum span_type type, const yaml_event_t *event) {
	struct span *s;

	if (!append(c, type, event, &s))
		return false;
	c->leaf_end = byte_at(c, event->end_mark.index);
	if (s == NULL)
		return true;
	s->end = c->leaf_end;
	if (type == SPAN_SCALAR)
		s->text = arena_text(c->arena, (const char *)event->data.scalar.value,
				     event->data.scalar.length);
	return type != SPAN_SCALAR || s->text != NULL;
}

static bool open_span(struct composer *c, const yaml_event_t *event) {
	bool map = event->type == YAML_MAPPING_START_EVENT;
	bool flow = map ? event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
			: event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
	struct span *s;

	if (c->depth == MAX_DEPTH || !append(c, map ? SPAN_MAP : SPAN_LIST, event, &s))
		return false;
	if (s != NULL)
		s->flow = flow;
	c->open[c->depth] = s;
	c->flow[c->depth] = flow;
	c->last[c->depth++] = NULL;
	return true;
}

/* The end event of a block collection is at the next token; that of a flow collection is its
 * bracket. */
static bool close_span(struct composer *c, const yaml_event_t *event) {
	struct span *s = c->open[--c->depth];

	if (c->flow[c->depth])
		c->leaf_end = byte_at(c, event->end_mark.index);
	if (s != NULL)
		s->end = c->leaf_end;
	return true;
}

/* Returns false after an error. */
static bool add_event(struct composer *c, const yaml_event_t *event) {
	switch (event->type) {
	case YAML_SCALAR_EVENT: return add_leaf(c, SPAN_SCALAR, event);
	case YAML_ALIAS_EVENT: return add_leaf(c, SPAN_ALIAS, event);
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT: return open_span(c, event);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT: return close_span(c, event);
	default: return true;
	}
}

struct span *yaml_spans(struct arena *arena, const char *text, size_t size) {
	struct composer c = {.arena = arena, .text = text, .size = size};
	bool good = true, more = true;
	yaml_parser_t parser;
	yaml_event_t event;

	if (!yaml_parser_initialize(&parser))
		return NULL;
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	while (good && more) {
		good = yaml_parser_parse(&parser, &event) != 0;
		if (!good)
			break;
		more = event.type != YAML_STREAM_END_EVENT;
		good = add_event(&c, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return good ? c.root : NULL;
}

struct span *span_value(const struct span *map, const char *key) {
	if (map == NULL || map->type != SPAN_MAP)
		return NULL;
	for (struct span *name = map->first; name != NULL && name->next != NULL;
	     name = name->next->next) {
		if (name->type == SPAN_SCALAR && strcmp(name->text, key) == 0)
			return name->next;
	}
	return NULL;
}

struct span *span_item(const struct span *list, size_t index) {
	struct span *item = list->first;

	while (item != NULL && index-- > 0)
		item = item->next;
	return item;
}

size_t span_count(const struct span *list) {
	size_t count = 0;

	for (const struct span *item = list->first; item != NULL; item = item->next)
		count++;
	return count;
}
