/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks between two rounds of a worker that runs, and lists that come and go. */
#include "test_main.h"

#include <sys/mman.h>
#include <unistd.h>

#include "worker_kit.h"

static unsigned rounds, steps, rounds_at[3];

/* A pipeline of one stage that counts the rounds. */
static uint16_t round_stage(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	rounds++;
	return n;
}

static bool step(void *arg) {
	rounds_at[steps++] = rounds;
	return steps == 3;
}

TEST(one_step_a_round) {
	static const struct stage stages[] = {{.name = "round", .run = round_stage, .polls = true}};
	static struct worker worker;
	struct pipeline pipeline = {.stages = stages, .count = 1};
	struct worker_task task = {.step = step};

	assert_int_equal(worker_add(&worker, &pipeline), 0);
	launch(&worker, 1);
	for (int turn = 0; turn < 50; turn++) {
		steps = 0;
		worker_do(&worker, &task);
		assert_int_equal(steps, 3);
		assert_int_equal(rounds_at[1], rounds_at[0] + 1);
		assert_int_equal(rounds_at[2], rounds_at[1] + 1);
	}
	halt(&worker, 1);
	assert_int_equal(worker.rounds, rounds);
	worker_free(&worker);
	assert_null(worker.entries);
	worker_round(&worker); /* has none */
	worker_free(&worker);
}

/* Lists that come and go while it runs have their turns: first, groups, last, each in the order they came. */
static char order[64];
static unsigned order_at;
static bool order_kept;

static uint16_t order_stage(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	if (order_kept && order_at + 1 < sizeof(order))
		order[order_at++] = *(const char *)ctx;
	return n;
}

/* Begins to keep it, and ends that: one round, between two steps of a task. */
static bool order_step(void *arg) {
	order_kept = !order_kept;
	if (order_kept) {
		order_at = 0;
		memset(order, 0, sizeof(order));
	}
	return !order_kept;
}

static const char *order_of(struct worker *w) {
	worker_do(w, &(struct worker_task){.step = order_step});
	return order;
}

TEST(lists_of_one_that_runs) {
	static const struct stage stages[] = {{.name = "order", .run = order_stage, .polls = true}};
	static const char names[] = "abcdefghijklmnop";
	static struct pipeline lists[16];
	static struct worker w = {.name = "order"};

	for (unsigned i = 0; i < ARRAY_COUNT(lists); i++)
		lists[i] = (struct pipeline){
			.stages = stages, .count = 1, .ctx = (void *)(uintptr_t)&names[i]};
	assert_int_equal(worker_add(&w, &lists[0]), 0);
	launch(&w, 1);
	assert_int_equal(worker_reserve(&w, 3), 0);
	worker_insert(&w, &lists[1], WORKER_LAST);
	worker_insert(&w, &lists[2], WORKER_FIRST);
	worker_insert(&w, &lists[3], WORKER_GROUPS);
	assert_string_equal(order_of(&w), "cadb");
	worker_remove(&w, &lists[0]);
	assert_string_equal(order_of(&w), "cdb");
	worker_remove(&w, &lists[0]); /* it has not */
	for (unsigned i = 4; i < ARRAY_COUNT(lists); i++)
		assert_int_equal(worker_add(&w, &lists[i]), 0);
	assert_string_equal(order_of(&w), "cdefghijklmnopb");
	worker_insert(&w, &lists[0], WORKER_FIRST);
	assert_string_equal(order_of(&w), "cadefghijklmnopb");
	halt(&w, 1);
	worker_remove(&w, &lists[2]); /* at once */
	assert_int_equal(w.entry_count, 15);
	worker_free(&w);
}

/* A chain goes from worker to worker, and those of the two kinds do not wait for each other. */
static char chain_order[8];
static unsigned chain_at;
static int chain_held;

static bool chain_step(void *arg) {
	chain_order[chain_at++] = *(const char *)arg;
	return chain_at % 2 == 0; /* each twice */
}

static bool held_step(void *arg) {
	return __atomic_load_n(&chain_held, __ATOMIC_ACQUIRE) == 0;
}

static const char *chain_begin(struct worker w[2], struct worker_task tasks[3], bool *done) {
	static char names[] = "abc";

	for (unsigned i = 0; i < 3; i++)
		tasks[i] = (struct worker_task){chain_step, &names[i], &w[i % 2],
						.next = i < 2 ? &tasks[i + 1] : NULL};
	memset(chain_order, 0, sizeof(chain_order));
	chain_at = 0;
	*done = false;
	worker_chain_begin(tasks, WORKER_NOW, done);
	return chain_order;
}

TEST(chains) {
	static struct worker w[2] = {{.name = "one"}, {.name = "other"}};
	struct worker_task tasks[3], held = {.step = held_step, .worker = &w[1]};
	bool done, held_done = false;

	assert_string_equal(chain_begin(w, tasks, &done), "aabbcc"); /* none runs: at once */
	assert_true(done);
	launch(w, 2);
	chain_held = 1;
	worker_chain_begin(&held, WORKER_LATER, &held_done);
	for (unsigned turn = 0; turn < 50; turn++) {
		chain_begin(w, tasks, &done);
		worker_chain_wait(&done);
		assert_string_equal(chain_order, "aabbcc");
	}
	assert_false(worker_chain_is_done(&held_done));
	__atomic_store_n(&chain_held, 0, __ATOMIC_RELEASE);
	worker_chain_wait(&held_done);
	halt(w, 2);
}

/* The task's owner may free it once its step has returned true: from here on each access ends the test. */
static bool last_step(void *page) {
	return mprotect(page, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE) == 0;
}

/* The worker reads no field of a task that is done: neither in a chain nor at its end. */
TEST(done_tasks_are_not_read) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct worker w = {.name = "hand-over"};
	struct worker_task *tasks[3]; /* a chain of two, and a single one */
	bool done = false;

	assert_ptr_not_equal(pages, MAP_FAILED);
	for (unsigned i = 0; i < 3; i++)
		tasks[i] = (struct worker_task *)(void *)(pages + i * page);
	*tasks[0] = (struct worker_task){last_step, tasks[0], &w, .next = tasks[1]};
	*tasks[1] = (struct worker_task){last_step, tasks[1], &w};
	*tasks[2] = (struct worker_task){last_step, tasks[2]};
	worker_start(&w);
	worker_begin(&w, tasks[2]);
	worker_chain_begin(tasks[0], WORKER_LATER, &done);
	assert_true(worker_quiescent(&w));
	assert_null(w.tasks[WORKER_NOW]);
	assert_true(worker_quiescent(&w));
	assert_ptr_equal(w.tasks[WORKER_LATER], tasks[1]);
	assert_false(worker_chain_is_done(&done));
	assert_true(worker_quiescent(&w));
	assert_null(w.tasks[WORKER_LATER]);
	assert_true(worker_chain_is_done(&done));
	assert_false(worker_quiescent(&w));
	worker_stopped(&w);
	assert_int_equal(munmap(pages, 3 * page), 0);
}

#define LONG_US (3 * WORKER_ROUND_MAX_US)

/* Takes long in its second round, and ends the worker in its third. */
static uint16_t slow_stage(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct worker *w = ctx;

	if (w->rounds == 1)
		rte_delay_us_block(LONG_US);
	if (w->rounds >= 2)
		worker_stop(w);
	return n;
}

/* A machine with other work may add more of these. */
TEST(long_rounds_are_noted) {
	static const struct stage stages[] = {{.name = "slow", .run = slow_stage, .polls = true}};
	static struct worker w;
	struct pipeline pipeline = {.stages = stages, .count = 1, .ctx = &w};
	uint64_t least = rte_get_tsc_hz() / 1000000 * LONG_US;

	assert_int_equal(worker_add(&w, &pipeline), 0);
	worker_run(&w);
	assert_int_equal(w.rounds, 3);
	assert_in_range(w.descheduled, 1, 3);
	assert_true(w.longest >= least && w.longest < w.busy_cycles + w.idle_cycles + 1);
	assert_int_equal(w.longest_since, w.longest);
	assert_int_equal(worker_longest_take(&w), w.longest);
	assert_int_equal(worker_longest_take(&w), 0);
	assert_int_equal(worker_longest_watch(&w), w.longest);
	assert_int_equal(worker_longest_watch(&w), 0);
	w.stop = false;
	worker_run(&w); /* stops in its first round */
	assert_true(w.longest >= least);
	assert_int_equal(w.rounds, 4);
	worker_free(&w);
}
