/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests unresolved.h: frames that wait for events of a server keep the order of their stream. */
#include "test_main.h"

#include "directions/unresolved.h"

static struct unresolved unresolved;
static struct rte_mbuf frames[4];

static int set_up(void **state) {
	assert_true(unresolved_create(&unresolved, 2));
	return 0;
}

static int tear_down(void **state) {
	unresolved_free(&unresolved);
	return 0;
}

static unsigned get_index(uint64_t before) {
	uint64_t since;
	struct rte_mbuf *m = unresolved_get(&unresolved, before, &since);

	return m == NULL ? UINT32_MAX : (unsigned)(m - frames);
}

/* A frame is pending while an earlier one of its stream is unresolved, even after a retry. */
TEST(frames_of_a_stream_keep_order) {
	for (unsigned i = 0; i < 4; i++)
		assert_true(unresolved_put(&unresolved, &frames[i], i + 1,
					   i == 3 ? UNRESOLVED_NO_STREAM : i / 2));
	assert_true(unresolved_precedes(&unresolved, 0, false));
	unresolved_pass(&unresolved);
	assert_int_equal(get_index(5), 0);
	assert_false(unresolved_precedes(&unresolved, 0, true)); /* frame 1 arrived later */
	assert_int_equal(get_index(5), 1);
	assert_false(unresolved_precedes(&unresolved, 0, false));
	assert_int_equal(get_index(5), 2);
	assert_true(unresolved_put(&unresolved, &frames[2], 3, 1));
	assert_true(unresolved_precedes(&unresolved, 1, true));
	assert_int_equal(get_index(5), 3);
	unresolved_pass(&unresolved);
	assert_int_equal(get_index(3), UINT32_MAX); /* frames before time 3 only */
	assert_true(unresolved_precedes(&unresolved, 1, false));
	assert_int_equal(get_index(4), 2);
	assert_false(unresolved_precedes(&unresolved, 1, false));
}

ALL_TESTS(set_up, tear_down)
