/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the packets that never came are a change's, and which are lost. */
#include "proof/watch.h"
#include "test_main.h"

#define STREAMS 4

static struct proof proof;
static struct watch watch;

static int begin(void **state) {
	assert_int_equal(proof_create(&proof, STREAMS, 1000000000, false), 0);
	return watch_create(&watch, STREAMS);
}

static int end(void **state) {
	watch_free(&watch);
	proof_free(&proof);
	return 0;
}

/* Numbers `from` up to but not `to` come. */
static void come(uint32_t stream, uint32_t from, uint32_t to) {
	for (; from < to; from++) {
		const struct arrived packet = {.stream = stream, .sequence = from, .valid = true};

		proof_arrive(&proof, &packet, 1);
	}
}

static struct stream_mark mark_of(uint32_t stream, uint32_t made) {
	return (struct stream_mark){stream, made, proof.streams[stream].missing};
}

TEST(what_never_came_is_the_changes) {
	struct stream_mark mark;

	come(1, 0, 100);
	mark = mark_of(1, 100);
	come(1, 100, 110);
	watch_begin(&watch, &mark, 130, 50);
	assert_int_equal(watch_removed(&watch, &proof), 20);
	come(1, 110, 115); /* under way */
	assert_int_equal(watch_removed(&watch, &proof), 15);
	watch_expire(&watch, &proof, 49);
	assert_int_equal(watch.active_count, 1);
	watch_expire(&watch, &proof, 50);
	assert_int_equal(watch.active_count, 0);
	assert_int_equal(watch_removed(&watch, &proof), 15);
	come(1, 115, 130); /* too late */
	assert_int_equal(watch_removed(&watch, &proof), 15);
}

TEST(what_was_lost_before_is_not) {
	struct stream_mark mark;

	come(2, 0, 50);
	come(2, 57, 100); /* seven are lost */
	mark = mark_of(2, 100);
	watch_begin(&watch, &mark, 120, 50);
	assert_int_equal(watch_removed(&watch, &proof), 20);
	come(2, 100, 118);
	assert_int_equal(watch_removed(&watch, &proof), 2);
	come(2, 50, 57); /* were not lost, but late */
	assert_int_equal(watch_removed(&watch, &proof), 0);
}

/* Of a stream that goes on, losses of later are its own, beyond what the change can have cost. */
TEST(no_more_than_was_made_in_between) {
	struct stream_mark mark;

	come(0, 0, 10);
	mark = mark_of(0, 10);
	watch_begin(&watch, &mark, 13, 50);
	come(0, 10, 11);
	come(0, 40, 41);
	assert_int_equal(watch_removed(&watch, &proof), 3);
}

/* A second change in the meantime: one stretch for both. */
TEST(stretches_are_put_together) {
	struct stream_mark mark;

	come(3, 0, 10);
	mark = mark_of(3, 10);
	watch_begin(&watch, &mark, 20, 50);
	mark = (struct stream_mark){3, 15, 0};
	watch_begin(&watch, &mark, 30, 90);
	watch_expire(&watch, &proof, 60);
	assert_int_equal(watch.active_count, 1);
	assert_int_equal(watch_removed(&watch, &proof), 20);
	watch_end(&watch, &proof, 3);
	watch_end(&watch, &proof, 2); /* which is not watched */
	assert_int_equal(watch.active_count, 0);
	assert_int_equal(watch.removed, 20);
}

EACH_TEST(begin, end)
