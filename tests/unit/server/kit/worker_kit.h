/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs workers of a test as threads, up to two. */
#pragma once

#include "test.h"

#include <pthread.h>
#include <sched.h>

#include "server/worker.h"

static pthread_t threads[2];

static void *run_worker(void *arg) {
	worker_run(arg);
	return NULL;
}

static inline void launch_workers(struct worker *w, unsigned count) {
	for (unsigned i = 0; i < count; i++) {
		worker_start(&w[i]);
		assert_int_equal(pthread_create(&threads[i], NULL, run_worker, &w[i]), 0);
	}
}

/* Stops and joins the threads. Checks that no task is left. */
static inline void halt_workers(struct worker *w, unsigned count) {
	for (unsigned i = 0; i < count; i++)
		worker_stop(&w[i]);
	for (unsigned i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		worker_stopped(&w[i]);
		assert_null(w[i].tasks[WORKER_NOW]);
		assert_null(w[i].tasks[WORKER_LATER]);
	}
}
