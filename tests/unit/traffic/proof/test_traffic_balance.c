/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of the packets that were sent: the arithmetic. */
#include "proof/proof.h"
#include "test_main.h"

/* What is missing is lost, corrupted or undecipherable; what arrived beside that is a duplicate. */
TEST(balances_add_up) {
	static const struct {
		uint64_t missing, duplicated;
		struct proof_damage damage;
		struct proof_balance expected;
	} rows[] = {
		{0, 0, {0, 0}, {0, 0, 0, 0}}, {3, 0, {0, 0}, {3, 0, 0, 0}},
		{3, 2, {1, 0}, {2, 2, 1, 0}}, {3, 0, {3, 0}, {0, 0, 3, 0}},
		{3, 1, {5, 0}, {0, 3, 3, 0}}, {0, 0, {2, 0}, {0, 2, 0, 0}},
		{5, 0, {1, 2}, {2, 0, 1, 2}}, {3, 0, {2, 2}, {0, 1, 1, 2}},
		{1, 0, {1, 2}, {0, 2, 0, 1}}, {0, 1, {0, 1}, {0, 2, 0, 0}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct proof p = {.duplicated = rows[i].duplicated};
		struct proof_balance b = proof_balance(&p, rows[i].missing, &rows[i].damage);

		assert_int_equal(b.lost, rows[i].expected.lost);
		assert_int_equal(b.duplicated, rows[i].expected.duplicated);
		assert_int_equal(b.corrupted, rows[i].expected.corrupted);
		assert_int_equal(b.undecipherable, rows[i].expected.undecipherable);
		assert_int_equal(rows[i].missing, b.lost + b.corrupted + b.undecipherable);
	}
}

static void arrive(struct proof *p, uint32_t stream, uint32_t sequence) {
	struct arrived packet = {.stream = stream, .sequence = sequence, .valid = true};

	proof_arrive(p, &packet, 1);
}

/* Sequence numbers tell what is missing, whatever was counted beside them. */
TEST(streams_tell_what_is_missing) {
	struct proof p;

	assert_int_equal(proof_create(&p, 2, 1000000000, false), 0);
	assert_int_equal(proof_stream_missing(&p, 0, 0), 0);
	assert_int_equal(proof_stream_missing(&p, 0, 7), 7);
	arrive(&p, 0, 0);
	arrive(&p, 0, 3); /* 1 and 2 are passed over */
	assert_int_equal(proof_stream_missing(&p, 0, 7), 5);
	arrive(&p, 0, 2);
	arrive(&p, 0, 2); /* a duplicate is none */
	assert_int_equal(proof_stream_missing(&p, 0, 7), 4);
	assert_int_equal(proof_stream_missing(&p, 0, 4), 1);
	assert_int_equal(proof_stream_missing(&p, 0, 2), -1); /* more arrived than were made */
	proof_end_stream(&p, 0, 7);
	assert_int_equal(p.ended_missing, 4);
	assert_int_equal(proof_stream_missing(&p, 0, 1), 1); /* of another stream */
	proof_end_stream(&p, 1, 5);
	assert_int_equal(p.ended_missing, 9);
	proof_restart(&p);
	assert_int_equal(p.ended_missing, 0);
	proof_free(&p);
}
