/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ordering within a window, against a model that remembers what became of every number and knows
 * nothing of bits and slots. The mbufs are never looked at, so they need not be there.
 */
#include "test.h"

#include <string.h>

#include "upstream/state/order.h"

#include "random.h"

#define PSP_MASK 0xffff
#define SEGMENT_MASK 0x1fff

enum fate {
	UNKNOWN,
	WAITS,
	DELIVERED,
	GIVEN_UP,
};

/* Numbers do not wrap here: 0, 1, 2 .. from the first one on. */
#define MODEL_NUMBERS 400000
#define ORIGIN 100000

struct model {
	uint8_t fate[MODEL_NUMBERS];
	uint32_t next;
	uint32_t window;
	unsigned waiting, rejected;
	bool started;
};

struct rig {
	struct order order;
	struct order_slots slots;
	struct model model;
	struct random random;
	uint32_t base; /* what the numbers on the wire are ahead of the model's */
	uint64_t seen[ORDER_RESTART + 1];
	uint64_t delivered, skipped;
};

static struct rig storage, *const rig = &storage;
static struct rte_mbuf mbufs[MODEL_NUMBERS / 8];

/* Any address will do, but another for each number near by. */
static struct rte_mbuf *mbuf_of(uint32_t number) {
	return &mbufs[number % (MODEL_NUMBERS / 8)];
}

static void rig_open(struct rig *r, uint16_t mask, uint8_t window, uint64_t seed) {
	memset(r, 0, sizeof(*r));
	order_init(&r->order, mask, window);
	r->model.window = window;
	r->random.state = seed;
	r->base = random_next(&r->random);
}

static uint16_t on_wire(const struct rig *r, uint32_t number) {
	return (uint16_t)((number + r->base) & r->order.mask);
}

static enum order_verdict model_reject(struct model *m, enum order_verdict why) {
	if (m->rejected == 64)
		return ORDER_RESTART;
	m->rejected++;
	return why;
}

static bool model_later_waits(const struct model *m, uint32_t number) {
	for (uint32_t n = number + 1; n <= m->next + m->window; n++) {
		if (m->fate[n] == WAITS)
			return true;
	}
	return false;
}

static enum order_verdict model_take(struct model *m, uint32_t number, bool *reordered) {
	*reordered = false;
	if (!m->started) {
		m->started = true;
		m->next = number;
		m->rejected = 0;
	}
	if (number < m->next) {
		bool known = m->next - number <= 64 && m->fate[number] == DELIVERED;

		return model_reject(m, known ? ORDER_DUPLICATE : ORDER_LATE);
	}
	if (number - m->next > m->window)
		return ORDER_TOO_FAR;
	if (m->fate[number] == WAITS)
		return model_reject(m, ORDER_DUPLICATE);
	m->rejected = 0;
	*reordered = model_later_waits(m, number);
	if (number > m->next) {
		m->fate[number] = WAITS;
		m->waiting++;
		return ORDER_WAITS;
	}
	m->fate[number] = DELIVERED;
	m->next++;
	return ORDER_NEXT;
}

static void drain(struct rig *r) {
	struct model *m = &r->model;
	struct rte_mbuf *out;

	while ((out = order_pop(&r->order)) != NULL) {
		assert_int_equal(m->fate[m->next], WAITS);
		assert_ptr_equal(out, mbuf_of(m->next));
		m->fate[m->next++] = DELIVERED;
		m->waiting--;
		r->delivered++;
	}
	assert_int_not_equal(m->fate[m->next], WAITS);
	assert_int_equal(r->order.waiting, m->waiting);
}

static void pass_over(struct rig *r, bool has_number, uint32_t number) {
	struct model *m = &r->model;
	unsigned expected = 0;

	while ((m->waiting > 0 && m->fate[m->next] != WAITS) ||
	       (m->waiting == 0 && has_number && m->next < number)) {
		m->fate[m->next++] = GIVEN_UP;
		expected++;
	}
	assert_int_equal(order_skip(&r->order, has_number, on_wire(r, number)), expected);
	r->skipped += expected;
	drain(r);
}

/* The count begins at `number`: nothing before it was ever delivered. */
static void restart(struct rig *r, uint32_t number) {
	struct model *m = &r->model;

	while (m->waiting > 0)
		pass_over(r, false, 0);
	order_restart(&r->order, on_wire(r, number));
	memset(m->fate, UNKNOWN, sizeof(m->fate));
	m->next = number;
	m->rejected = 0;
}

static void put(struct rig *r, uint32_t number) {
	for (;;) {
		bool reordered, expected_reordered;
		enum order_verdict expected = model_take(&r->model, number, &expected_reordered);
		enum order_verdict got =
			order_take(&r->order, on_wire(r, number), mbuf_of(number), &reordered);

		if (got == ORDER_NO_SLOTS) {
			assert_int_equal(expected, ORDER_WAITS);
			assert_false(reordered);
			r->model.fate[number] = UNKNOWN; /* it is asked again */
			r->model.waiting--;
			r->order.slots = &r->slots;
			r->seen[got]++;
			continue;
		}
		assert_int_equal(got, expected);
		assert_int_equal(reordered, expected_reordered);
		r->seen[got]++;
		r->delivered += got == ORDER_NEXT;
		if (got == ORDER_TOO_FAR)
			pass_over(r, true, number);
		else if (got == ORDER_RESTART)
			restart(r, number);
		else
			break;
	}
	drain(r);
}

/* Where the next number comes from: mostly near, sometimes far, behind, or the same again. */
static uint32_t choose(struct rig *r, uint32_t head) {
	switch (random_below(&r->random, 40)) {
	case 0: return head + random_below(&r->random, 200);
	case 1: return head - random_below(&r->random, 150);
	case 2: return head - random_below(&r->random, 4000);
	case 3:
	case 4: return head - random_below(&r->random, 30);
	default: return head + random_below(&r->random, 6);
	}
}

static void against_the_model(uint16_t mask, uint8_t window, uint64_t seed) {
	uint32_t head = ORIGIN;

	rig_open(rig, mask, window, seed);
	put(rig, head);
	/* numbers wrap several times */
	while (head < MODEL_NUMBERS - 1000) {
		uint32_t number = choose(rig, head);

		put(rig, number);
		if (number > head)
			head = number;
		if (random_below(&rig->random, 300) == 0)
			pass_over(rig, false, 0);
	}
	for (int v = 0; v < ORDER_RESTART; v++)
		assert_true(rig->seen[v] > 0);
	assert_true(rig->skipped > 0);
}

static void random_numbers(void **state) {
	(void)state;
	for (uint64_t seed = 1; seed < 4; seed++) {
		against_the_model(PSP_MASK, 32, seed);
		against_the_model(SEGMENT_MASK, 63, seed);
		against_the_model(SEGMENT_MASK, 1, seed);
	}
}

/* All numbers of the circle and around, in order: nothing waits, nothing is missing. */
static void wraps(uint16_t mask) {
	rig_open(rig, mask, 32, 5);
	rig->base = 0;
	for (uint32_t i = 0; i < 3u * (mask + 1u); i++) {
		bool reordered;

		assert_int_equal(
			order_take(&rig->order, (uint16_t)(i & mask), &mbufs[0], &reordered),
			ORDER_NEXT);
		assert_false(reordered);
	}
	assert_null(rig->order.slots);
}

static void numbers_wrap(void **state) {
	(void)state;
	wraps(PSP_MASK);
	wraps(SEGMENT_MASK);
}

/* The farthest number that may wait, and the first that may not; both across the wrap. */
static void edges_of_the_window(void **state) {
	(void)state;
	for (uint32_t first = 0; first < 70; first++) {
		rig_open(rig, SEGMENT_MASK, 63, 5);
		rig->base = SEGMENT_MASK - first;
		put(rig, ORIGIN);
		put(rig, ORIGIN + 1 + 63);
		assert_int_equal(rig->order.waiting, 1);
		assert_int_equal(rig->seen[ORDER_TOO_FAR], 0);
		put(rig, ORIGIN + 2 + 63);
		assert_int_equal(rig->seen[ORDER_TOO_FAR], 1);
		assert_int_equal(rig->skipped, 63);
		assert_int_equal(rig->delivered, 3);
	}
}

/* Half of the circle is ahead, the other half is behind. */
static void half_of_the_circle(void **state) {
	bool reordered;

	(void)state;
	rig_open(rig, SEGMENT_MASK, 63, 5);
	put(rig, ORIGIN);
	assert_int_equal(
		order_take(&rig->order, on_wire(rig, ORIGIN + 1 + 4095), &mbufs[0], &reordered),
		ORDER_TOO_FAR);
	assert_int_equal(
		order_take(&rig->order, on_wire(rig, ORIGIN + 1 + 4096), &mbufs[0], &reordered),
		ORDER_LATE);
}

/* The 64th delivered number back is known, the 65th is not. */
static void how_far_back_is_known(void **state) {
	(void)state;
	rig_open(rig, PSP_MASK, 32, 5);
	for (uint32_t i = 0; i < 100; i++)
		put(rig, ORIGIN + i);
	put(rig, ORIGIN + 100 - 64);
	assert_int_equal(rig->seen[ORDER_DUPLICATE], 1);
	put(rig, ORIGIN + 100 - 65);
	assert_int_equal(rig->seen[ORDER_LATE], 1);
}

/* What was passed over without anything waiting is late, not a duplicate, when it comes. */
static void passed_over_is_late(void **state) {
	(void)state;
	rig_open(rig, PSP_MASK, 32, 5);
	put(rig, ORIGIN);
	put(rig, ORIGIN + 40);
	assert_int_equal(rig->skipped, 39);
	put(rig, ORIGIN + 39);
	put(rig, ORIGIN + 1);
	assert_int_equal(rig->seen[ORDER_LATE], 2);
	put(rig, ORIGIN);
	assert_int_equal(rig->seen[ORDER_DUPLICATE], 1);
}

/* 64 late or duplicate ones in a row are dropped; the 65th starts the count again. */
static void begins_anew(void **state) {
	(void)state;
	rig_open(rig, PSP_MASK, 32, 5);
	put(rig, ORIGIN + 5000);
	put(rig, ORIGIN + 5002); /* waits, and is given up at the restart */
	for (uint32_t i = 0; i < 64; i++)
		put(rig, i % 2 == 0 ? ORIGIN + i : ORIGIN + 5002);
	assert_int_equal(rig->seen[ORDER_RESTART], 0);
	assert_int_equal(rig->delivered, 1);
	put(rig, ORIGIN + 64);
	assert_int_equal(rig->seen[ORDER_RESTART], 1);
	assert_int_equal(rig->delivered, 3);
	put(rig, ORIGIN + 65);
	assert_int_equal(rig->delivered, 4);
	put(rig, ORIGIN + 63); /* dropped before, and of the time before */
	assert_int_equal(rig->seen[ORDER_LATE], 33);
}

/* One good number in between, and patience starts again. */
static void patience_is_for_a_row(void **state) {
	(void)state;
	rig_open(rig, PSP_MASK, 32, 5);
	put(rig, ORIGIN);
	for (uint32_t i = 1; i < 500; i++)
		put(rig, i % 64 == 0 ? ORIGIN + i / 64 : ORIGIN);
	assert_int_equal(rig->seen[ORDER_RESTART], 0);
	assert_int_equal(rig->delivered, 8);
}

/* Who was silent for long may have begun anew: the first number counts, however late it is. */
static void silence_is_a_new_beginning(void **state) {
	uint64_t now = ORDER_SILENCE;
	struct order o;
	bool reordered;

	(void)state;
	order_init(&o, UINT16_MAX, 32);
	order_time(&o, now);
	assert_int_equal(order_take(&o, 100, NULL, &reordered), ORDER_NEXT);
	now += ORDER_SILENCE - 1;
	order_time(&o, now);
	assert_int_equal(order_take(&o, 90, NULL, &reordered), ORDER_LATE);
	now += ORDER_SILENCE;
	order_time(&o, now);
	assert_int_equal(order_take(&o, 91, NULL, &reordered), ORDER_RESTART);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_numbers),
		cmocka_unit_test(numbers_wrap),
		cmocka_unit_test(edges_of_the_window),
		cmocka_unit_test(half_of_the_circle),
		cmocka_unit_test(how_far_back_is_known),
		cmocka_unit_test(passed_over_is_late),
		cmocka_unit_test(begins_anew),
		cmocka_unit_test(patience_is_for_a_row),
		cmocka_unit_test(silence_is_a_new_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
