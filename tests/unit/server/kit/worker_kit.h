/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers of a test's own as threads. */
#pragma once

#include "test.h"

#include <pthread.h>
#include <sched.h>

#include "server/worker.h"

static pthread_t threads[2];

static void *run(void *arg) {
	worker_run(arg);
	return NULL;
}

static inline void launch(struct worker *w, unsigned count) {
	for (unsigned i = 0; i < count; i++) {
		worker_start(&w[i]);
		assert_int_equal(pthread_create(&threads[i], NULL, run, &w[i]), 0);
	}
}

static inline void halt(struct worker *w, unsigned count) {
	for (unsigned i = 0; i < count; i++)
		worker_stop(&w[i]);
	for (unsigned i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		worker_stopped(&w[i]);
		assert_null(w[i].tasks[WORKER_NOW]);
		assert_null(w[i].tasks[WORKER_LATER]);
	}
}
