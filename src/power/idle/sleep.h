/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The system's sleep, for shared cores. The sleeper sets `asleep` before its last check for work; a producer
 * checks `asleep` after it adds work. Both use a full fence, so that no work is missed:
 *
 *     sleeper_begin()   sets `asleep`: producers wake it from now on
 *     (check for work)
 *     sleeper_sleep()   unless there is work
 *     sleeper_end()
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sleeper {
	bool open;
	int wake; /* an eventfd */
	int epoll; /* a set of further wake-up sources */
	uint32_t asleep; /* 1: producers must wake it */
	uint64_t woken; /* sleeps that a producer ended; written by the sleeper */
};

/* Returns 0, or -1 without descriptors. Close with sleeper_close(), which does nothing if zeroed. */
int sleeper_open(struct sleeper *s);
void sleeper_close(struct sleeper *s);

/* The sleeping thread calls it once: it sets the timer slack, so that short sleeps end in time. */
void sleeper_prepare(void);

void sleeper_begin(struct sleeper *s);

/* Sleeps for `ns`, or until woken. Returns whether a source of `epoll` woke it. */
bool sleeper_sleep(struct sleeper *s, uint64_t ns);

void sleeper_end(struct sleeper *s);

/* Wakes the sleeper; called by sleeper_wake() only. */
void sleeper_write(struct sleeper *s);

/* Any thread calls it after it has added work. If the worker is awake, it costs only a fence. */
static inline void sleeper_wake(struct sleeper *s) {
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(__atomic_load_n(&s->asleep, __ATOMIC_RELAXED) != 0, 0))
		sleeper_write(s);
}
