/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "directions/unresolved.h"

static struct unresolved unresolved;
static struct rte_mbuf frames[4];

static int begin(void **state) {
	assert_true(unresolved_create(&unresolved, 2));
	return 0;
}

static int end(void **state) {
	unresolved_free(&unresolved);
	return 0;
}

static unsigned get(uint64_t before) {
	uint64_t since;
	struct rte_mbuf *m = unresolved_get(&unresolved, before, &since);

	return m == NULL ? UINT32_MAX : (unsigned)(m - frames);
}

/* A frame is pending behind one of its stream that is, also when the first of them is unresolved again. */
TEST(streams_keep_their_order) {
	for (unsigned i = 0; i < 4; i++)
		assert_true(unresolved_put(&unresolved, &frames[i], i + 1,
					   i == 3 ? UNRESOLVED_NO_STREAM : i / 2));
	assert_true(unresolved_precedes(&unresolved, 0, false));
	unresolved_pass(&unresolved);
	assert_int_equal(get(5), 0);
	assert_false(unresolved_precedes(&unresolved, 0, true)); /* the other one came behind it */
	assert_int_equal(get(5), 1);
	assert_false(unresolved_precedes(&unresolved, 0, false));
	assert_int_equal(get(5), 2);
	assert_true(unresolved_put(&unresolved, &frames[2], 3, 1));
	assert_true(unresolved_precedes(&unresolved, 1, true));
	assert_int_equal(get(5), 3);
	unresolved_pass(&unresolved);
	assert_int_equal(get(3), UINT32_MAX); /* not before it came */
	assert_true(unresolved_precedes(&unresolved, 1, false));
	assert_int_equal(get(4), 2);
	assert_false(unresolved_precedes(&unresolved, 1, false));
}

ALL_TESTS(begin, end)
