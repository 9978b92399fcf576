/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/idle/sleep.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

int sleeper_open(struct sleeper *s) {
	if (s->open)
		return 0;
	s->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (s->wake < 0)
		return -1;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->open = s->epoll >= 0;
	if (!s->open)
		close(s->wake);
	return s->open ? 0 : -1;
}

void sleeper_close(struct sleeper *s) {
	if (s->open) {
		close(s->wake);
		close(s->epoll);
	}
	s->open = false;
}

void sleeper_prepare(void) {
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* the default is 50 us */
}

void sleeper_begin(struct sleeper *s) {
	__atomic_store_n(&s->asleep, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

bool sleeper_sleep(struct sleeper *s, uint64_t ns) {
	struct timespec t = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
	struct pollfd files[] = {{.fd = s->wake, .events = POLLIN},
				 {.fd = s->epoll, .events = POLLIN}};
	uint64_t count;

	if (ppoll(files, 2, &t, NULL) <= 0)
		return false;
	if (files[0].revents != 0 && read(s->wake, &count, sizeof(count)) == sizeof(count))
		s->woken++;
	return files[1].revents != 0;
}

void sleeper_end(struct sleeper *s) {
	__atomic_store_n(&s->asleep, 0, __ATOMIC_RELAXED);
}

void sleeper_write(struct sleeper *s) {
	const uint64_t one = 1;

	if (__atomic_exchange_n(&s->asleep, 0, __ATOMIC_ACQ_REL) == 0)
		return; /* another thread has woken it */
	if (write(s->wake, &one, sizeof(one)) < 0)
		return; /* the counter is full, so an earlier write wakes the worker */
}
