/* SPDX-License-Identifier: BSD-3-Clause */
#include "fields.h"

#include <stdio.h>
#include <string.h>

void fields_mistake(struct fields *f, const char *key, const char *what) {
	if (f->error[0] == '\0')
		snprintf(f->error, f->error_size, "%s%.40s: %s", f->where, key, what);
}

/* Keeps a mistake of the object itself, named by `where` without its last dot. */
static void mistake_here(struct fields *f, const char *what) {
	int length = (int)strlen(f->where);

	if (f->error[0] != '\0')
		return;
	if (length > 0)
		snprintf(f->error, f->error_size, "%.*s: %s", length - 1, f->where, what);
	else
		snprintf(f->error, f->error_size, "%s", what);
}

void fields_open(struct fields *f, const json_t *object) {
	f->object = object;
	f->used_count = 0;
	if (!json_is_object(object))
		mistake_here(f, "an object is expected");
}

const json_t *fields_value(struct fields *f, const char *key) {
	if (f->used_count < FIELDS_MAX)
		f->used[f->used_count++] = key;
	return json_object_get(f->object, key);
}

static bool was_used(const struct fields *f, const char *key) {
	for (unsigned i = 0; i < f->used_count; i++) {
		if (strcmp(f->used[i], key) == 0)
			return true;
	}
	return false;
}

void fields_close(struct fields *f) {
	json_t *object = (json_t *)(uintptr_t)f->object; /* iterators take no const */

	for (void *i = json_object_iter(object); i != NULL; i = json_object_iter_next(object, i)) {
		if (was_used(f, json_object_iter_key(i)))
			continue;
		/* a mistake of this object or its members */
		if (strncmp(f->error, f->where, strlen(f->where)) == 0)
			f->error[0] = '\0';
		fields_mistake(f, json_object_iter_key(i), "no such key");
		return;
	}
}

void fields_number(struct fields *f, const char *key, struct bounds b, double scale,
		   uint64_t *out) {
	const json_t *value = fields_value(f, key);
	double number;
	char text[80];

	if (value == NULL)
		return;
	number = json_number_value(value);
	if (!json_is_number(value) || !(number >= b.min && number <= b.max)) {
		snprintf(text, sizeof(text), "allowed: %.12g to %.12g", b.min, b.max);
		fields_mistake(f, key, text);
		return;
	}
	*out = (uint64_t)(number * scale + 0.5);
}

void fields_number32(struct fields *f, const char *key, struct bounds b, uint32_t *out) {
	uint64_t value = *out;

	fields_number(f, key, b, 1, &value);
	*out = (uint32_t)value;
}

void fields_choice(struct fields *f, const char *key, const char *const *names, unsigned *out) {
	const json_t *value = fields_value(f, key);
	char text[80] = "allowed:";
	size_t used;

	if (value == NULL)
		return;
	for (unsigned i = 0; names[i] != NULL; i++) {
		if (json_is_string(value) && strcmp(json_string_value(value), names[i]) == 0) {
			*out = i;
			return;
		}
		used = strlen(text);
		snprintf(text + used, sizeof(text) - used, " %s", names[i]);
	}
	fields_mistake(f, key, text);
}

void fields_text(struct fields *f, const char *key, char *out, size_t size) {
	const json_t *value = fields_value(f, key);
	char text[80];

	if (value == NULL)
		return;
	snprintf(text, sizeof(text), "a text of fewer than %zu bytes is expected", size);
	if (!json_is_string(value) || json_string_length(value) >= size)
		fields_mistake(f, key, text);
	else
		memcpy(out, json_string_value(value), json_string_length(value) + 1);
}

const json_t *fields_array(struct fields *f, const char *key, size_t max, uint32_t *count) {
	const json_t *value = fields_value(f, key);
	char text[80];

	*count = 0;
	if (value == NULL)
		return NULL;
	if (!json_is_array(value) || json_array_size(value) > max) {
		snprintf(text, sizeof(text), "an array of up to %zu is expected", max);
		fields_mistake(f, key, text);
		return NULL;
	}
	*count = (uint32_t)json_array_size(value);
	return value;
}
