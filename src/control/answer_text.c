/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/answer_text.h"

#include <string.h>

#include "secret/secret_memory.h"

#define FIRST_ROOM 4096 /* bytes */
#define TEXT_FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY)

int answer_text_write(const char *bytes, size_t size, void *to) {
	struct answer_text *a = to;

	if (a->size + size >= a->room) {
		size_t room = 2 * (a->size + size) + FIRST_ROOM;
		char *larger = secret_realloc(a->text, room);

		a->lost |= larger == NULL;
		if (larger == NULL)
			return -1;
		a->text = larger;
		a->room = room;
	}
	memcpy(a->text + a->size, bytes, size);
	a->size += size;
	a->text[a->size] = '\0';
	return 0;
}

void answer_text_put(struct answer_text *a, const char *text) {
	answer_text_write(text, strlen(text), a);
}

void answer_text_json(struct answer_text *a, const json_t *json) {
	if (json_dump_callback(json, answer_text_write, a, TEXT_FLAGS) != 0)
		a->lost = true;
}

char *answer_text_take(struct answer_text *a) {
	char *text = a->text;

	if (a->lost) {
		answer_text_free(a);
		return NULL;
	}
	*a = (struct answer_text){0};
	return text;
}

void answer_text_free(struct answer_text *a) {
	secret_free(a->text);
	*a = (struct answer_text){0};
}
