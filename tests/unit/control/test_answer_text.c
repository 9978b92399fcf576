/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts in blocks: written, moved and consumed anywhere, wiped, and without memory. */
#include "test_main.h"

#include <malloc.h>

#include "control/answer_text.h"

#include "random.h"
#include "rpc_answer.h"

#define LONG (3u * ANSWER_BLOCK)
#define MOST (8u * ANSWER_BLOCK)

static bool no_memory, watching;
static size_t freed, freed_with_bytes; /* blocks */

__typeof__(malloc) __wrap_malloc, __real_malloc;
__typeof__(free) __wrap_free, __real_free;

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

static const char *letters(void) {
	static char text[LONG];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 23);
	return text;
}

/* What a text is to have. */
struct model {
	char bytes[2 * MOST];
	size_t size;
};

/* Most are about the ends of blocks. */
static size_t size_random(struct random *r) {
	static const size_t edges[] = {0, ANSWER_FIRST_BLOCK, ANSWER_BLOCK,
				       ANSWER_FIRST_BLOCK + ANSWER_BLOCK};

	if (random_below(r, 4) == 0)
		return random_below(r, LONG / 2);
	return edges[random_below(r, ARRAY_COUNT(edges))] + random_below(r, 4);
}

static void put(struct answer_text *a, struct model *m, struct random *r) {
	size_t size = size_random(r);
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

static void take(struct answer_text *a, struct model *m) {
	char *text = answer_string(a);

	assert_int_equal(text == NULL, m->size == 0);
	if (text != NULL)
		assert_int_equal(strlen(text), m->size);
	if (text != NULL)
		assert_memory_equal(text, m->bytes, m->size);
	free(text);
	m->size = 0;
}

/* Its pieces are the first so many blocks. */
static void expect_pieces(const struct answer_text *a, const struct model *m, unsigned most) {
	struct iovec pieces[8];
	unsigned count = answer_text_pieces(a, pieces, most);
	size_t size = 0;

	for (unsigned i = 0; i < count; size += pieces[i++].iov_len) {
		assert_in_range(pieces[i].iov_len, 1, ANSWER_BLOCK);
		assert_in_range(pieces[i].iov_len, 1, m->size - size);
		assert_memory_equal(pieces[i].iov_base, m->bytes + size, pieces[i].iov_len);
	}
	assert_true(count == most || size == m->size);
	assert_int_equal(a->size, m->size);
	assert_int_equal(a->first == NULL, m->size == 0);
}

TEST(texts_of_any_pieces) {
	static struct model m[2];
	struct answer_text a[2] = {0};
	struct random r = {3};

	for (unsigned n = 0; n < 5000; n++) {
		unsigned i = random_below(&r, 2);

		switch (random_below(&r, 6)) {
		case 0: consume(&a[i], &m[i], size_random(&r)); break;
		case 1: move(a, m); break;
		case 2: take(&a[i], &m[i]); break;
		default: put(&a[i], &m[i], &r);
		}
		if (m[i].size > MOST / 2)
			consume(&a[i], &m[i], MOST);
		expect_pieces(&a[0], &m[0], random_between(&r, 1, 8));
		expect_pieces(&a[1], &m[1], random_between(&r, 1, 8));
	}
	answer_text_free(&a[0]);
	answer_text_free(&a[1]);
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
