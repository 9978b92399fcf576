/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of an answer in blocks of bounded size: it is written piece by piece, moved to another text, sent and freed without
 * a copy of the whole. It may hold keys, so that each block is wiped before it is freed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include <jansson.h>

/* Bytes of a block, with its header: of the first one of a text, which is often short, and of the others. */
#define ANSWER_FIRST_BLOCK 4096u
#define ANSWER_BLOCK 65536u
#define ANSWER_FREED_BLOCKS 16u /* that answer_text_free_part() frees */

struct answer_block;

/* Zeroed: empty. */
struct answer_text {
	struct answer_block *first, *last;
	size_t size; /* bytes */
	size_t consumed; /* bytes of the first block that do not belong to the text any more */
	bool lost; /* there was no memory for a part of it */
};

/* Appends bytes; a json_dump_callback_t, whose last argument is a struct answer_text. Returns 0, or -1 without memory: then the
 * text is lost. */
int answer_text_write(const char *bytes, size_t size, void *to);

void answer_text_put(struct answer_text *a, const char *text);

/* Any value, without white space. */
void answer_text_json(struct answer_text *a, const json_t *json);

/* Moves all of `from` behind the end of `a`, block by block without a copy. Then `from` is empty. */
void answer_text_move(struct answer_text *a, struct answer_text *from);

/* Lists the pieces of the beginning, `count` at most. Returns how many there are, which last until the text is changed. */
unsigned answer_text_pieces(const struct answer_text *a, struct iovec *pieces, unsigned count);

/* Removes `size` bytes at the beginning, which the text has. Blocks without a byte left are freed. */
void answer_text_consume(struct answer_text *a, size_t size);

/* Reads the text as JSON and frees it. NULL: it is none, or there is no memory. */
json_t *answer_text_parse(struct answer_text *a);

/* Frees some blocks of a text that is not needed. Returns whether it is empty; until then, it is to be called again. */
bool answer_text_free_part(struct answer_text *a);

/* Frees all of it at once. */
void answer_text_free(struct answer_text *a);
