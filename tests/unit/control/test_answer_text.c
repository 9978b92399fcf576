/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts in blocks: at the edges of blocks, moved and consumed anywhere, wiped, and without memory. */
#include "test_main.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/answer_text.h"

#include "rpc_answer.h"

#define LONG (3u * ANSWER_BLOCK)

static bool no_memory, watching;
static size_t freed, freed_with_bytes; /* blocks */

void *__wrap_malloc(size_t size);
void __wrap_free(void *memory);
void *__real_malloc(size_t size);
void __real_free(void *memory);

void *__wrap_malloc(size_t size) {
	return no_memory ? NULL : __real_malloc(size);
}

/* What the library frees, while it is watched, are blocks. */
void __wrap_free(void *memory) {
	const char *bytes = memory;
	size_t size = memory != NULL ? malloc_usable_size(memory) : 0, left = 0;

	if (watching && size >= ANSWER_FIRST_BLOCK) {
		for (size_t i = 0; i < size; i++)
			left += bytes[i] != 0;
		freed++;
		freed_with_bytes += left > 0;
	}
	__real_free(memory);
}

static char letter(size_t at) {
	return (char)('a' + at % 23);
}

static const char *letters(void) {
	static char text[LONG];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = letter(i);
	return text;
}

/* Bytes from `from` on of the letters. */
static void expect_letters(struct answer_text *a, size_t from, size_t size) {
	char *text;

	assert_int_equal(a->size, size);
	text = answer_string(a);
	if (size == 0)
		assert_null(text);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(text[i], letter(from + i));
	free(text);
	assert_null(a->first);
	assert_null(a->last);
	assert_int_equal(a->size, 0);
}

/* About the first edges, which are where the first blocks end. */
TEST(a_text_of_any_size) {
	static const size_t edges[] = {0, ANSWER_FIRST_BLOCK, ANSWER_FIRST_BLOCK + ANSWER_BLOCK,
				       ANSWER_FIRST_BLOCK + 2 * ANSWER_BLOCK};

	for (size_t e = 0; e < ARRAY_COUNT(edges); e++) {
		for (size_t i = 0; i < 200; i++) {
			size_t size = edges[e] + i < 100 ? i : edges[e] + i - 100, first = size / 3;
			struct answer_text a = {0};

			assert_int_equal(answer_text_write(letters(), first, &a), 0);
			assert_int_equal(answer_text_write(letters() + first, size - first, &a), 0);
			expect_letters(&a, 0, size);
		}
	}
}

/* In pieces of any size, also of exactly a block. */
TEST(it_is_consumed_anywhere) {
	for (size_t step = 1; step < LONG; step = step * 3 + 1) {
		struct answer_text a = {0};
		size_t at = 0;

		answer_text_write(letters(), LONG, &a);
		while (at < LONG) {
			size_t part = step < LONG - at ? step : LONG - at;
			struct iovec piece;

			assert_int_equal(answer_text_pieces(&a, &piece, 1), 1);
			assert_true(piece.iov_len > 0);
			assert_int_equal(*(const char *)piece.iov_base, letter(at));
			answer_text_consume(&a, part);
			at += part;
			assert_int_equal(a.size, LONG - at);
		}
		assert_null(a.first);
	}
}

TEST(pieces_are_the_blocks) {
	struct answer_text a = {0};
	struct iovec pieces[8];
	unsigned count;
	size_t size = 0;

	assert_int_equal(answer_text_pieces(&a, pieces, 8), 0);
	answer_text_write(letters(), LONG, &a);
	answer_text_consume(&a, 5);
	count = answer_text_pieces(&a, pieces, 8);
	assert_in_range(count, 3, 5);
	assert_int_equal(answer_text_pieces(&a, pieces, 2), 2);
	for (unsigned i = 0; i < count; i++) {
		assert_in_range(pieces[i].iov_len, 1, ANSWER_BLOCK);
		assert_int_equal(*(const char *)pieces[i].iov_base, letter(5 + size));
		size += pieces[i].iov_len;
	}
	assert_int_equal(size, LONG - 5);
	answer_text_free(&a);
}

/* Any of both may be empty, and the one or the other consumed in part. */
TEST(texts_are_moved) {
	static const size_t sizes[] = {0, 10, ANSWER_FIRST_BLOCK, ANSWER_BLOCK + 9};

	for (size_t i = 0; i < ARRAY_COUNT(sizes) * ARRAY_COUNT(sizes); i++) {
		size_t first = sizes[i % ARRAY_COUNT(sizes)],
		       second = sizes[i / ARRAY_COUNT(sizes)];
		size_t before = first < 7 ? first : 7;
		struct answer_text a = {0}, b = {0};

		answer_text_write(letters(), first, &a);
		answer_text_consume(&a, before);
		answer_text_write("12345", 5, &b);
		answer_text_write(letters() + first, second, &b);
		answer_text_consume(&b, 5);
		answer_text_move(&a, &b);
		assert_int_equal(b.size, 0);
		assert_null(b.first);
		assert_int_equal(answer_text_write(letters() + first + second, 3, &a), 0);
		expect_letters(&a, before, first + second + 3 - before);
	}
}

TEST(a_text_is_read_as_json) {
	struct answer_text a = {0};
	json_t *list = json_array(), *again;

	for (int i = 0; i < 20000; i++)
		json_array_append_new(list, json_pack("{s:i}", "number", i));
	answer_text_json(&a, list);
	assert_true(a.size > LONG);
	again = answer_text_parse(&a);
	assert_null(a.first);
	assert_true(json_equal(list, again));
	json_decref(again);
	json_decref(list);
	answer_text_put(&a, "{\"half\":");
	assert_null(answer_text_parse(&a));
	assert_null(a.first);
	assert_null(answer_text_parse(&a));
}

/* However it ends: sent, in part and then dropped, or dropped. */
TEST(blocks_are_wiped) {
	struct answer_text a = {0}, b = {0};
	unsigned parts = 1;

	answer_text_write(letters(), LONG, &a);
	answer_text_write(letters(), LONG, &b);
	freed = freed_with_bytes = 0;
	watching = true;
	answer_text_consume(&a, LONG - 10);
	answer_text_move(&b, &a);
	answer_text_free(&b);
	watching = false;
	assert_in_range(freed, 7, 9);
	assert_int_equal(freed_with_bytes, 0);
	for (unsigned i = 0; i < 3 * ANSWER_FREED_BLOCKS; i++)
		answer_text_write(letters(), ANSWER_BLOCK, &a);
	freed = 0;
	for (watching = true; !answer_text_free_part(&a); parts++)
		assert_int_equal(freed, parts * ANSWER_FREED_BLOCKS);
	watching = false;
	assert_int_equal(parts, 4);
	assert_int_equal(freed_with_bytes, 0);
	assert_int_equal(a.size, 0);
}

TEST(without_memory_it_is_lost) {
	struct answer_text a = {0}, b = {0};

	answer_text_put(&a, "begun");
	no_memory = true;
	assert_int_equal(answer_text_write("none", 4, &b), -1);
	assert_int_equal(answer_text_write(letters(), ANSWER_FIRST_BLOCK, &a), -1);
	no_memory = false;
	assert_true(a.lost);
	assert_true(b.lost);
	assert_int_equal(b.size, 0);
	answer_text_free(&a);
	assert_false(a.lost);
	answer_text_move(&a, &b);
	assert_true(a.lost);
	assert_false(b.lost);
	answer_text_free(&a);
}
