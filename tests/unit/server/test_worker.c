/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests tasks that a worker runs between rounds, and changes of its stage lists. */
#include "test_main.h"

#include <sys/mman.h>
#include <unistd.h>

#include "worker_kit.h"

static unsigned rounds, steps, rounds_at[3];

static uint16_t round_stage(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	rounds++;
	return n;
}

static bool step(void *arg) {
	rounds_at[steps++] = rounds;
	return steps == 3;
}

TEST(task_makes_one_step_per_round) {
	static const struct stage stages[] = {{.name = "round", .run = round_stage, .polls = true}};
	static struct worker worker;
	struct pipeline pipeline = {.stages = stages, .count = 1};
	struct worker_task task = {.step = step};

	assert_int_equal(worker_add(&worker, &pipeline), 0);
	launch_workers(&worker, 1);
	for (int i = 0; i < 50; i++) {
		steps = 0;
		worker_do(&worker, &task);
		assert_int_equal(steps, 3);
		assert_int_equal(rounds_at[1], rounds_at[0] + 1);
		assert_int_equal(rounds_at[2], rounds_at[1] + 1);
	}
	halt_workers(&worker, 1);
	assert_int_equal(worker.rounds, rounds);
	worker_free(&worker);
	assert_null(worker.entries);
	worker_round(&worker); /* a worker without lists */
	worker_free(&worker);
}

/* The order in which a round runs the lists: a letter per list. */
static char order[64];
static unsigned order_at;
static bool recording;

static uint16_t order_stage(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	if (recording && order_at + 1 < sizeof(order))
		order[order_at++] = *(const char *)ctx;
	return n;
}

/* Two steps of a task: starts recording, and stops it after one round. */
static bool order_step(void *arg) {
	recording = !recording;
	if (recording) {
		order_at = 0;
		memset(order, 0, sizeof(order));
	}
	return !recording;
}

static const char *record_order(struct worker *w) {
	worker_do(w, &(struct worker_task){.step = order_step});
	return order;
}

TEST(running_worker_keeps_list_order) {
	static const struct stage stages[] = {{.name = "order", .run = order_stage, .polls = true}};
	static const char names[] = "abcdefghijklmnop";
	static struct pipeline lists[16];
	static struct worker w = {.name = "order"};

	for (unsigned i = 0; i < ARRAY_COUNT(lists); i++)
		lists[i] = (struct pipeline){
			.stages = stages, .count = 1, .ctx = (void *)(uintptr_t)&names[i]};
	assert_int_equal(worker_add(&w, &lists[0]), 0);
	launch_workers(&w, 1);
	assert_int_equal(worker_reserve(&w, 3), 0);
	worker_insert(&w, &lists[1], WORKER_LAST);
	worker_insert(&w, &lists[2], WORKER_FIRST);
	worker_insert(&w, &lists[3], WORKER_GROUPS);
	assert_string_equal(record_order(&w), "cadb");
	worker_remove(&w, &lists[0]);
	assert_string_equal(record_order(&w), "cdb");
	worker_remove(&w, &lists[0]); /* no effect: not in the worker */
	for (unsigned i = 4; i < ARRAY_COUNT(lists); i++)
		assert_int_equal(worker_add(&w, &lists[i]), 0);
	assert_string_equal(record_order(&w), "cdefghijklmnopb");
	worker_insert(&w, &lists[0], WORKER_FIRST);
	assert_string_equal(record_order(&w), "cadefghijklmnopb");
	halt_workers(&w, 1);
	worker_remove(&w, &lists[2]); /* returns at once */
	assert_int_equal(w.entry_count, 15);
	worker_free(&w);
}

/* The order in which a chain of tasks makes steps, a letter per step. */
static char chain_order[8];
static unsigned chain_at;
static int blocked;

static bool chain_step(void *arg) {
	chain_order[chain_at++] = *(const char *)arg;
	return chain_at % 2 == 0; /* two steps per task */
}

static bool blocked_step(void *arg) {
	return __atomic_load_n(&blocked, __ATOMIC_ACQUIRE) == 0;
}

static const char *begin_chain(struct worker w[2], struct worker_task tasks[3], bool *done) {
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

TEST(chains_of_both_kinds_run_independently) {
	static struct worker w[2] = {{.name = "one"}, {.name = "other"}};
	struct worker_task tasks[3], blocking = {.step = blocked_step, .worker = &w[1]};
	bool done, blocking_done = false;

	/* done at once: no worker runs */
	assert_string_equal(begin_chain(w, tasks, &done), "aabbcc");
	assert_true(done);
	launch_workers(w, 2);
	blocked = 1;
	worker_chain_begin(&blocking, WORKER_LATER, &blocking_done);
	for (unsigned i = 0; i < 50; i++) {
		begin_chain(w, tasks, &done);
		worker_chain_wait(&done);
		assert_string_equal(chain_order, "aabbcc");
	}
	assert_false(worker_chain_is_done(&blocking_done));
	__atomic_store_n(&blocked, 0, __ATOMIC_RELEASE);
	worker_chain_wait(&blocking_done);
	halt_workers(w, 2);
}

/* Makes the task's page inaccessible: after the last step, its owner may free the task. */
static bool last_step(void *page) {
	return mprotect(page, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE) == 0;
}

/* The worker must not read a task after its last step, neither within a chain nor at its end. */
TEST(completed_task_is_not_read) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct worker w = {.name = "hand-over"};
	struct worker_task *tasks[3]; /* a chain of two, and a single task */
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

/* Makes the second round long, and stops the worker in the third. */
static uint16_t slow_stage(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct worker *w = ctx;

	if (w->rounds == 1)
		rte_delay_us_block(LONG_US);
	if (w->rounds >= 2)
		worker_stop(w);
	return n;
}

/* Other load of the machine may add long rounds. */
TEST(long_rounds_are_counted) {
	static const struct stage stages[] = {{.name = "slow", .run = slow_stage, .polls = true}};
	static struct worker w;
	struct pipeline pipeline = {.stages = stages, .count = 1, .ctx = &w};
	uint64_t min_cycles = rte_get_tsc_hz() / 1000000 * LONG_US;

	assert_int_equal(worker_add(&w, &pipeline), 0);
	worker_run(&w);
	assert_int_equal(w.rounds, 3);
	assert_in_range(w.descheduled, 1, 3);
	assert_true(w.longest >= min_cycles && w.longest < w.busy_cycles + w.idle_cycles + 1);
	assert_int_equal(w.longest_since, w.longest);
	assert_int_equal(worker_longest_read(&w), w.longest);
	assert_int_equal(worker_longest_read(&w), 0);
	assert_int_equal(worker_longest_read_control(&w), w.longest);
	assert_int_equal(worker_longest_read_control(&w), 0);
	w.stop = false;
	worker_run(&w); /* stops in its first round */
	assert_true(w.longest >= min_cycles);
	assert_int_equal(w.rounds, 4);
	worker_free(&w);
}
