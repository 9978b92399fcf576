/* SPDX-License-Identifier: BSD-3-Clause */
/* The main loop and its end conditions. */
#include "groups/run.h"

#include <rte_cycles.h>

#include "directions/downlink_change.h"
#include "directions/spent.h"
#include "directions/traffic_parts.h"

#define DRAIN_MS 10 /* in this time, packets of an earlier run arrive and are discarded */
#define DRAIN_MAX_MS 200 /* after this time, they are another program's traffic */
#define QUIET_MS 500 /* if no missing packet arrives in this time, the rest is lost */
#define COMPLETE_MS 20 /* all has arrived: only a duplicate could follow */
/* after this time, packets of an earlier trial are gone, or are another program's */
#define SETTLE_MAX_MS 5000
#define STOPPED_MS 5000 /* time to collect packets after a stop; a second stop ends it at once */
#define UNRESOLVED_MS 5000 /* maximum wait for changes that resolve frames */
#define PROGRESS_ROUNDS 1024

static uint64_t ms(uint64_t n) {
	return rte_get_tsc_hz() / 1000 * n;
}

/* Other threads read single counts: they need not be of the same time. */
static void publish_direction(struct progress *progress, const struct progress *now) {
	uint64_t *to = (uint64_t *)progress;
	const uint64_t *from = (const uint64_t *)now;

	for (size_t i = 0; i < sizeof(*now) / sizeof(*from); i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

static void progress_add(struct progress *sum, uint64_t sent_bytes, const struct proof *p,
			 const struct watch *watch) {
	uint64_t passed = 0;

	sum->sent_bytes += sent_bytes;
	sum->proven += p->proven;
	sum->duplicated += p->duplicated;
	sum->reordered += p->reordered;
	if (watch != NULL)
		sum->overtaken += watch_removed_so_far(watch, p, &passed);
	sum->lost += p->missing - RTE_MIN(p->missing, passed);
}

static void publish(struct run *run) {
	struct progress down = {0}, up = {0};

	for (unsigned i = 0; i < run->groups->count; i++) {
		const struct traffic *t = run->groups->all[i];
		const struct downlink *d = t->downlink;

		if (d != NULL) {
			progress_add(&down, d->generator->bytes, &d->account.proof,
				     d->follow != NULL ? &d->follow->watch : NULL);
			down.corrupted += account_corrupted(&d->account);
			down.undecipherable += d->account.undecipherable;
		}
		if (t->uplink != NULL) {
			progress_add(&up, uplink_sent_bytes(t->uplink), &t->uplink_receiver.proof,
				     t->follows ? &t->uplink_follow.watch : NULL);
			up.corrupted += uplink_receiver_corrupted(&t->uplink_receiver);
		}
	}
	down.lost -= RTE_MIN(down.lost, down.corrupted + down.undecipherable);
	up.lost -= RTE_MIN(up.lost, up.corrupted);
	publish_direction(&run->downstream, &down);
	publish_direction(&run->upstream, &up);
}

static unsigned stops(const struct run *run) {
	return __atomic_load_n(&run->stop, __ATOMIC_RELAXED);
}

static void run_drain(struct run *run) {
	uint64_t start = rte_rdtsc();
	uint64_t waited = 0;
	unsigned n;

	do {
		n = groups_drain(run->groups);
		waited = rte_rdtsc() - start;
	} while (waited < ms(n > 0 ? DRAIN_MAX_MS : DRAIN_MS) && stops(run) == 0);
}

static void send_and_receive(struct run *run) {
	struct groups *g = run->groups;
	uint64_t hz = rte_get_tsc_hz();
	uint64_t now = rte_rdtsc();
	uint64_t end = now + (uint64_t)((double)run->duration_ns * 1e-9 * (double)hz);
	unsigned rounds = 0;

	while (now < end) {
		uint64_t start = now;
		unsigned moved = groups_send(g, now);

		if (!run->send_only)
			moved += groups_receive(g);
		now = spent(moved > 0 ? &run->busy_cycles : &run->idle_cycles, start);
		if (++rounds % PROGRESS_ROUNDS == 0) {
			publish(run);
			if (stops(run) > 0)
				break;
		}
	}
}

/* Lets modems complete unfinished frames and receives packets in flight. A stop before this point
 * has ended only the sending. */
static void collect_rest(struct run *run) {
	struct groups *g = run->groups;
	uint64_t in_flight = groups_in_flight(g);
	unsigned stopped = stops(run);
	uint64_t start = rte_rdtsc();
	uint64_t last_active = start;
	uint64_t now = start;
	bool complete = false;

	while ((now - last_active < ms(complete ? COMPLETE_MS : QUIET_MS) ||
		(groups_unresolved(g) && now - start < ms(UNRESOLVED_MS))) &&
	       stops(run) == stopped && (stopped == 0 || now - start < ms(STOPPED_MS))) {
		unsigned sent = groups_send(g, now);
		unsigned received = run->send_only ? 0 : groups_receive(g);
		uint64_t rest = 0, left;

		now = spent(sent + received > 0 ? &run->busy_cycles : &rest, now);
		left = groups_in_flight(g);
		if (sent > 0 || left != in_flight || groups_pending(g))
			last_active = now;
		in_flight = left;
		complete = (left == 0 || run->send_only) && groups_all_sent(g);
	}
}

static void run_begun(struct run *run) {
	struct groups *g = run->groups;

	groups_begin(g, rte_rdtsc());
	send_and_receive(run);
	groups_stop(g);
	collect_rest(run);
	groups_finish(g);
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
 * Nothing polls between two trials: packets of the last one may be in the ports, and modems may have
 * unfinished frames if it ended early. Sends and discards them. Returns whether all of this has ended.
 */
static bool traffic_settle(struct run *run) {
	uint64_t start = rte_rdtsc(), last_active = start, now = start;
	bool sent = false;

	traffic_forget_shape(run->groups->all[0]);
	groups_stop(run->groups);
	while ((now - last_active < ms(DRAIN_MS) || !sent) && now - start < ms(SETTLE_MAX_MS) &&
	       stops(run) == 0) {
		unsigned n = groups_send(run->groups, now) + groups_drain(run->groups);

		now = rte_rdtsc();
		if (n > 0)
			last_active = now;
		sent = groups_all_sent(run->groups);
	}
	return sent;
}

int run_trial(void *arg) {
	struct trial *trial = arg;
	struct run *run = &trial->run;

	trial->settled = traffic_settle(run);
	trial->begun = trial->settled && traffic_restart(run->groups->all[0], &trial->load) == 0;
	if (trial->begun) {
		if (trial->begins != NULL)
			trial->begins(trial->data_plane, &trial->load);
		run_begun(run);
	}
	__atomic_store_n(&run->done, true, __ATOMIC_RELEASE);
	return 0;
}
