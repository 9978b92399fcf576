/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests workers that pause and sleep when idle: tasks, due work, and counted times. */
#include "test_main.h"

#include "fixture.h"
#include "worker_kit.h"

/* Simulated work of the only stage. */
struct load {
	unsigned left; /* rounds with work */
	uint64_t cycles; /* per round with work */
	uint16_t moved; /* packets in such a round; 0: one */
	uint64_t last; /* TSC at the last such round */
	uint64_t nearest; /* TSC ticks between two of them, at least */
	uint64_t due; /* returned as due time of the pipeline; 0: now */
	uint64_t
		due_after; /* ns: a round with work sets `due` to its time plus this; 0: no effect */
	uint64_t rounds;
	bool before_sleep; /* work appears only in the last round before a sleep */
	bool makes_due; /* the last round before a sleep sets `due` to 0 */
	uint64_t pauses; /* of the worker when `due` was set */
	unsigned found; /* how often the next round followed */
	bool late; /* a pause came before that round */
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
	uint64_t until = rte_rdtsc() + load->cycles;

	load->rounds++;
	if (load->makes_due)
		make_due(load);
	if (load->left == 0 || (load->before_sleep && worker.sleeper.asleep == 0))
		return 0;
	load->nearest = RTE_MIN(load->nearest, until - load->cycles - load->last);
	load->last = until - load->cycles;
	while (rte_rdtsc() < until)
		;
	load->left--;
	if (load->due_after > 0)
		load->due = worker.clock.now + load->due_after;
	return RTE_MAX(load->moved, (uint16_t)1);
}

static uint64_t load_due(const void *ctx) {
	return ((const struct load *)ctx)->due;
}

static const struct stage stages[] = {{.name = "load", .run = load_stage, .polls = true}};
static const struct stage_list list = {"load", stages, 1, .due = load_due};

static struct pipeline pipeline;
static struct load load;

static void begin_coalescing(enum idle_kind kind, uint64_t coalesce) {
	const struct idle_config c = {
		.kind = kind,
		.empty_rounds = 4,
		.longest = 20000,
		.coalesce = coalesce,
		.tsc_hz = rte_get_tsc_hz(),
	};

	memset(&worker, 0, sizeof(worker));
	load = (struct load){.due = UINT64_MAX, .nearest = UINT64_MAX};
	pipeline_init(&pipeline, &list, &load);
	assert_int_equal(worker_add(&worker, &pipeline), 0);
	clock_start(&worker.clock);
	assert_int_equal(worker_idle(&worker, &c), 0);
	worker_sources(&worker, NULL, 0, true); /* woken for everything: there is no source */
}

static void begin(enum idle_kind kind) {
	begin_coalescing(kind, 0);
}

static void end(void) {
	halt_workers(&worker, 1);
	worker_free(&worker);
}

static uint64_t pauses(void) {
	return __atomic_load_n(&worker.idle.pauses, __ATOMIC_RELAXED);
}

static bool step(void *arg) {
	return ++*(unsigned *)arg == 3;
}

TEST(idle_worker_runs_tasks) {
	for (enum idle_kind kind = IDLE_POLL; kind < IDLE_KINDS; kind++) {
		if (!idle_supported(kind))
			continue;
		begin(kind);
		launch_workers(&worker, 1);
		for (unsigned i = 0; i < 20; i++) {
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

TEST(due_work_prevents_pauses) {
	for (enum idle_kind kind = IDLE_SPIN; kind < IDLE_KINDS; kind++) {
		if (!idle_supported(kind))
			continue;
		begin(kind);
		load.due = 0;
		launch_workers(&worker, 1);
		while (__atomic_load_n(&load.rounds, __ATOMIC_RELAXED) < 1000)
			sched_yield();
		end();
		assert_int_equal(worker.idle.pauses, 0);
		assert_true(worker.idle.bounded > 0);
	}
}

#define COALESCE_US 200

/* Rounds with few packets begin COALESCE_US apart; full rounds and due work do not wait. */
TEST(rounds_with_few_packets_are_coalesced) {
	static const struct {
		uint16_t moved;
		uint64_t due;
		bool waits;
	} cases[] = {
		{1, UINT64_MAX, true},
		{WORKER_FULL_ROUND - 1, UINT64_MAX, true},
		{WORKER_FULL_ROUND, UINT64_MAX, false},
		{1, 0, false},
	};
	const uint64_t wait = rte_get_tsc_hz() / 1000000 * COALESCE_US;
	const unsigned rounds = 20;

	for (unsigned i = 0; i < RTE_DIM(cases); i++) {
		uint64_t begun = rte_rdtsc();

		begin_coalescing(IDLE_POLL, COALESCE_US * UINT64_C(1000));
		load.left = rounds;
		load.moved = cases[i].moved;
		load.due = cases[i].due;
		load.cycles = wait / 8;
		launch_workers(&worker, 1);
		while (__atomic_load_n(&load.rounds, __ATOMIC_RELAXED) < rounds + 2)
			sched_yield();
		end();
		assert_int_equal(load.left, 0);
		/* fewer pauses than rounds if the system had the core meanwhile */
		assert_true((worker.idle.pauses > 0) == cases[i].waits);
		assert_true(worker.idle.pauses <= rounds);
		assert_true((load.nearest >= wait / 2) == cases[i].waits);
		assert_true(worker.idle.ticks <= worker.idle_cycles);
		assert_true(worker.busy_cycles >= rounds * load.cycles);
		/* no pause counts as busy, too */
		assert_true(worker.busy_cycles + worker.idle_cycles <= rte_rdtsc() - begun);
	}
}

TEST(due_work_ends_the_wait_of_coalescing) {
	begin_coalescing(IDLE_POLL, UINT64_C(10000000000));
	load.left = 1;
	load.due_after = 50000000;
	launch_workers(&worker, 1);
	while (__atomic_load_n(&load.rounds, __ATOMIC_RELAXED) < 2)
		sched_yield();
	end();
	assert_int_equal(worker.idle.pauses, 1);
	assert_true(worker.clock.now < UINT64_C(5000000000));
}

TEST(pipeline_without_due_function_is_always_due) {
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

TEST(idle_kind_changes_while_running) {
	static const enum idle_kind kinds[] = {IDLE_SLEEP, IDLE_SPIN, IDLE_POLL};
	struct idle_config c;
	uint64_t before = 0;

	begin(IDLE_POLL);
	c = worker.idle.config;
	launch_workers(&worker, 1);
	for (unsigned i = 0; i < 30; i++) {
		c.kind = kinds[i % 3];
		assert_int_equal(worker_idle(&worker, &c), 0);
		assert_true(pauses() >= before);
		before = pauses();
		while (c.kind != IDLE_POLL && pauses() == before)
			sched_yield();
	}
	end();
}

/* A simulated lower frequency adds busy cycles: twice as many at half the speed. Work found just
 * before a sleep counts as busy, too. */
TEST(rounds_with_work_count_as_busy) {
	static const uint32_t shares[] = {0, 256, 768, 0};

	for (unsigned i = 0; i < ARRAY_COUNT(shares); i++) {
		bool sleeps = i == 3;

		begin(sleeps ? IDLE_SLEEP : IDLE_POLL);
		load.before_sleep = sleeps;
		__atomic_store_n(&worker.slowdown, shares[i], __ATOMIC_RELAXED);
		load.left = 50;
		load.cycles = 20000;
		launch_workers(&worker, 1);
		while (__atomic_load_n(&load.left, __ATOMIC_RELAXED) > 0)
			sched_yield();
		end();
		assert_int_equal(worker.busy_rounds, 50);
		assert_true(worker.busy_cycles >= 50 * 20000ull * (256 + shares[i]) / 256);
		assert_true(!sleeps || worker.idle_cycles > 0);
	}
}

/* A stage may make work due without moving a packet: the worker must not pause then. */
TEST(work_due_before_sleep_is_not_late) {
	begin(IDLE_SLEEP);
	load.makes_due = true;
	launch_workers(&worker, 1);
	while (__atomic_load_n(&load.found, __ATOMIC_RELAXED) < 20)
		sched_yield();
	end();
	assert_false(load.late);
}

/* Two workers and a ring between them, as upper and lower MAC on two cores. */
static struct worker pair[2];
static struct ring {
	uint64_t wanted, produced, consumed; /* packets: wanted by the test, produced, consumed */
} ring;

static uint16_t put_stage(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	if (ring.produced == __atomic_load_n(&ring.wanted, __ATOMIC_ACQUIRE))
		return 0;
	__atomic_store_n(&ring.produced, ring.produced + 1, __ATOMIC_RELEASE);
	return 1;
}

static uint16_t get_stage(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	uint64_t produced = __atomic_load_n(&ring.produced, __ATOMIC_ACQUIRE);
	uint16_t packets = (uint16_t)(produced - ring.consumed);

	__atomic_store_n(&ring.consumed, produced, __ATOMIC_RELEASE);
	return packets;
}

/* A worker that fills a ring wakes the consumer, which would sleep longer otherwise. */
TEST(filled_ring_wakes_consumer) {
	static const struct stage put = {.name = "put", .run = put_stage, .polls = true};
	static const struct stage get = {.name = "get", .run = get_stage, .polls = true};
	static const struct stage_list lists[2] = {{"put", &put, 1, .due = pipeline_due_never},
						   {"get", &get, 1, .due = pipeline_due_never}};
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
		/* the producer polls: nothing wakes it */
		worker_sources(&pair[i], NULL, 0, i == 1);
	}
	pair[0].wakes = true;
	pair[0].sends_to.bits[0] = 2;
	pair[1].receives_from.bits[0] = 1;
	launch_workers(pair, 2);
	for (uint64_t i = 1; i <= 200; i++) {
		while (!__atomic_load_n(&pair[1].sleeper.asleep, __ATOMIC_RELAXED))
			sched_yield();
		__atomic_store_n(&ring.wanted, i, __ATOMIC_RELEASE);
		while (__atomic_load_n(&ring.consumed, __ATOMIC_ACQUIRE) < i)
			sched_yield();
	}
	/* read before the stop, which wakes, too */
	woken = __atomic_load_n(&pair[1].sleeper.woken, __ATOMIC_RELAXED);
	halt_workers(pair, 2);
	assert_true(woken > 0);
	assert_true(pair[1].busy_rounds <= 200);
	for (unsigned i = 0; i < 2; i++)
		worker_free(&pair[i]);
}

ALL_TESTS(fixture_start, fixture_stop)
