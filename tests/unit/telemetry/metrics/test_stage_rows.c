/* SPDX-License-Identifier: BSD-3-Clause */
/* What the rows of both directions say of their stages. */
#include "test_main.h"

#include "downstream/downstream.h"
#include "upstream/upstream.h"

struct way {
	const struct stage_list *lists;
	unsigned list_count;
	enum direction direction;
};

static const struct way ways[] = {
	{ds_lists, DS_PIPELINES, DIRECTION_DOWN},
	{us_lists, US_PIPELINES, DIRECTION_UP},
};

static bool stage_drops(const struct stage *s, enum drop_reason reason) {
	for (const enum drop_reason *r = s->drops; r != NULL && *r != DROP_NONE; r++) {
		if (*r == reason)
			return true;
	}
	return false;
}

static bool stage_counts(const struct stage *s, enum counter counter) {
	for (const enum counter *c = s->counters; c != NULL && *c != COUNTERS; c++) {
		if (*c == counter)
			return true;
	}
	return false;
}

static bool any_drops(const struct way *w, enum drop_reason reason) {
	for (unsigned l = 0; l < w->list_count; l++) {
		for (unsigned s = 0; s < w->lists[l].count; s++) {
			if (stage_drops(&w->lists[l].stages[s], reason))
				return true;
		}
	}
	return false;
}

static bool any_counts(const struct way *w, enum counter counter) {
	for (unsigned l = 0; l < w->list_count; l++) {
		for (unsigned s = 0; s < w->lists[l].count; s++) {
			if (stage_counts(&w->lists[l].stages[s], counter))
				return true;
		}
	}
	return false;
}

/* A direction's reasons and counters are those of its rows, no more and no fewer. */
TEST(rows_declare_what_a_direction_counts) {
	for (unsigned i = 0; i < ARRAY_COUNT(ways); i++) {
		const struct way *w = &ways[i];

		for (enum drop_reason r = 0; r < DROP_REASONS; r++) {
			if (any_drops(w, r) != drop_in(r, w->direction))
				fail_msg("%s of direction %d", drop_name(r), w->direction);
		}
		for (enum counter c = 0; c < COUNTERS; c++) {
			if (any_counts(w, c) != counter_in(c, w->direction))
				fail_msg("%s of direction %d", counter_name(c), w->direction);
		}
	}
}

static void check_row(const struct stage *s) {
	assert_non_null(s->run);
	assert_true(strlen(s->about) > 5 && strlen(s->dpdk) > 0);
	assert_int_equal(s->open == NULL, s->close == NULL);
	assert_true(!s->pulls || (s->polls && s->from != 0));
	if (s->held != NULL) /* what is held has an end with a reason */
		assert_true(s->stop != NULL && s->drops != NULL);
}

TEST(rows_are_whole) {
	for (unsigned i = 0; i < ARRAY_COUNT(ways); i++) {
		for (unsigned l = 0; l < ways[i].list_count; l++) {
			for (unsigned s = 0; s < ways[i].lists[l].count; s++)
				check_row(&ways[i].lists[l].stages[s]);
		}
	}
}
