/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/save/secret_text.h"

#include <string.h>

#include "platform/secret/secret_memory.h"

#define FIRST_CAPACITY 256

void secret_text_put(struct secret_text *t, const char *text, size_t size) {
	size_t capacity = t->capacity > 0 ? t->capacity : FIRST_CAPACITY;
	char *larger;

	if (t->failed || size == 0)
		return;
	while (capacity < t->size + size)
		capacity *= 2;
	if (capacity != t->capacity) {
		larger = secret_realloc(t->at, capacity);
		t->failed = larger == NULL;
		if (t->failed)
			return;
		t->at = larger;
		t->capacity = capacity;
	}
	memcpy(t->at + t->size, text, size);
	t->size += size;
}

void secret_text_puts(struct secret_text *t, const char *text) {
	secret_text_put(t, text, strlen(text));
}

void secret_text_spaces(struct secret_text *t, size_t count) {
	while (count-- > 0)
		secret_text_put(t, " ", 1);
}

void secret_text_free(struct secret_text *t) {
	secret_free(t->at);
	*t = (struct secret_text){0};
}
