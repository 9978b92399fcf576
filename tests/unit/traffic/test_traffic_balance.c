/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of the packets that were sent: the arithmetic. */
#include "proof/proof.h"
#include "test.h"

/* What was sent is proven, lost or corrupted; what came beside that is a duplicate. */
static void balances_add_up(void **state) {
	static const struct {
		uint64_t sent, proven, duplicated, damaged;
		struct proof_balance expected;
	} rows[] = {
		{0, 0, 0, 0, {0, 0, 0}},   {10, 10, 0, 0, {0, 0, 0}}, {10, 7, 0, 0, {3, 0, 0}},
		{10, 7, 2, 1, {2, 2, 1}},  {10, 7, 0, 3, {0, 0, 3}},  {10, 7, 1, 5, {0, 3, 3}},
		{10, 10, 0, 2, {0, 2, 0}}, {10, 0, 0, 0, {10, 0, 0}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct proof p = {.proven = rows[i].proven, .duplicated = rows[i].duplicated};
		struct proof_balance b = proof_balance(&p, rows[i].sent, rows[i].damaged);

		assert_int_equal(b.lost, rows[i].expected.lost);
		assert_int_equal(b.duplicated, rows[i].expected.duplicated);
		assert_int_equal(b.corrupted, rows[i].expected.corrupted);
		assert_int_equal(rows[i].sent, rows[i].proven + b.lost + b.corrupted);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(balances_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
