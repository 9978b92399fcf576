/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop, and when it ends. */
#include "run.h"

#include <rte_cycles.h>

#include "spent.h"
#include "traffic_parts.h"

#define DRAIN_MS 10 /* what an earlier run has left behind comes out in this time */
#define DRAIN_MAX_MS 200 /* or it is no rest, but somebody else's traffic */
#define QUIET_MS 500 /* nothing that was missing came for so long: the rest is lost */
#define COMPLETE_MS 20 /* all has come: only a duplicate could follow */
#define SETTLE_MAX_MS 5000 /* what an earlier trial has left is gone by then, or somebody else's */
#define STOPPED_MS 5000 /* to collect the rest in after a stop; a second one ends it at once */
#define PROGRESS_ROUNDS 1024

static uint64_t ms(uint64_t n) {
	return rte_get_tsc_hz() / 1000 * n;
}

static void publish_direction(struct progress *progress, uint64_t sent_bytes,
			      const struct proof *p) {
	__atomic_store_n(&progress->sent_bytes, sent_bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&progress->proven, p->proven, __ATOMIC_RELAXED);
	__atomic_store_n(&progress->missing, p->missing, __ATOMIC_RELAXED);
}

static void publish(struct run *run) {
	const struct traffic *t = run->traffic;

	if (t->downlink != NULL)
		publish_direction(&run->downstream, t->downlink->generator->bytes,
				  &t->downlink->account.proof);
	if (t->uplink != NULL)
		publish_direction(&run->upstream, uplink_sent_bytes(t->uplink),
				  &t->uplink_receiver.proof);
}

static unsigned stops(const struct run *run) {
	return __atomic_load_n(&run->stop, __ATOMIC_RELAXED);
}

static void run_drain(struct run *run) {
	uint64_t start = rte_rdtsc();
	uint64_t waited = 0;
	unsigned n;

	do {
		n = traffic_drain(run->traffic);
		waited = rte_rdtsc() - start;
	} while (waited < ms(n > 0 ? DRAIN_MAX_MS : DRAIN_MS) && stops(run) == 0);
}

static void send_and_receive(struct run *run) {
	struct traffic *t = run->traffic;
	uint64_t hz = rte_get_tsc_hz();
	uint64_t now = rte_rdtsc();
	uint64_t end = now + (uint64_t)((double)run->duration_ns * 1e-9 * (double)hz);
	unsigned rounds = 0;

	while (now < end) {
		uint64_t start = now;
		unsigned moved = traffic_send(t, now);

		if (!run->send_only)
			moved += traffic_receive(t);
		now = spent(moved > 0 ? &run->busy_cycles : &run->idle_cycles, start);
		if (++rounds % PROGRESS_ROUNDS == 0) {
			publish(run);
			if (stops(run) > 0)
				break;
		}
	}
}

/*
 * Modems end what they have begun, and what is under way arrives. A stop while packets were still made
 * has ended that only.
 */
static void collect_rest(struct run *run) {
	struct traffic *t = run->traffic;
	uint64_t in_flight = traffic_in_flight(t);
	unsigned stopped = stops(run);
	uint64_t start = rte_rdtsc();
	uint64_t heard = start;
	uint64_t now = start;
	bool complete = false;

	while (now - heard < ms(complete ? COMPLETE_MS : QUIET_MS) && stops(run) == stopped &&
	       (stopped == 0 || now - start < ms(STOPPED_MS))) {
		unsigned sent = traffic_send(t, now);
		unsigned received = run->send_only ? 0 : traffic_receive(t);
		uint64_t rest = 0, left;

		now = spent(sent + received > 0 ? &run->busy_cycles : &rest, now);
		left = traffic_in_flight(t);
		if (sent > 0 || left != in_flight)
			heard = now;
		in_flight = left;
		complete = (left == 0 || run->send_only) && traffic_all_sent(t);
	}
}

static void run_begun(struct run *run) {
	struct traffic *t = run->traffic;

	traffic_begin(t, rte_rdtsc());
	send_and_receive(run);
	traffic_stop(t);
	collect_rest(run);
	traffic_finish(t);
	publish(run);
}

int run_traffic(void *arg) {
	struct run *run = arg;

	if (!run->send_only)
		run_drain(run);
	run_begun(run);
	__atomic_store_n(&run->done, true, __ATOMIC_RELEASE);
	return 0;
}

/*
 * Between two trials nobody polls: packets of the last one may stand in the ports, and where that ended
 * early, modems may be in the middle of one. Returns whether all of this has come to its end.
 */
static bool traffic_settle(struct run *run) {
	uint64_t start = rte_rdtsc(), heard = start, now = start;
	bool sent = false;

	traffic_stop(run->traffic);
	while ((now - heard < ms(DRAIN_MS) || !sent) && now - start < ms(SETTLE_MAX_MS) &&
	       stops(run) == 0) {
		unsigned n = traffic_send(run->traffic, now) + traffic_drain(run->traffic);

		now = rte_rdtsc();
		if (n > 0)
			heard = now;
		sent = traffic_all_sent(run->traffic);
	}
	return sent;
}

int run_trial(void *arg) {
	struct trial *trial = arg;
	struct run *run = &trial->run;

	trial->settled = traffic_settle(run);
	trial->begun = trial->settled && traffic_restart(run->traffic, &trial->load) == 0;
	if (trial->begun) {
		if (trial->begins != NULL)
			trial->begins(trial->data_plane, &trial->load);
		run_begun(run);
	}
	__atomic_store_n(&run->done, true, __ATOMIC_RELEASE);
	return 0;
}
