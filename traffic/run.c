/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop, and when it ends. */
#include "run.h"

#include <rte_cycles.h>

#include "traffic_parts.h"

#define DRAIN_MS 10 /* what an earlier run has left behind comes out in this time */
#define QUIET_MS 500 /* nothing that was missing came for so long: the rest is lost */
#define COMPLETE_MS 20 /* all has come: only a duplicate could follow */
#define PROGRESS_ROUNDS 1024

static uint64_t ms(uint64_t n) {
	return rte_get_tsc_hz() / 1000 * n;
}

static void publish(struct run *run) {
	const struct traffic *t = run->traffic;
	const struct account *a = &t->account;

	__atomic_store_n(&run->progress.sent_bytes, t->generator->bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&run->progress.proven, a->proven, __ATOMIC_RELAXED);
	__atomic_store_n(&run->progress.missing, a->missing, __ATOMIC_RELAXED);
}

static void send_and_receive(struct run *run) {
	struct traffic *t = run->traffic;
	uint64_t hz = rte_get_tsc_hz();
	uint64_t now = rte_rdtsc();
	uint64_t end = now + (uint64_t)((double)run->duration_ns * 1e-9 * (double)hz);
	unsigned rounds = 0;

	while (now < end) {
		traffic_send(t, now);
		traffic_receive(t);
		if (++rounds % PROGRESS_ROUNDS == 0) {
			publish(run);
			if (__atomic_load_n(&run->stop, __ATOMIC_RELAXED))
				break;
		}
		now = rte_rdtsc();
	}
}

static void collect_rest(struct run *run) {
	struct traffic *t = run->traffic;
	uint64_t in_flight = traffic_in_flight(t);
	uint64_t heard = rte_rdtsc();
	uint64_t now = heard;

	while (now - heard < ms(in_flight == 0 ? COMPLETE_MS : QUIET_MS)) {
		uint64_t left;

		traffic_receive(t);
		now = rte_rdtsc();
		pacing_idle(&t->pacing, now);
		left = traffic_in_flight(t);
		if (left != in_flight)
			heard = now;
		in_flight = left;
	}
}

int run_traffic(void *arg) {
	struct run *run = arg;
	struct traffic *t = run->traffic;
	uint64_t start = rte_rdtsc();

	while (rte_rdtsc() - start < ms(DRAIN_MS))
		traffic_drain(t);
	pacing_restart(&t->pacing, rte_rdtsc());
	send_and_receive(run);
	traffic_stop(t);
	collect_rest(run);
	traffic_finish(t);
	publish(run);
	__atomic_store_n(&run->done, true, __ATOMIC_RELEASE);
	return 0;
}
