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

static void check_row(const struct stage *s) {
	assert_non_null(s->run);
	assert_true(strlen(s->about) > 5 && strlen(s->dpdk) > 0);
	assert_int_equal(s->open == NULL, s->close == NULL);
	assert_true(!s->pulls || (s->polls && s->from != 0));
	if (s->held != NULL) /* what is held has an end with a reason */
		assert_true(s->stop != NULL && s->drops != NULL);
}

/* What the rows of a direction declare. */
struct declared {
	bool drops[DROP_REASONS], counts[COUNTERS];
};

static void row_add(struct declared *d, const struct stage *s) {
	for (const enum drop_reason *r = s->drops; r != NULL && *r != DROP_NONE; r++)
		d->drops[*r] = true;
	for (const enum counter *c = s->counters; c != NULL && *c != COUNTERS; c++)
		d->counts[*c] = true;
}

/* Each row is whole, and a direction's reasons and counters are those of its rows, no more and no fewer. */
TEST(rows_declare_what_a_direction_counts) {
	for (unsigned i = 0; i < ARRAY_COUNT(ways); i++) {
		struct declared d = {0};

		for (unsigned l = 0; l < ways[i].list_count; l++) {
			for (unsigned s = 0; s < ways[i].lists[l].count; s++) {
				check_row(&ways[i].lists[l].stages[s]);
				row_add(&d, &ways[i].lists[l].stages[s]);
			}
		}
		for (enum drop_reason r = 0; r < DROP_REASONS; r++) {
			if (d.drops[r] != drop_in(r, ways[i].direction))
				fail_msg("%s of direction %d", drop_name(r), ways[i].direction);
		}
		for (enum counter c = 0; c < COUNTERS; c++) {
			if (d.counts[c] != counter_in(c, ways[i].direction))
				fail_msg("%s of direction %d", counter_name(c), ways[i].direction);
		}
	}
}
