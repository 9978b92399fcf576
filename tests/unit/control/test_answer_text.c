/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests answer_text.c: random operations on texts, compared with a flat copy; wiped blocks; failed allocations. */
#include "test_main.h"

#include <malloc.h>

#include "control/answer_text.h"

#include "random.h"
#include "rpc_answer.h"

#define LONG (3u * ANSWER_BLOCK)
#define MAX_SIZE (8u * ANSWER_BLOCK)

static bool no_memory; /* malloc() fails */
static bool watching; /* free() counts blocks */
static size_t freed, freed_with_bytes; /* freed blocks; those that were not wiped */

__typeof__(malloc) __wrap_malloc, __real_malloc;
__typeof__(free) __wrap_free, __real_free;

void *__wrap_malloc(size_t size) {
	return no_memory ? NULL : __real_malloc(size);
}

void __wrap_free(void *memory) {
	const char *bytes = memory;
	size_t size = memory != NULL ? malloc_usable_size(memory) : 0, unwiped = 0;

	if (watching && size >= ANSWER_FIRST_BLOCK) {
		for (size_t i = 0; i < size; i++)
			unwiped += bytes[i] != 0;
		freed++;
		freed_with_bytes += unwiped > 0;
	}
	__real_free(memory);
}

static const char *letters(void) {
	static char text[LONG];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 23);
	return text;
}

/* The expected text. */
struct model {
	char bytes[2 * MAX_SIZE];
	size_t size;
};

/* A random size, mostly near multiples of the block sizes. */
static size_t random_size(struct random *r) {
	static const size_t edges[] = {0, ANSWER_FIRST_BLOCK, ANSWER_BLOCK,
				       ANSWER_FIRST_BLOCK + ANSWER_BLOCK};

	if (random_below(r, 4) == 0)
		return random_below(r, LONG / 2);
	return edges[random_below(r, ARRAY_COUNT(edges))] + random_below(r, 4);
}

static void put(struct answer_text *a, struct model *m, struct random *r) {
	size_t size = random_size(r);
	const char *bytes = letters() + random_below(r, 23);

	assert_int_equal(answer_text_write(bytes, size, a), 0);
	memcpy(m->bytes + m->size, bytes, size);
	m->size += size;
}

static void consume(struct answer_text *a, struct model *m, size_t size) {
	size = size < m->size ? size : m->size;
	answer_text_consume(a, size);
	m->size -= size;
	memmove(m->bytes, m->bytes + size, m->size);
}

static void move(struct answer_text *a, struct model *m) {
	answer_text_move(&a[0], &a[1]);
	memcpy(m[0].bytes + m[0].size, m[1].bytes, m[1].size);
	m[0].size += m[1].size;
	m[1].size = 0;
}

static void take_string(struct answer_text *a, struct model *m) {
	char *text = answer_string(a);

	assert_int_equal(text == NULL, m->size == 0);
	if (text != NULL)
		assert_int_equal(strlen(text), m->size);
	if (text != NULL)
		assert_memory_equal(text, m->bytes, m->size);
	free(text);
	m->size = 0;
}

/* Asserts that the pieces are the first `limit` blocks of the text. */
static void expect_pieces(const struct answer_text *a, const struct model *m, unsigned limit) {
	struct iovec pieces[8];
	unsigned count = answer_text_pieces(a, pieces, limit);
	size_t size = 0;

	for (unsigned i = 0; i < count; size += pieces[i++].iov_len) {
		assert_in_range(pieces[i].iov_len, 1, ANSWER_BLOCK);
		assert_in_range(pieces[i].iov_len, 1, m->size - size);
		assert_memory_equal(pieces[i].iov_base, m->bytes + size, pieces[i].iov_len);
	}
	assert_true(count == limit || size == m->size);
	assert_int_equal(a->size, m->size);
	assert_int_equal(a->first == NULL, m->size == 0);
}

TEST(random_operations_keep_the_text) {
	static struct model m[2];
	struct answer_text a[2] = {0};
	struct random r = {3};

	for (unsigned n = 0; n < 5000; n++) {
		unsigned i = random_below(&r, 2);

		switch (random_below(&r, 6)) {
		case 0: consume(&a[i], &m[i], random_size(&r)); break;
		case 1: move(a, m); break;
		case 2: take_string(&a[i], &m[i]); break;
		default: put(&a[i], &m[i], &r);
		}
		if (m[i].size > MAX_SIZE / 2)
			consume(&a[i], &m[i], MAX_SIZE);
		expect_pieces(&a[0], &m[0], random_between(&r, 1, 8));
		expect_pieces(&a[1], &m[1], random_between(&r, 1, 8));
	}
	answer_text_free(&a[0]);
	answer_text_free(&a[1]);
}

TEST(text_parses_as_json) {
	struct answer_text a = {0};
	json_t *list = json_array(), *parsed;

	for (int i = 0; i < 20000; i++)
		json_array_append_new(list, json_pack("{s:i}", "number", i));
	answer_text_json(&a, list);
	assert_true(a.size > LONG);
	parsed = answer_text_parse(&a);
	assert_null(a.first);
	assert_true(json_equal(list, parsed));
	json_decref(parsed);
	json_decref(list);
	answer_text_put(&a, "{\"half\":");
	assert_null(answer_text_parse(&a));
	assert_null(a.first);
	assert_null(answer_text_parse(&a));
}

/* Blocks are wiped when they are consumed, freed at once, or freed in parts. */
TEST(freed_blocks_are_wiped) {
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

TEST(failed_allocation_sets_lost) {
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
