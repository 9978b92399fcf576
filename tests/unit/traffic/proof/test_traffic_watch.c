/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the packets that never came are a change's, and which are lost. */
#include "proof/watch.h"
#include "test_main.h"

#define STREAMS 4
#define STREAM 2

struct step {
	enum {
		COME, /* numbers `from` up to but not `to` come */
		MARK, /* what is known at `from` */
		BEGIN, /* watches up to `from`, until the time `to` */
		EXPIRE, /* at the time `from` */
		END, /* of the stream `from` */
		DONE,
	} what;
	uint32_t from, to;
	uint64_t removed; /* by then */
	uint32_t active;
};

static const struct {
	const char *name;
	struct step steps[9];
} cases[] = {
	{"what never came is the change's",
	 {{COME, 0, 100, 0, 0},
	  {MARK, 100, 0, 0, 0},
	  {COME, 100, 110, 0, 0},
	  {BEGIN, 130, 50, 20, 1},
	  {COME, 110, 115, 15, 1}, /* under way */
	  {EXPIRE, 49, 0, 15, 1},
	  {EXPIRE, 50, 0, 15, 0},
	  {COME, 115, 130, 15, 0}, /* too late */
	  {DONE}}},
	{"what was lost before is not",
	 {{COME, 0, 50, 0, 0},
	  {COME, 57, 100, 0, 0}, /* seven are lost */
	  {MARK, 100, 0, 0, 0},
	  {BEGIN, 120, 50, 20, 1},
	  {COME, 100, 118, 2, 1},
	  {COME, 50, 57, 0, 1}, /* were not lost, but late */
	  {DONE}}},
	/* Of a stream that goes on, losses of later are its own, beyond what the change can have cost. */
	{"no more than was made in between",
	 {{COME, 0, 10, 0, 0},
	  {MARK, 10, 0, 0, 0},
	  {BEGIN, 13, 50, 3, 1},
	  {COME, 10, 11, 2, 1},
	  {COME, 40, 41, 3, 1},
	  {DONE}}},
	/* A second change in the meantime: one stretch for both. */
	{"stretches are put together",
	 {{COME, 0, 10, 0, 0},
	  {MARK, 10, 0, 0, 0},
	  {BEGIN, 20, 50, 10, 1},
	  {MARK, 15, 0, 10, 1},
	  {BEGIN, 30, 90, 20, 1},
	  {EXPIRE, 60, 0, 20, 1},
	  {END, STREAM + 1, 0, 20, 1}, /* which is not watched */
	  {END, STREAM, 0, 20, 0},
	  {DONE}}},
};

static void step_take(const struct step *s, struct watch *w, struct proof *p) {
	static struct stream_mark mark;

	switch (s->what) {
	case COME:
		for (uint32_t n = s->from; n < s->to; n++) {
			const struct arrived packet = {
				.stream = STREAM, .sequence = n, .valid = true};

			proof_arrive(p, &packet, 1);
		}
		break;
	case MARK: mark = (struct stream_mark){STREAM, s->from, p->streams[STREAM].missing}; break;
	case BEGIN: watch_begin(w, &mark, s->from, s->to); break;
	case EXPIRE: watch_expire(w, p, s->from); break;
	case END: watch_end(w, p, s->from); break;
	case DONE: break;
	}
	assert_int_equal(watch_removed(w, p), s->removed);
	assert_int_equal(w->active_count, s->active);
}

TEST(what_a_change_has_cost) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct proof proof;
		struct watch watch;

		print_message("  %s\n", cases[i].name);
		assert_int_equal(proof_create(&proof, STREAMS, 1000000000, false), 0);
		assert_int_equal(watch_create(&watch, STREAMS), 0);
		for (const struct step *s = cases[i].steps; s->what != DONE; s++)
			step_take(s, &watch, &proof);
		watch_free(&watch);
		proof_free(&proof);
	}
}
