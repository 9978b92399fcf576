/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/server/parts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/server/plain_lines.h"
#include "platform/secret/secret_memory.h"

#define LIST "service_groups:\n"
#define NAME "/part/" /* path prefix of parts */
#define ITEM "  - {file: \"" NAME "%zu\"}\n"
#define ITEM_SIZE 64

static const char *after_line(const char *c, const char *end) {
	const char *line = memchr(c, '\n', (size_t)(end - c));

	return line != NULL ? line + 1 : end;
}

/* The start of the line that opens the list; NULL: there is none. */
static const char *find_list(const char *text, const char *end) {
	const size_t size = sizeof(LIST) - 1;

	for (; (size_t)(end - text) > size; text = after_line(text, end)) {
		if (memcmp(text, LIST, size) == 0)
			return text;
	}
	return NULL;
}

/* A key at the top ends the list; an empty line or a comment does not. */
static bool is_top_level(const char *c) {
	return *c != ' ' && *c != '\n' && *c != '#';
}

/* The indentation of a line, at most `column` + 1. */
static size_t indent_of(const char *c, size_t column) {
	size_t spaces = 0;

	while (spaces <= column && c[spaces] == ' ')
		spaces++;
	return spaces;
}

/* Records an item if the line begins one. Returns false if the line shows that the list is not
 * plain: each item begins with a dash in `column`. */
static bool item_line(struct server_parts *p, const char *c, size_t column) {
	size_t spaces = indent_of(c, column);

	if (spaces < column)
		return c[spaces] == '\n' || c[spaces] == '#';
	if (spaces > column || c[column] != '-')
		return true;
	if (p->count == SERVER_MAX_GROUPS || c[column + 1] != ' ')
		return false;
	p->list[p->count++].text = c;
	return true;
}

/* Finds the items by the dashes in the column of the first one. Returns the end of the list, or
 * NULL if the list is not plain. */
static const char *find_items(struct server_parts *p, const char *c, const char *end) {
	size_t column = strspn(c, " ");

	if (column == 0 || c + column >= end || c[column] != '-')
		return NULL;
	for (; c < end && !is_top_level(c); c = after_line(c, end)) {
		if (!item_line(p, c, column))
			return NULL;
	}
	for (size_t i = 0; i < p->count; i++) {
		const char *next = i + 1 < p->count ? p->list[i + 1].text : c;

		p->list[i].size = (size_t)(next - p->list[i].text);
	}
	return c;
}

/* Whether the part is a map of keys, one per line, without the key `file`. */
static bool part_is_map(const struct server_part *part) {
	const char *end = part->text + part->size, *line = part->text;
	size_t column = strcspn(line, "-") + 1;

	column += strspn(line + column, " ");
	for (const char *c = line + column; line < end; line = after_line(line, end)) {
		bool first = line == part->text;

		if (!first)
			c = line + strspn(line, " ");
		if (first || (size_t)(c - line) == column) {
			if (!isalpha((unsigned char)*c) && (first || *c != '#'))
				return false;
			if (strncmp(c, "file", 4) == 0)
				return false;
		}
	}
	return true;
}

static bool parts_are_plain(struct server_parts *p, const struct load_cache *before) {
	for (size_t i = 0; i < p->count; i++) {
		struct server_part *part = &p->list[i];

		digest_text(&part->digest, part->text, part->size);
		if (before != NULL && i < before->part_count &&
		    digest_same(&part->digest, &before->parts[i]))
			continue;
		if (!part_is_map(part) || !plain_lines(part->text, part->size))
			return false;
	}
	return true;
}

static const struct server_part *part_of(const struct server_parts *p, const char *path) {
	size_t number = strtoul(path + sizeof(NAME) - 1, NULL, 10);

	return &p->list[number];
}

/* Copies a part. A space replaces its dash, so that the text is a map. */
static char *read_part(void *context, const char *path, size_t max, size_t *size) {
	const struct server_part *part = part_of(context, path);
	char *text;

	errno = part->size > max ? EFBIG : ENOMEM;
	text = part->size <= max ? malloc(part->size + 1) : NULL;
	if (text == NULL)
		return NULL;
	memcpy(text, part->text, part->size);
	text[part->size] = '\0';
	text[strcspn(text, "-")] = ' ';
	*size = part->size;
	return text;
}

static const void *digest_part(void *context, const char *path) {
	return &part_of(context, path)->digest;
}

/* Writes the text before the list, the list of files, and the text after it. */
static bool text_write(struct server_parts *p, const struct server_source *source,
		       const char *items, const char *after) {
	size_t head = (size_t)(items - source->text);
	size_t tail = source->size - (size_t)(after - source->text);
	size_t used = head;

	p->text = malloc(head + p->count * ITEM_SIZE + tail + 1);
	if (p->text == NULL)
		return false;
	memcpy(p->text, source->text, head);
	for (size_t i = 0; i < p->count; i++)
		used += (size_t)snprintf(p->text + used, ITEM_SIZE, ITEM, i);
	memcpy(p->text + used, after, tail);
	p->text[used + tail] = '\0';
	p->source.text = p->text;
	p->source.size = used + tail;
	return true;
}

bool server_parts_divide(struct server_parts *p, const struct server_source *source,
			 const struct load_cache *before) {
	const char *end = source->text + source->size, *list, *items, *after;

	*p = (struct server_parts){.source = *source};
	p->files = (struct server_files){.read = read_part, .digest = digest_part, .context = p};
	p->source.files = &p->files;
	/* scans of a line stop at its newline, so the text must end with one */
	list = source->size > 0 && end[-1] == '\n' ? find_list(source->text, end) : NULL;
	if (list == NULL)
		return false;
	items = list + sizeof(LIST) - 1;
	after = find_items(p, items, end);
	return after != NULL && plain_lines(source->text, (size_t)(items - source->text)) &&
	       plain_lines(after, (size_t)(end - after)) && parts_are_plain(p, before) &&
	       text_write(p, source, items, after);
}

void server_parts_free(struct server_parts *p) {
	secret_free(p->text);
	p->text = NULL;
}

void server_parts_keep(const struct server_parts *p, struct load_cache *kept) {
	kept->part_count = p->count;
	for (size_t i = 0; i < p->count; i++)
		kept->parts[i] = p->list[i].digest;
}
