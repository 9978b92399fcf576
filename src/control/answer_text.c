/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/answer_text.h"

#include <stdlib.h>
#include <string.h>

#include "platform/secret/secret_memory.h"

#define TEXT_FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY)

struct answer_block {
	struct answer_block *next;
	size_t used, capacity; /* bytes after this header */
	char bytes[];
};

static struct answer_block *block_add(struct answer_text *a) {
	size_t size = a->last == NULL ? ANSWER_FIRST_BLOCK : ANSWER_BLOCK;
	struct answer_block *b = malloc(size);

	if (b == NULL)
		return NULL;
	b->next = NULL;
	b->used = 0;
	b->capacity = size - sizeof(*b);
	if (a->last == NULL)
		a->first = b;
	else
		a->last->next = b;
	a->last = b;
	return b;
}

int answer_text_write(const char *bytes, size_t size, void *to) {
	struct answer_text *a = to;
	struct answer_block *b = a->last;

	while (size > 0) {
		size_t part;

		if (b == NULL || b->used == b->capacity)
			b = block_add(a);
		a->lost |= b == NULL;
		if (b == NULL)
			return -1;
		part = size < b->capacity - b->used ? size : b->capacity - b->used;
		memcpy(b->bytes + b->used, bytes, part);
		b->used += part;
		a->size += part;
		bytes += part;
		size -= part;
	}
	return 0;
}

void answer_text_put(struct answer_text *a, const char *text) {
	answer_text_write(text, strlen(text), a);
}

void answer_text_json(struct answer_text *a, const json_t *json) {
	if (json_dump_callback(json, answer_text_write, a, TEXT_FLAGS) != 0)
		a->lost = true;
}

/* Moves the unconsumed bytes to the front of the first block. */
static void first_compact(struct answer_text *a) {
	struct answer_block *b = a->first;

	if (a->consumed == 0)
		return;
	b->used -= a->consumed;
	memmove(b->bytes, b->bytes + a->consumed, b->used);
	a->consumed = 0;
}

void answer_text_move(struct answer_text *a, struct answer_text *from) {
	first_compact(from);
	if (a->last == NULL)
		a->first = from->first;
	else
		a->last->next = from->first;
	if (from->last != NULL)
		a->last = from->last;
	a->size += from->size;
	a->lost |= from->lost;
	*from = (struct answer_text){0};
}

unsigned answer_text_pieces(const struct answer_text *a, struct iovec *pieces, unsigned count) {
	struct answer_block *b = a->first;
	size_t consumed = a->consumed;
	unsigned n = 0;

	for (; b != NULL && n < count; b = b->next) {
		pieces[n++] = (struct iovec){b->bytes + consumed, b->used - consumed};
		consumed = 0;
	}
	return n;
}

static void first_free(struct answer_text *a) {
	struct answer_block *b = a->first;

	a->size -= b->used - a->consumed;
	a->consumed = 0;
	a->first = b->next;
	if (a->first == NULL)
		a->last = NULL;
	secret_free(b);
}

void answer_text_consume(struct answer_text *a, size_t size) {
	while (size > 0 && size >= a->first->used - a->consumed) {
		size -= a->first->used - a->consumed;
		first_free(a);
	}
	a->consumed += size;
	a->size -= size;
}

bool answer_text_free_part(struct answer_text *a) {
	for (unsigned n = 0; a->first != NULL && n < ANSWER_FREED_BLOCKS; n++)
		first_free(a);
	return a->first == NULL;
}

void answer_text_free(struct answer_text *a) {
	while (!answer_text_free_part(a))
		;
	*a = (struct answer_text){0};
}

/* A json_load_callback_t. */
static size_t text_read(void *bytes, size_t size, void *from) {
	struct answer_text *a = from;
	struct iovec piece;

	if (answer_text_pieces(a, &piece, 1) == 0)
		return 0;
	if (piece.iov_len < size)
		size = piece.iov_len;
	memcpy(bytes, piece.iov_base, size);
	answer_text_consume(a, size);
	return size;
}

json_t *answer_text_parse(struct answer_text *a) {
	json_t *json = json_load_callback(text_read, a, 0, NULL);

	answer_text_free(a);
	return json;
}
