/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers that pause and sleep: what they are asked to do is done, what is due is not late, and all of it is counted. */
#include "test_main.h"

#include "fixture.h"
#include "worker_kit.h"

/* Its only stage is this: as much work as is left, and a clock. */
struct load {
	unsigned left; /* rounds with work */
	uint64_t cycles; /* of each */
	uint64_t due; /* what its pipeline says */
	uint64_t rounds;
	bool before_sleep; /* the work comes when it is about to sleep */
	bool makes_due; /* the last round before a sleep has no work, and makes something due */
	uint64_t pauses; /* until then, */
	unsigned found; /* how often it was found in the next round, */
	bool late; /* and whether ever behind a pause */
};

static struct worker worker;

static void make_due(struct load *load) {
	if (load->due == 0) {
		load->due = UINT64_MAX;
		load->late |= worker.idle.pauses != load->pauses;
		__atomic_add_fetch(&load->found, 1, __ATOMIC_RELAXED);
	} else if (worker.sleeper.asleep != 0) {
		load->due = 0;
		load->pauses = worker.idle.pauses;
	}
}

static uint16_t load_stage(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct load *load = ctx;
	uint64_t end = rte_rdtsc() + load->cycles;

	load->rounds++;
	if (load->makes_due)
		make_due(load);
	if (load->left == 0 || (load->before_sleep && worker.sleeper.asleep == 0))
		return 0;
	while (rte_rdtsc() < end)
		;
	load->left--;
	return 1;
}

static uint64_t load_due(const void *ctx) {
	return ((const struct load *)ctx)->due;
}

static const struct stage stages[] = {{.name = "load", .run = load_stage, .polls = true}};
static const struct stage_list list = {"load", stages, 1, .due = load_due};

static struct pipeline pipeline;
static struct load load;

static void begin(enum idle_kind kind) {
	const struct idle_config c = {
		.kind = kind, .empty_rounds = 4, .longest = 20000, .tsc_hz = rte_get_tsc_hz()};

	memset(&worker, 0, sizeof(worker));
	load = (struct load){.due = UINT64_MAX};
	pipeline_init(&pipeline, &list, &load);
	assert_int_equal(worker_add(&worker, &pipeline), 0);
	clock_start(&worker.clock);
	assert_int_equal(worker_idle(&worker, &c), 0);
	worker_sources(&worker, NULL, 0, true); /* it is woken by all that there is: nothing */
}

static void end(void) {
	halt(&worker, 1);
	worker_free(&worker);
}

static uint64_t pauses(void) {
	return __atomic_load_n(&worker.idle.pauses, __ATOMIC_RELAXED);
}

static bool step(void *arg) {
	return ++*(unsigned *)arg == 3;
}

/* Tasks, and the end, of a worker that has nothing to do and pauses; one that slept and is woken says so. */
TEST(tasks_are_done) {
	for (enum idle_kind kind = IDLE_POLL; kind < IDLE_KINDS; kind++) {
		if (!idle_supported(kind))
			continue;
		begin(kind);
		launch(&worker, 1);
		for (unsigned turn = 0; turn < 20; turn++) {
			unsigned steps = 0;
			struct worker_task task = {step, &steps};

			worker_do(&worker, &task);
			assert_int_equal(steps, 3);
		}
		while (kind != IDLE_POLL && pauses() < 20)
			sched_yield();
		end();
		assert_int_equal(worker.idle.pauses > 0, kind != IDLE_POLL);
		assert_int_equal(worker.busy_cycles, 0);
		assert_true(worker.idle.ticks <= worker.idle_cycles);
		assert_int_equal(worker.rounds, load.rounds);
		assert_int_equal(worker.idle.bounded, 0);
	}
}

TEST(what_is_due_now_is_polled_for) {
	for (enum idle_kind kind = IDLE_SPIN; kind < IDLE_KINDS; kind++) {
		if (!idle_supported(kind))
			continue;
		begin(kind);
		load.due = 0;
		launch(&worker, 1);
		while (__atomic_load_n(&load.rounds, __ATOMIC_RELAXED) < 1000)
			sched_yield();
		end();
		assert_int_equal(worker.idle.pauses, 0);
		assert_true(worker.idle.bounded > 0);
	}
}

TEST(a_pipeline_that_says_nothing) {
	begin(IDLE_SPIN);
	assert_true(worker_due(&worker) == UINT64_MAX);
	load.due = 77;
	assert_true(worker_due(&worker) == 77);
	pipeline.due = NULL;
	assert_true(worker_due(&worker) == 0);
	worker_remove(&worker, &pipeline);
	assert_true(worker_due(&worker) == UINT64_MAX); /* none */
	worker_free(&worker);
}

TEST(kinds_change_while_it_runs) {
	static const enum idle_kind kinds[] = {IDLE_SLEEP, IDLE_SPIN, IDLE_POLL};
	struct idle_config c;
	uint64_t before = 0;

	begin(IDLE_POLL);
	c = worker.idle.config;
	launch(&worker, 1);
	for (unsigned turn = 0; turn < 30; turn++) {
		c.kind = kinds[turn % 3];
		assert_int_equal(worker_idle(&worker, &c), 0);
		assert_true(pauses() >= before);
		before = pauses();
		while (c.kind != IDLE_POLL && pauses() == before)
			sched_yield();
	}
	end();
}

/* A lower frequency, played: at half the speed a round takes twice its cycles, which are busy ones. Work that comes before a
 * sleep is in a round like others. */
TEST(work_is_busy) {
	static const uint32_t shares[] = {0, 256, 768, 0};

	for (unsigned i = 0; i < ARRAY_COUNT(shares); i++) {
		bool sleeps = i == 3;

		begin(sleeps ? IDLE_SLEEP : IDLE_POLL);
		load.before_sleep = sleeps;
		__atomic_store_n(&worker.slowdown, shares[i], __ATOMIC_RELAXED);
		load.left = 50;
		load.cycles = 20000;
		launch(&worker, 1);
		while (__atomic_load_n(&load.left, __ATOMIC_RELAXED) > 0)
			sched_yield();
		end();
		assert_int_equal(worker.busy_rounds, 50);
		assert_true(worker.busy_cycles >= 50 * 20000ull * (256 + shares[i]) / 256);
		assert_true(!sleeps || worker.idle_cycles > 0);
	}
}

/* A row may fill a queue that the next round takes from, and move nothing itself. */
TEST(due_before_it_sleeps) {
	begin(IDLE_SLEEP);
	load.makes_due = true;
	launch(&worker, 1);
	while (__atomic_load_n(&load.found, __ATOMIC_RELAXED) < 20)
		sched_yield();
	end();
	assert_false(load.late);
}

/* Two workers and a ring between them, as upper and lower MAC on two cores. */
static struct worker pair[2];
static struct ring {
	uint64_t wanted, given, taken; /* the test's, the producer's, the consumer's */
} ring;

static uint16_t give_stage(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	if (ring.given == __atomic_load_n(&ring.wanted, __ATOMIC_ACQUIRE))
		return 0;
	__atomic_store_n(&ring.given, ring.given + 1, __ATOMIC_RELEASE);
	return 1;
}

static uint16_t take_stage(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	uint64_t given = __atomic_load_n(&ring.given, __ATOMIC_ACQUIRE);
	uint16_t moved = (uint16_t)(given - ring.taken);

	__atomic_store_n(&ring.taken, given, __ATOMIC_RELEASE);
	return moved;
}

/* Whoever fills a ring wakes who sleeps behind it; each time nothing else would, for 10 ms. */
TEST(rings_wake) {
	static const struct stage give = {.name = "give", .run = give_stage, .polls = true};
	static const struct stage take = {.name = "take", .run = take_stage, .polls = true};
	static const struct stage_list lists[2] = {{"give", &give, 1, .due = pipeline_due_never},
						   {"take", &take, 1, .due = pipeline_due_never}};
	const struct idle_config c = {
		.kind = IDLE_SLEEP, .empty_rounds = 4, .longest = 1000, .tsc_hz = rte_get_tsc_hz()};
	struct pipeline pipelines[2];
	uint64_t woken;

	for (unsigned i = 0; i < 2; i++) {
		pipeline_init(&pipelines[i], &lists[i], NULL);
		assert_int_equal(worker_add(&pair[i], &pipelines[i]), 0);
		clock_start(&pair[i].clock);
		pair[i].all = pair;
		assert_int_equal(worker_idle(&pair[i], &c), 0);
		/* the first asks for what nobody tells */
		worker_sources(&pair[i], NULL, 0, i == 1);
	}
	pair[0].wakes = true;
	pair[0].hands_to.bits[0] = 2;
	pair[1].handed_by.bits[0] = 1;
	launch(pair, 2);
	for (uint64_t turn = 1; turn <= 200; turn++) {
		while (!__atomic_load_n(&pair[1].sleeper.asleep, __ATOMIC_RELAXED))
			sched_yield();
		__atomic_store_n(&ring.wanted, turn, __ATOMIC_RELEASE);
		while (__atomic_load_n(&ring.taken, __ATOMIC_ACQUIRE) < turn)
			sched_yield();
	}
	woken = __atomic_load_n(&pair[1].sleeper.woken, __ATOMIC_RELAXED); /* the stop wakes, too */
	halt(pair, 2);
	assert_true(woken > 0);
	assert_true(pair[1].busy_rounds <= 200);
	for (unsigned i = 0; i < 2; i++)
		worker_free(&pair[i]);
}

ALL_TESTS(fixture_start, fixture_stop)
