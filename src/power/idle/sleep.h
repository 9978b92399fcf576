/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleep of the system, for cores that are shared with others. Who sleeps says so before it looks for work a last time,
 * and who makes work looks at that behind it (a full fence each), so that none is slept over:
 *
 *     sleeper_begin()   asleep: whoever makes work wakes from now on
 *     (looks for work)
 *     sleeper_sleep()   unless there was some
 *     sleeper_end()
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sleeper {
	bool open;
	int wake; /* an eventfd */
	int epoll; /* a set for what else may wake */
	uint32_t asleep; /* 1: whoever makes work is to write to it */
	uint64_t woken; /* sleeps that somebody ended so, who sleeps counts them */
};

/* Returns 0, or -1 where there is none to be had. To be closed by sleeper_close(), which is harmless on a zeroed one. */
int sleeper_open(struct sleeper *s);
void sleeper_close(struct sleeper *s);

/* To be called once by the thread that sleeps: short sleeps are to end in time (timer slack). */
void sleeper_prepare(void);

void sleeper_begin(struct sleeper *s);

/* Gives the core away for `ns`, or until somebody wakes. Returns whether something of the set did. */
bool sleeper_sleep(struct sleeper *s, uint64_t ns);

void sleeper_end(struct sleeper *s);

/* For sleeper_wake(), where it is asleep. */
void sleeper_write(struct sleeper *s);

/* By any thread, behind what it made: costs a fence where nobody sleeps. */
static inline void sleeper_wake(struct sleeper *s) {
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(__atomic_load_n(&s->asleep, __ATOMIC_RELAXED) != 0, 0))
		sleeper_write(s);
}
