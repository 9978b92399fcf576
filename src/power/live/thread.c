/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/live/thread.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "platform/log/log.h"
#include "power/live/parts.h"

#define SLACK_NS 1000UL /* timer slack: a sleep of 0.1 ms must not be prolonged */

static uint64_t clock_now(void) {
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * POWER_SECOND + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t ns) {
	const struct timespec until = {(time_t)(ns / POWER_SECOND), (long)(ns % POWER_SECOND)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void *run(void *arg) {
	struct power *p = arg;

	prctl(PR_SET_TIMERSLACK, SLACK_NS);
	while (!__atomic_load_n(&p->stop, __ATOMIC_ACQUIRE)) {
		uint64_t next;

		pthread_mutex_lock(&p->lock);
		next = power_step(p, clock_now());
		pthread_mutex_unlock(&p->lock);
		sleep_until(next);
	}
	return NULL;
}

void power_thread_start(struct power *p) {
	sigset_t all, before;
	int ret;

	if (p->runs)
		return;
	p->stop = false;
	sigfillset(&all); /* only the control thread handles signals */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&p->thread, NULL, run, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	p->runs = ret == 0;
	if (ret == 0)
		pthread_setname_np(p->thread, "vcmts-power");
	else
		log_error("power", LOG_NO_FIELDS,
			  "no thread for the governor: %s; cores have their maximum",
			  strerror(ret));
}

void power_thread_stop(struct power *p) {
	if (!p->runs)
		return;
	__atomic_store_n(&p->stop, true, __ATOMIC_RELEASE);
	pthread_join(p->thread, NULL);
	p->runs = false;
}
