/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory runs out anywhere in a reload or a move: all of it is done, or nothing, and traffic goes on. */
#include <rte_hash.h>
#include <rte_malloc.h>

#include "crypto/key_slots.h"

#include "group_file.h"

/* Allocations until one is refused, or all are, which `refusals` counts; below 0: none is. */
static long left = -1;
static bool for_good;
static bool keys_alone; /* are refused */
static unsigned refusals;

static bool granted(void) {
	if (left < 0 || left > 0) {
		left -= left > 0;
		return true;
	}
	refusals++;
	left = for_good ? 0 : -1;
	return false;
}

#define SHORT_OF(type, function, params, args)                    \
	type __real_##function params;                            \
	type __wrap_##function params;                            \
	type __wrap_##function params {                           \
		return granted() ? __real_##function args : NULL; \
	}

SHORT_OF(void *, malloc, (size_t size), (size))
SHORT_OF(void *, calloc, (size_t count, size_t size), (count, size))
SHORT_OF(void *, aligned_alloc, (size_t align, size_t size), (align, size))
SHORT_OF(void *, reallocarray, (void *p, size_t count, size_t size), (p, count, size))
SHORT_OF(void *, rte_malloc, (const char *name, size_t size, unsigned align), (name, size, align))
SHORT_OF(void *, rte_zmalloc, (const char *name, size_t size, unsigned align), (name, size, align))
SHORT_OF(void *, rte_zmalloc_socket, (const char *name, size_t size, unsigned align, int socket),
	 (name, size, align, socket))
SHORT_OF(struct rte_hash *, rte_hash_create, (const struct rte_hash_parameters *p), (p))
SHORT_OF(struct rte_ring *, rte_ring_create,
	 (const char *name, unsigned count, int socket, unsigned flags),
	 (name, count, socket, flags))

void *__real_key_slots_take(struct key_slots *k);
void *__wrap_key_slots_take(struct key_slots *k);
void *__wrap_key_slots_take(struct key_slots *k) {
	return keys_alone || !granted() ? NULL : __real_key_slots_take(k);
}

/* Something that is done to the server, or not. */
typedef bool attempt(void);

static struct server_config other;
static struct service_group others[GROUPS], next_before[GROUPS];

static bool take_other(void) {
	return server_reconfigure(&bench->server, &other, line);
}

/* With the first allocation failing, the second, and so on, until there is none more: each time it is done as a whole,
 * and `undo` takes it back, or nothing is. Returns how often it was refused. */
static unsigned as_memory_runs_out(attempt *try, attempt *undo) {
	unsigned refused = 0;

	for (long n = 0;; n++) {
		struct life_left before = life_left_now();
		bool done;

		refusals = 0;
		left = n;
		done = try();
		left = -1;
		refused += !done;
		if (!done) {
			life_left_check(&before);
			assert_true(refusals > 0);
		}
		if (!done && try == take_other) {
			assert_non_null(strstr(line, "; nothing was changed"));
			assert_null(strstr(line, ": ;")); /* it is said why */
		}
		if (done && refusals == 0)
			return refused;
		assert_true(!done || undo());
		if (n % 8 == 0)
			all_is_told_apart();
	}
}

/* What fails may be one allocation, or that and all behind it. */
static unsigned with_little_memory(attempt *try, attempt *undo) {
	unsigned refused;

	for_good = false;
	refused = as_memory_runs_out(try, undo);
	assert_true(undo());
	for_good = true;
	return RTE_MIN(refused, as_memory_runs_out(try, undo));
}

/* What is in service is `next`, to become what `count` groups are that differ, or do not. */
static void make_other(unsigned count, bool differ) {
	unsigned now = file.group_count;

	load_next(count, differ);
	memcpy(others, next, sizeof(others));
	other = file;
	other.groups = others;
	load_next(now, false);
	for (unsigned g = 0; differ && g < count; g++) {
		others[g].channels[0].rate /= 2;
		others[g].modems[0].security.key[0] ^= 1;
		others[g].modems[1].service_flows[0].priority++;
	}
}

static void free_other(void) {
	for (unsigned g = 0; g < other.group_count; g++)
		service_group_free(&others[g]);
	free_next();
}

static void memory_runs_out_in_a_reload(void **state) {
	(void)state;
	life_bench_open(bench, 2, GROUPS);
	file.group_count = 2;
	make_other(2, true);
	assert_true(with_little_memory(take_other, take_file) > 50);
	assert_true(take_file());
	free_other();
	make_other(3, true);
	assert_true(with_little_memory(take_other, take_file) > 100);
	assert_true(take_file());
	free_other();
	make_other(1, false); /* what goes needs no memory, but what says so does */
	with_little_memory(take_other, take_file);
	assert_true(take_file());
	free_other();
	life_bench_close(bench);
}

/* A device has as many places as it was given. */
static void too_many_keys_roll(void **state) {
	char wanted[LIVE_LINE];

	(void)state;
	life_bench_open(bench, 2, GROUPS);
	load_next(2, false);
	next[1].modems[0].security.key[0] ^= 1;
	keys_alone = true;
	assert_false(take_file());
	snprintf(wanted, sizeof(wanted),
		 "service group 2: modem 02:01:00:00:02:01: crypto provider %s has no place left "
		 "for its key; nothing was changed",
		 crypto_own());
	assert_string_equal(line, wanted);
	all_is_told_apart();
	keys_alone = false;
	assert_true(take_file());
	free_next();
	life_bench_close(bench);
}

/* The second group that comes to a shared port needs the first ring to it; what comes behind that may be refused. */
static void memory_runs_out_beside_a_new_ring(void **state) {
	unsigned port;

	(void)state;
	life_bench_open(bench, 1, GROUPS);
	assert_int_equal(server_move_group(&bench->server, 0, PART_UPPER | PART_LOWER, 2), 0);
	load_next(3, false);
	life_bench_load(&others[1], 2, LIFE_SHARED, 2, 2, 2);
	service_group_free(&next[1]);
	next[1] = others[1];
	file.group_count = 2;
	assert_true(take_file());
	port = bench->server.ports.of[0][DEVICE_NETWORK];
	assert_null(bench->server.shares.of[port]->send.ring);
	other = (struct server_config){.groups = next, .group_count = 3};
	assert_true(with_little_memory(take_other, take_file) > 20);
	assert_non_null(bench->server.shares.of[port]->send.ring);
	file.group_count = 3;
	all_is_told_apart();
	free_next();
	life_bench_close(bench);
}

static bool drain_worker(void) {
	return server_worker_drain(&bench->server, 1, 0) == 0;
}

static bool resume_worker(void) {
	return server_worker_resume(&bench->server, 1) == 0;
}

/* All of it runs elsewhere then, or nothing does. The worker that takes it over has no room for more. */
static bool move_or_stay(attempt *move, unsigned to) {
	const struct layout before = bench->server.layout;
	struct worker *w = &bench->server.workers[to];
	bool good;

	w->entry_room = w->entry_count;
	good = move();
	if (!good)
		assert_memory_equal(&bench->server.layout, &before, sizeof(before));
	return good;
}

static bool drain_or_stay(void) {
	return move_or_stay(drain_worker, 0);
}

static bool resume_or_stay(void) {
	return move_or_stay(resume_worker, 1);
}

static void memory_runs_out_in_a_move(void **state) {
	(void)state;
	life_bench_open(bench, 2, GROUPS);
	load_next(GROUPS, false);
	reload("3 service groups added");
	assert_true(with_little_memory(drain_or_stay, resume_worker) > 0);
	assert_int_equal(bench->server.workers[1].entry_count, 0);
	all_is_told_apart();
	assert_true(with_little_memory(resume_or_stay, drain_worker) > 0);
	assert_memory_equal(&bench->server.layout, &bench->server.home, sizeof(struct layout));
	all_is_told_apart();
	free_next();
	life_bench_close(bench);
}

/* No worker has room for more lists than it runs. */
static bool take_other_without_room(void) {
	for (unsigned w = 0; w < LIFE_WORKERS; w++) {
		struct worker *worker = &bench->server.workers[w];

		worker->entry_room = worker->entry_count;
	}
	return take_other();
}

static bool take_file_and_look(void) {
	struct server_config before = file;
	bool done;

	/* what came is served */
	memcpy(next_before, next, sizeof(next));
	memcpy(next, others, sizeof(next));
	file.group_count = other.group_count;
	all_is_told_apart();
	memcpy(next, next_before, sizeof(next));
	file = before;
	done = take_file();
	return done;
}

/* The group that comes is alone on a worker; those of the ports that it shares from then on have room, too. */
static void memory_runs_out_for_room_at_workers(void **state) {
	(void)state;
	life_bench_open(bench, 1, GROUPS);
	file.group_count = 1;
	make_other(2, false);
	life_bench_load(&others[2], 2, LIFE_SHARED, 1, 1, 1);
	service_group_free(&others[1]);
	others[1] = others[2];
	assert_true(with_little_memory(take_other_without_room, take_file_and_look) > 20);
	assert_true(take_file());
	free_other();
	life_bench_close(bench);
}

/* Space in the list of a worker is taken for all groups that come to it together. */
static void room_for_several_that_come(void **state) {
	struct worker *w;

	(void)state;
	life_bench_open(bench, 1, GROUPS);
	w = &bench->server.workers[0];
	load_next(GROUPS, false);
	for (unsigned g = 1; g < GROUPS; g++) {
		service_group_free(&next[g]);
		life_bench_load(&next[g], g + 1, LIFE_SHARED, 0, 0, 0);
	}
	w->entry_room = w->entry_count;
	assert_true(take_file());
	assert_in_range(w->entry_count, 20, w->entry_room);
	all_is_told_apart();
	free_next();
	life_bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_runs_out_in_a_reload),
		cmocka_unit_test(memory_runs_out_for_room_at_workers),
		cmocka_unit_test(room_for_several_that_come),
		cmocka_unit_test(too_many_keys_roll),
		cmocka_unit_test(memory_runs_out_beside_a_new_ring),
		cmocka_unit_test(memory_runs_out_in_a_move),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
