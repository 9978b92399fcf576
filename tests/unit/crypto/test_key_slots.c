/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots of key schedules: a key that is given back leaves no byte. */
#include "test.h"

#include <string.h>

#include <rte_memory.h>

#include "crypto/key_slots.h"

#include "fixture.h"

#define SIZE 176u /* bytes: no whole cache lines */
#define SLOTS 200u /* several chunks */
#define KEY 0xa5

static void a_key_leaves_nothing(void **state) {
	uint8_t *slots[SLOTS];
	struct key_slots k;

	(void)state;
	key_slots_init(&k, SIZE, SOCKET_ID_ANY);
	assert_true(k.size >= SIZE);
	for (unsigned i = 0; i < SLOTS; i++) {
		slots[i] = key_slots_take(&k);
		assert_non_null(slots[i]);
		memset(slots[i], KEY, k.size);
	}
	assert_int_equal(k.used, SLOTS);
	for (unsigned i = 0; i < SLOTS; i++) {
		key_slots_give(&k, slots[i]);
		/* the list of free slots stands at its begin */
		for (size_t byte = sizeof(void *); byte < k.size; byte++)
			assert_int_equal(slots[i][byte], 0);
		assert_int_not_equal(memcmp(slots[i], "\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5", 8), 0);
	}
	assert_int_equal(k.used, 0);
	key_slots_end(&k);
}

/* A slot that is given back is the next that is taken, and its neighbours keep what they have. */
static void others_keep_theirs(void **state) {
	struct key_slots k;
	uint8_t *one, *two, *three;

	(void)state;
	key_slots_init(&k, SIZE, SOCKET_ID_ANY);
	one = key_slots_take(&k);
	two = key_slots_take(&k);
	three = key_slots_take(&k);
	memset(one, 1, k.size);
	memset(two, 2, k.size);
	memset(three, 3, k.size);
	key_slots_give(&k, two);
	for (size_t byte = 0; byte < k.size; byte++) {
		assert_int_equal(one[byte], 1);
		assert_int_equal(three[byte], 3);
	}
	assert_ptr_equal(key_slots_take(&k), two);
	key_slots_end(&k);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_leaves_nothing),
		cmocka_unit_test(others_keep_theirs),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
