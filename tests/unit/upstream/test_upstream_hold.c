/* SPDX-License-Identifier: BSD-3-Clause */
/* What waits, how long and with how much memory; and the walk through the pieces of a segment. */
#include "test.h"

#include <string.h>

#include "upstream/state/cut.h"
#include "upstream/state/hold.h"
#include "upstream/state/meta.h"

#include "fixture.h"
#include "random.h"

#define MODEMS 3
#define HOLDS 40

struct rig {
	struct holds all;
	struct hold holds[HOLDS];
	struct random random;
};

static struct rig storage, *const rig = &storage;

static void rig_open(struct rig *r) {
	memset(r, 0, sizeof(*r));
	r->random.state = 42;
	assert_int_equal(holds_init(&r->all, MODEMS), 0);
	r->all.timeouts[HOLD_CLASS_PACKETS] = 10;
	r->all.timeouts[HOLD_CLASS_SEGMENTS] = 20;
	r->all.timeouts[HOLD_CLASS_BURSTS] = 100;
	r->all.timeouts[HOLD_CLASS_FRAMES] = 100;
	r->all.limits[HOLD_POOL_PACKETS] = 10;
	r->all.limits[HOLD_POOL_FRAMES] = 5;
	r->all.modem_limit = 400;
	for (unsigned i = 0; i < HOLDS; i++)
		hold_init(&r->holds[i], (enum hold_kind)(i % HOLD_KINDS),
			  i % 4 == 3 ? HOLD_NOBODY : i % 4);
}

/* That many bytes in so many buffers. */
static struct hold_size in_use(uint32_t buffers, uint32_t bytes) {
	return (struct hold_size){buffers, bytes};
}

static void rig_close(struct rig *r) {
	for (unsigned p = 0; p < HOLD_POOLS; p++)
		assert_int_equal(r->all.buffers[p], 0);
	assert_true(holds_deadline(&r->all) == UINT64_MAX);
	holds_free(&r->all);
}

/* What was given up since rig_open(), and why. */
static struct {
	struct hold *holds[HOLDS];
	bool timeouts[HOLDS];
	unsigned count;
} given_up;

static void give_up(void *owner, struct hold *h, bool timeout) {
	assert_ptr_equal(owner, rig);
	assert_in_range(given_up.count, 0, HOLDS - 1);
	given_up.holds[given_up.count] = h;
	given_up.timeouts[given_up.count++] = timeout;
	hold_end(&rig->all, h);
}

static void expect_last(const struct hold *h, bool timeout, unsigned count) {
	assert_int_equal(given_up.count, count);
	assert_ptr_equal(given_up.holds[count - 1], h);
	assert_int_equal(given_up.timeouts[count - 1], timeout);
}

static void rig_open_to_give_up(void) {
	rig_open(rig);
	for (unsigned k = 0; k < HOLD_KINDS; k++)
		rig->all.give_up[k] = give_up;
	rig->all.owner = rig;
	given_up.count = 0;
}

static void each_kind_has_its_time(void **state) {
	static const uint64_t time[HOLD_KINDS] = {
		[HOLD_PACKETS] = 10, [HOLD_SEGMENTS] = 20,   [HOLD_BURST] = 100,
		[HOLD_FRAME] = 100,  [HOLD_FRAGMENTS] = 100,
	};

	(void)state;
	rig_open_to_give_up();
	for (unsigned i = 0; i < HOLD_KINDS; i++) {
		struct hold *h = &rig->holds[i];

		hold_add(&rig->all, h, in_use(1, 8), 1000);
		hold_add(&rig->all, h, in_use(1, 8), 1005); /* the first bytes count */
		assert_int_equal(holds_deadline(&rig->all), 1000 + time[i]);
		holds_relieve(&rig->all, 999 + time[i]);
		hold_renew(&rig->all, h, 1001);
		holds_relieve(&rig->all, 1000 + time[i]);
		assert_int_equal(given_up.count, i);
		holds_relieve(&rig->all, 1001 + time[i]);
		expect_last(h, true, i + 1);
	}
	hold_renew(&rig->all, &rig->holds[0], 2000); /* nothing waits there */
	rig_close(rig);
}

/* Each only has to end its own wait: what another one holds of the other pool does not matter. */
static void the_oldest_of_a_pool_goes_first(void **state) {
	struct hold *packets = &rig->holds[0], *segments = &rig->holds[1], *burst = &rig->holds[2];
	struct hold *frame = &rig->holds[3];

	(void)state;
	rig_open_to_give_up();
	hold_add(&rig->all, frame, in_use(5, 9000), 4);
	hold_add(&rig->all, burst, in_use(3, 1), 5);
	hold_add(&rig->all, packets, in_use(3, 1), 6);
	hold_add(&rig->all, segments, in_use(4, 1), 7);
	holds_relieve(&rig->all, 8);
	assert_int_equal(given_up.count, 0); /* as much as may be of both */
	hold_add(&rig->all, segments, in_use(1, 1), 8);
	holds_relieve(&rig->all, 8);
	expect_last(burst, false, 1);
	hold_add(&rig->all, burst, in_use(3, 1), 9);
	holds_relieve(&rig->all, 9);
	expect_last(packets, false, 2);
	hold_add(&rig->all, frame, in_use(1, 1), 9);
	holds_relieve(&rig->all, 9);
	expect_last(frame, false, 3);
	hold_end(&rig->all, burst);
	hold_end(&rig->all, burst); /* harmless */
	hold_end(&rig->all, segments);
	rig_close(rig);
}

/* Buffers that nothing waits for take the place of those that wait; where none waits, nothing ends. */
static void buffers_in_use_count(void **state) {
	struct hold *frame = &rig->holds[3];

	(void)state;
	rig_open_to_give_up();
	holds_use(&rig->all, HOLD_POOL_FRAMES, 6);
	holds_relieve(&rig->all, 1);
	assert_int_equal(given_up.count, 0);
	hold_add(&rig->all, frame, in_use(1, 1), 1);
	holds_relieve(&rig->all, 1);
	expect_last(frame, false, 1);
	holds_used(&rig->all, HOLD_POOL_FRAMES, 2);
	hold_add(&rig->all, frame, in_use(1, 1), 2);
	holds_relieve(&rig->all, 2);
	assert_int_equal(given_up.count, 1);
	hold_end(&rig->all, frame);
	holds_used(&rig->all, HOLD_POOL_FRAMES, 4);
	rig_close(rig);
}

static void the_oldest_gap(void **state) {
	struct hold *packets = &rig->holds[0], *segments = &rig->holds[1], *burst = &rig->holds[2];

	(void)state;
	rig_open_to_give_up();
	hold_add(&rig->all, burst, in_use(1, 1), 1); /* is no gap */
	hold_add(&rig->all, segments, in_use(1, 1), 2);
	hold_add(&rig->all, packets, in_use(1, 1), 3);
	holds_end_oldest_gap(&rig->all);
	expect_last(segments, false, 1);
	holds_end_oldest_gap(&rig->all);
	expect_last(packets, false, 2);
	holds_end_oldest_gap(&rig->all);
	assert_int_equal(given_up.count, 2);
	hold_add(&rig->all, packets, in_use(1, 1), 4);
	hold_add(&rig->all, segments, in_use(1, 1), 5);
	holds_end_oldest_gap(&rig->all);
	expect_last(packets, false, 3);
	holds_end_oldest_gap(&rig->all);
	expect_last(segments, false, 4);
	hold_end(&rig->all, burst);
	rig_close(rig);
}

/* Of two that wait longer than they may, and too much: the end of time is told first. */
static void time_comes_before_memory(void **state) {
	(void)state;
	rig_open_to_give_up();
	hold_add(&rig->all, &rig->holds[2], in_use(11, 1), 1);
	hold_add(&rig->all, &rig->holds[0], in_use(1, 1), 2);
	holds_relieve(&rig->all, 12);
	expect_last(&rig->holds[2], false, 2);
	assert_ptr_equal(given_up.holds[0], &rig->holds[0]);
	assert_true(given_up.timeouts[0]);
	rig_close(rig);
}

static void a_modem_has_a_limit_of_its_own(void **state) {
	(void)state;
	rig_open_to_give_up();
	hold_add(&rig->all, &rig->holds[4], in_use(1, 100), 1); /* modem 0, a frame's fragments */
	hold_add(&rig->all, &rig->holds[0], in_use(1, 300), 2);
	hold_add(&rig->all, &rig->holds[1], in_use(1, 401), 1); /* modem 1 */
	hold_add(&rig->all, &rig->holds[3], in_use(1, 999), 1); /* nobody */
	holds_relieve_modem(&rig->all, 0);
	holds_relieve_modem(&rig->all, HOLD_NOBODY);
	assert_int_equal(given_up.count, 0);
	hold_add(&rig->all, &rig->holds[8], in_use(1, 1), 3);
	holds_relieve_modem(&rig->all, 0);
	expect_last(&rig->holds[4], false, 1);
	/* a part of it is not enough to leave the list */
	hold_remove(&rig->all, &rig->holds[0], in_use(0, 50));
	hold_add(&rig->all, &rig->holds[8], in_use(0, 150), 4);
	holds_relieve_modem(&rig->all, 0);
	expect_last(&rig->holds[0], false, 2);
	holds_relieve_modem(&rig->all, 1);
	expect_last(&rig->holds[1], false, 3);
	hold_end(&rig->all, &rig->holds[8]);
	hold_end(&rig->all, &rig->holds[3]);
	rig_close(rig);
}

/* What the lists say, found by looking at everything. */
static void check(const struct rig *r) {
	uint64_t of_modem[MODEMS] = {0}, deadline = UINT64_MAX;
	uint32_t buffers[HOLD_POOLS] = {0};

	for (unsigned i = 0; i < HOLDS; i++) {
		const struct hold *h = &r->holds[i];
		uint64_t time = h->kind == HOLD_PACKETS ? 10 : h->kind == HOLD_SEGMENTS ? 20 : 100;

		buffers[h->kind == HOLD_FRAME || h->kind == HOLD_FRAGMENTS] += h->size.buffers;
		if (h->modem != HOLD_NOBODY)
			of_modem[h->modem] += h->size.bytes;
		if (h->size.bytes > 0 && h->since + time < deadline)
			deadline = h->since + time;
	}
	for (unsigned p = 0; p < HOLD_POOLS; p++)
		assert_int_equal(r->all.buffers[p], buffers[p]);
	for (unsigned m = 0; m < MODEMS; m++)
		assert_int_equal(r->all.modems[m].bytes, of_modem[m]);
	assert_true(holds_deadline(&r->all) == deadline);
}

static void random_holds(void **state) {
	(void)state;
	rig_open(rig);
	for (uint64_t now = 0; now < 50000; now++) {
		struct hold *h = &rig->holds[random_below(&rig->random, HOLDS)];

		if (random_below(&rig->random, 2))
			hold_add(&rig->all, h,
				 in_use(random_below(&rig->random, 9),
					random_between(&rig->random, 1, 100)),
				 now);
		else if (random_below(&rig->random, 3) == 0)
			hold_renew(&rig->all, h, now);
		else if (random_below(&rig->random, 2))
			hold_end(&rig->all, h);
		else if (h->size.bytes > 1)
			hold_remove(&rig->all, h,
				    in_use(random_below(&rig->random, h->size.buffers + 1),
					   random_between(&rig->random, 1, h->size.bytes - 1)));
		check(rig);
	}
	for (unsigned i = 0; i < HOLDS; i++)
		hold_end(&rig->all, &rig->holds[i]);
	rig_close(rig);
}

/* There is a pointer in it, which must lie where pointers lie. */
static void meta_is_aligned(void **state) {
	struct rte_mempool *pool = fixture_pool("meta", 1, FIXTURE_ROOM);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	(void)state;
	assert_int_equal((uintptr_t)us_meta(m) % _Alignof(struct us_meta), 0);
	rte_pktmbuf_free(m);
	fixture_pool_end(pool);
}

#define SEGMENT 60

/* A chain of pieces, the bytes of which are their own places. */
static struct rte_mbuf *chain(struct rte_mempool *pool, struct random *r, unsigned most) {
	struct rte_mbuf *first = NULL, *last = NULL;
	uint8_t bytes[SEGMENT];

	for (unsigned i = 0; i < SEGMENT; i++)
		bytes[i] = (uint8_t)i;
	for (unsigned at = 0; at < SEGMENT;) {
		unsigned size = RTE_MIN(random_between(r, 1, most), SEGMENT - at);
		struct rte_mbuf *m = fixture_packet(pool, bytes + at, size);

		at += size;
		if (first == NULL) {
			first = last = m;
			continue;
		}
		last->next = m;
		last = m;
		first->nb_segs++;
		first->pkt_len += size;
	}
	return first;
}

/* Steps of all sizes over pieces of all sizes see the same bytes. */
static void cut_walks(void **state) {
	struct rte_mempool *pool = fixture_pool("cut", SEGMENT + 1, FIXTURE_ROOM);
	struct random r = {.state = 77};

	(void)state;
	for (int turn = 0; turn < 3000; turn++) {
		struct rte_mbuf *m = chain(pool, &r, random_between(&r, 1, SEGMENT));
		struct us_cut c = {.m = m, .left = SEGMENT, .to_pointer = SEGMENT};
		uint8_t out[SEGMENT + 10];

		while (c.left > 0) {
			unsigned place = SEGMENT - c.left;
			uint32_t peek = random_below(&r, sizeof(out)), step;

			assert_int_equal(us_cut_peek(&c, out, peek), RTE_MIN(peek, c.left));
			for (unsigned i = 0; i < RTE_MIN(peek, c.left); i++)
				assert_int_equal(out[i], place + i);
			assert_in_range(us_cut_piece(&c), 1, c.left);
			assert_int_equal(*us_cut_bytes(&c), place);
			step = random_below(&r, c.left + 1);
			if (random_below(&r, 2)) {
				us_cut_pass(&c, step);
			} else {
				us_cut_copy(&c, out, step);
				for (unsigned i = 0; i < step; i++)
					assert_int_equal(out[i], place + i);
			}
			assert_int_equal(c.left, SEGMENT - place - step);
			assert_int_equal(c.to_pointer, c.left);
		}
		rte_pktmbuf_free(m);
	}
	fixture_pool_end(pool);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_has_its_time),
		cmocka_unit_test(the_oldest_of_a_pool_goes_first),
		cmocka_unit_test(buffers_in_use_count),
		cmocka_unit_test(the_oldest_gap),
		cmocka_unit_test(time_comes_before_memory),
		cmocka_unit_test(a_modem_has_a_limit_of_its_own),
		cmocka_unit_test(random_holds),
		cmocka_unit_test(meta_is_aligned),
		cmocka_unit_test(cut_walks),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
