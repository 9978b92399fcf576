/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a response in blocks of bounded size. Text is appended, moved, sent and freed without
 * a copy of the whole. It may contain keys, so each block is wiped before it is freed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include <jansson.h>

/* Bytes of a block with its header. The first block is smaller, as most responses are short. */
#define ANSWER_FIRST_BLOCK 4096u
#define ANSWER_BLOCK 65536u
#define ANSWER_FREED_BLOCKS 16u /* blocks that one call of answer_text_free_part() frees */

struct answer_block;

/* Zeroed: empty. */
struct answer_text {
	struct answer_block *first, *last;
	size_t size; /* bytes */
	size_t consumed; /* bytes of the first block that were consumed */
	bool lost; /* an allocation failed: the text is incomplete */
};

/* Appends bytes; a json_dump_callback_t whose last argument is a struct answer_text. Returns 0, or -1 without
 * memory; then `lost` is set. */
int answer_text_write(const char *bytes, size_t size, void *to);

void answer_text_put(struct answer_text *a, const char *text);

/* Appends a JSON value without white space. */
void answer_text_json(struct answer_text *a, const json_t *json);

/* Moves all blocks of `from` to the end of `a`, without a copy. `from` is empty afterwards. */
void answer_text_move(struct answer_text *a, struct answer_text *from);

/* Lists at most `count` pieces from the start of the text. Returns their number; they are valid until the
 * text changes. */
unsigned answer_text_pieces(const struct answer_text *a, struct iovec *pieces, unsigned count);

/* Removes `size` bytes from the start; the text has at least as many. Frees empty blocks. */
void answer_text_consume(struct answer_text *a, size_t size);

/* Parses the text as JSON and frees it. Returns NULL for invalid JSON or without memory. */
json_t *answer_text_parse(struct answer_text *a);

/* Frees some blocks of a text that is no longer used. Returns whether it is empty; call it again
 * until it is. */
bool answer_text_free_part(struct answer_text *a);

/* Frees the whole text. */
void answer_text_free(struct answer_text *a);
