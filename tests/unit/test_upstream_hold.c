/* SPDX-License-Identifier: BSD-3-Clause */
/* What waits, how long and with how much memory; and the walk through the pieces of a segment. */
#include "test.h"

#include <string.h>

#include "upstream/cut.h"
#include "upstream/hold.h"
#include "upstream/queue.h"

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

static void each_kind_has_its_time(void **state) {
	static const uint64_t time[HOLD_KINDS] = {
		[HOLD_PACKETS] = 10, [HOLD_SEGMENTS] = 20,   [HOLD_BURST] = 100,
		[HOLD_FRAME] = 100,  [HOLD_FRAGMENTS] = 100,
	};
	bool timeout;

	(void)state;
	rig_open(rig);
	for (unsigned i = 0; i < HOLD_KINDS; i++) {
		struct hold *h = &rig->holds[i];

		hold_add(&rig->all, h, in_use(1, 8), 1000);
		hold_add(&rig->all, h, in_use(1, 8), 1005); /* the first bytes count */
		assert_int_equal(holds_deadline(&rig->all), 1000 + time[i]);
		assert_null(holds_excess(&rig->all, 999 + time[i], &timeout));
		assert_ptr_equal(holds_excess(&rig->all, 1000 + time[i], &timeout), h);
		assert_true(timeout);
		hold_renew(&rig->all, h, 1001);
		assert_null(holds_excess(&rig->all, 1000 + time[i], &timeout));
		hold_remove(&rig->all, h, in_use(2, 16));
	}
	hold_renew(&rig->all, &rig->holds[0], 2000); /* nothing waits there */
	rig_close(rig);
}

static void the_oldest_of_a_pool_goes_first(void **state) {
	struct hold *packets = &rig->holds[0], *segments = &rig->holds[1], *burst = &rig->holds[2];
	struct hold *frame = &rig->holds[3];
	bool timeout;

	(void)state;
	rig_open(rig);
	hold_add(&rig->all, frame, in_use(5, 9000), 4);
	hold_add(&rig->all, burst, in_use(3, 1), 5);
	hold_add(&rig->all, packets, in_use(3, 1), 6);
	hold_add(&rig->all, segments, in_use(4, 1), 7);
	assert_null(holds_excess(&rig->all, 8, &timeout)); /* as much as may be of both */
	hold_add(&rig->all, segments, in_use(1, 1), 8);
	assert_ptr_equal(holds_excess(&rig->all, 8, &timeout), burst);
	assert_false(timeout);
	hold_renew(&rig->all, burst, 9);
	assert_ptr_equal(holds_excess(&rig->all, 9, &timeout), packets);
	assert_ptr_equal(holds_oldest_gap(&rig->all), packets);
	hold_remove(&rig->all, packets, in_use(3, 1));
	assert_null(holds_excess(&rig->all, 9, &timeout));
	assert_ptr_equal(holds_oldest_gap(&rig->all), segments);
	hold_end(&rig->all, segments);
	assert_null(holds_oldest_gap(&rig->all));
	hold_end(&rig->all, burst);
	hold_end(&rig->all, burst); /* harmless */
	hold_add(&rig->all, frame, in_use(1, 1), 9);
	assert_ptr_equal(holds_excess(&rig->all, 9, &timeout), frame);
	hold_end(&rig->all, frame);
	rig_close(rig);
}

/* Of two that wait longer than they may, and too much: the end of time is told first. */
static void time_comes_before_memory(void **state) {
	bool timeout;

	(void)state;
	rig_open(rig);
	hold_add(&rig->all, &rig->holds[2], in_use(11, 1), 1);
	hold_add(&rig->all, &rig->holds[0], in_use(1, 1), 2);
	assert_ptr_equal(holds_excess(&rig->all, 12, &timeout), &rig->holds[0]);
	assert_true(timeout);
	hold_end(&rig->all, &rig->holds[0]);
	assert_ptr_equal(holds_excess(&rig->all, 12, &timeout), &rig->holds[2]);
	assert_false(timeout);
	hold_end(&rig->all, &rig->holds[2]);
	rig_close(rig);
}

static void a_modem_has_a_limit_of_its_own(void **state) {
	(void)state;
	rig_open(rig);
	hold_add(&rig->all, &rig->holds[4], in_use(1, 100), 1); /* modem 0, a frame's fragments */
	hold_add(&rig->all, &rig->holds[0], in_use(1, 300), 2);
	hold_add(&rig->all, &rig->holds[1], in_use(1, 399), 1); /* modem 1 */
	assert_null(holds_modem_excess(&rig->all, 0));
	hold_add(&rig->all, &rig->holds[8], in_use(1, 1), 3);
	assert_ptr_equal(holds_modem_excess(&rig->all, 0), &rig->holds[4]);
	assert_null(holds_modem_excess(&rig->all, 1));
	hold_remove(&rig->all, &rig->holds[4],
		    in_use(0, 50)); /* a part of it is not enough to leave the list */
	hold_add(&rig->all, &rig->holds[8], in_use(0, 50), 4);
	assert_ptr_equal(holds_modem_excess(&rig->all, 0), &rig->holds[4]);
	hold_remove(&rig->all, &rig->holds[4], in_use(1, 50));
	assert_null(holds_modem_excess(&rig->all, 0));
	hold_remove(&rig->all, &rig->holds[0], in_use(1, 300));
	hold_remove(&rig->all, &rig->holds[8], in_use(1, 51));
	hold_remove(&rig->all, &rig->holds[1], in_use(1, 399));
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
		cmocka_unit_test(time_comes_before_memory),
		cmocka_unit_test(a_modem_has_a_limit_of_its_own),
		cmocka_unit_test(random_holds),
		cmocka_unit_test(meta_is_aligned),
		cmocka_unit_test(cut_walks),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
