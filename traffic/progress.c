/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints progress each second on a thread of its own. */
#include "progress.h"

#include <stdio.h>
#include <time.h>

#define STEP_MS 20 /* progress_end() waits at most this long */

static double seconds_now(void) {
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Rates refer to the time since the last line, which may exceed a second on a busy machine. */
static void direction_show(const char *direction, const struct progress *p, bool send_only,
			   uint64_t *before, double seconds) {
	uint64_t sent = __atomic_load_n(&p->sent_bytes, __ATOMIC_RELAXED);

	fprintf(stderr, "  %s %7.3f Gbps sent", direction,
		(double)(sent - *before) * 8e-9 / seconds);
	if (!send_only)
		fprintf(stderr, "  %12lu proven  %lu lost",
			(unsigned long)__atomic_load_n(&p->proven, __ATOMIC_RELAXED),
			(unsigned long)__atomic_load_n(&p->missing, __ATOMIC_RELAXED));
	*before = sent;
}

static void line_show(struct progress_lines *p, double begun, double now) {
	double seconds = now - p->at;

	fprintf(stderr, "%4.0f s", now - begun);
	if (p->downstream)
		direction_show("down", &p->run->downstream, p->run->send_only, &p->down, seconds);
	if (p->upstream)
		direction_show("up", &p->run->upstream, p->run->send_only, &p->up, seconds);
	fputc('\n', stderr);
	p->at = now;
}

static void *lines_show(void *context) {
	static const struct timespec step = {.tv_nsec = STEP_MS * 1000000};
	struct progress_lines *p = context;
	double begun = seconds_now(), next = begun + 1;

	p->at = begun;
	while (!__atomic_load_n(&p->end, __ATOMIC_ACQUIRE)) {
		double now;

		nanosleep(&step, NULL);
		now = seconds_now();
		if (now < next)
			continue;
		line_show(p, begun, now);
		while (next <= now)
			next += 1;
	}
	return NULL;
}

void progress_begin(struct progress_lines *p, const struct run *run, bool downstream,
		    bool upstream) {
	*p = (struct progress_lines){.run = run, .downstream = downstream, .upstream = upstream};
	p->begun = pthread_create(&p->thread, NULL, lines_show, p) == 0;
}

void progress_end(struct progress_lines *p) {
	__atomic_store_n(&p->end, true, __ATOMIC_RELEASE);
	if (p->begun)
		pthread_join(p->thread, NULL);
}
