/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler_run.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "middle.h"

#define BATCH_ROUNDS 128
#define MAX_BATCHES 4096
#define WARM_UP 3 /* a run's time divided by that of its warm-up */
#define SETTLE_PACKETS 65536 /* checked together */
#define SETTLE_MAX 256 /* maximum number of these checks */

int drive_create(struct drive *d, const struct scheduler_subject *subject,
		 const struct bench_case *c, unsigned load, struct rte_mempool *pool) {
	double mean = packets_mean();
	double ns_per_byte = 8e9 / (double)case_rate(c);

	*d = (struct drive){
		.subject = subject,
		.mean = mean,
		.overhead = case_overhead(mean),
		.ns_per_byte = ns_per_byte,
	};
	d->step = SUBJECT_BURST * (mean + d->overhead) * ns_per_byte * 100 / load;
	d->state = subject->create(c, mean);
	if (d->state != NULL)
		d->packets = packets_create(pool, subject, d->state, case_flows(c), 1);
	return d->packets != NULL ? 0 : -1;
}

/* Packets that may be dequeued now: the wire may have work for SCHEDULER_LEAD_NS ahead, like a channel. */
static unsigned allowance(const struct drive *d) {
	double ahead = d->wire_free > d->now ? d->wire_free - d->now : 0;
	double packets;

	if (d->subject->shapes)
		return SUBJECT_BURST;
	packets = (SCHEDULER_LEAD_NS - ahead) / ((d->mean + d->overhead) * d->ns_per_byte);
	return packets < 0 ? 0 : packets > SUBJECT_BURST ? SUBJECT_BURST : (unsigned)packets;
}

/* A burst arrives. Only the call of the subject is timed. */
static void enqueue(struct drive *d, struct tally *t) {
	struct rte_mbuf *burst[SUBJECT_BURST];
	unsigned queued;
	uint64_t start;

	t->offered_bytes += packets_next(d->packets, burst, SUBJECT_BURST);
	start = rte_rdtsc();
	queued = d->subject->enqueue(d->state, (uint64_t)d->now, burst);
	t->enqueue_cycles += rte_rdtsc() - start;
	t->offered += SUBJECT_BURST;
	t->dropped += SUBJECT_BURST - queued;
	d->queued += queued;
}

static void dequeue(struct drive *d, struct tally *t) {
	struct rte_mbuf *burst[SUBJECT_BURST];
	unsigned max = allowance(d), sent;
	uint64_t start, cycles, bytes;

	if (max == 0)
		return;
	start = rte_rdtsc();
	sent = d->subject->dequeue(d->state, (uint64_t)d->now, burst, max);
	cycles = rte_rdtsc() - start;
	if (sent == 0) {
		t->idle_cycles += cycles;
		t->idle_calls++;
		return;
	}
	bytes = packets_recycle(d->packets, burst, sent);
	t->dequeue_cycles += cycles;
	t->sent += sent;
	t->sent_bytes += bytes;
	d->queued -= sent;
	if (d->wire_free < d->now)
		d->wire_free = d->now;
	d->wire_free += ((double)bytes + sent * d->overhead) * d->ns_per_byte;
}

/* Waits until the TSC has reached the simulated time. */
static void wait_for_now(const struct drive *d) {
	uint64_t due = d->tsc_start + (uint64_t)(d->now * (double)rte_get_tsc_hz() / 1e9);

	while (rte_rdtsc() < due)
		rte_pause();
}

/* The second dequeue call gets packets beyond the first burst, or none. Returns 0, or -1 after a
 * message. */
static int run_round(struct drive *d, struct tally *t) {
	if (d->real_time)
		wait_for_now(d);
	enqueue(d, t);
	dequeue(d, t);
	dequeue(d, t);
	if (packets_fill(d->packets) != 0) {
		fprintf(stderr, "%s: no buffers, %lu packets are queued\n", d->subject->name,
			(unsigned long)d->queued);
		return -1;
	}
	d->now += d->step;
	t->ns += (uint64_t)d->step;
	return 0;
}

static int run_rounds(struct drive *d, unsigned rounds, struct tally *t) {
	for (unsigned i = 0; i < rounds; i++) {
		if (run_round(d, t) != 0)
			return -1;
	}
	return 0;
}

int drive_settle(struct drive *d, const struct bench_case *c) {
	uint64_t min = 4 * (uint64_t)case_flows(c), packets = 0;

	for (unsigned i = 0; i < SETTLE_MAX; i++) {
		struct tally t = {0};
		uint64_t done;

		if (run_rounds(d, SETTLE_PACKETS / SUBJECT_BURST, &t) != 0)
			return -1;
		packets += t.offered;
		done = t.sent + t.dropped;
		if (packets >= min && done + t.offered / 100 >= t.offered)
			return 0;
	}
	fprintf(stderr, "%s: %s does not settle\n", c->name, d->subject->name);
	return -1;
}

/* Adds all but the idle calls. */
static void tally_add(struct tally *sum, const struct tally *t) {
	sum->enqueue_cycles += t->enqueue_cycles;
	sum->dequeue_cycles += t->dequeue_cycles;
	sum->offered += t->offered;
	sum->dropped += t->dropped;
	sum->sent += t->sent;
	sum->offered_bytes += t->offered_bytes;
	sum->sent_bytes += t->sent_bytes;
	sum->ns += t->ns;
}

static uint64_t mean_order(uint64_t cycles, uint64_t count) {
	return count > 0 ? (cycles << 10) / count : UINT64_MAX;
}

/* Idle calls are few, so they have their own middle half: an interruption in one would hide in the
 * batch's order. */
static void middle_idle(struct tally *batches, unsigned count, struct tally *out) {
	unsigned idle = 0;

	for (unsigned i = 0; i < count; i++) {
		batches[i].order = mean_order(batches[i].idle_cycles, batches[i].idle_calls);
		idle += batches[i].idle_calls > 0;
	}
	middle_half(batches, count, sizeof(*batches)); /* batches without idle calls are last */
	for (unsigned i = idle / 4; i < idle - idle / 4; i++) {
		out->idle_cycles += batches[i].idle_cycles;
		out->idle_calls += batches[i].idle_calls;
	}
}

static void middle_of(struct tally *batches, unsigned count, struct tally *out) {
	struct middle half;

	for (unsigned i = 0; i < count; i++)
		batches[i].order = mean_order(batches[i].enqueue_cycles + batches[i].dequeue_cycles,
					      batches[i].offered);
	half = middle_half(batches, count, sizeof(*batches));
	for (unsigned i = half.first; i < half.end; i++)
		tally_add(out, &batches[i]);
	middle_idle(batches, count, out);
}

/* The value that the TSC has after so many milliseconds. */
static uint64_t tsc_in(unsigned milliseconds) {
	return rte_rdtsc() + rte_get_tsc_hz() * milliseconds / 1000;
}

/* Runs batches until the TSC reaches `end`, at least one. Returns their number, or 0 after a message. */
static unsigned run_batches(struct drive *d, uint64_t end, struct tally *batches) {
	unsigned count = 0;

	do {
		if (run_rounds(d, BATCH_ROUNDS, &batches[count]) != 0)
			return 0;
	} while (++count < MAX_BATCHES && rte_rdtsc() < end);
	return count;
}

/* Warms the caches, which the run of another scheduler has replaced. */
static int warm_up(struct drive *d, uint64_t end) {
	while (rte_rdtsc() < end) {
		struct tally t = {0};

		if (run_rounds(d, BATCH_ROUNDS, &t) != 0)
			return -1;
	}
	return 0;
}

int drive_run(struct drive *d, unsigned milliseconds, struct tally *out) {
	struct tally *batches = calloc(MAX_BATCHES, sizeof(*batches));
	unsigned count = 0;

	*out = (struct tally){0};
	if (batches == NULL)
		fprintf(stderr, "no memory for the figures\n");
	d->tsc_start = rte_rdtsc() - (uint64_t)(d->now * (double)rte_get_tsc_hz() / 1e9);
	if (batches != NULL && warm_up(d, tsc_in(milliseconds / WARM_UP)) == 0)
		count = run_batches(d, tsc_in(milliseconds), batches);
	if (count > 0)
		middle_of(batches, count, out);
	free(batches);
	return count > 0 ? 0 : -1;
}

void drive_free(struct drive *d) {
	struct rte_mbuf *burst[SUBJECT_BURST];

	for (unsigned idle = 0; d->packets != NULL && d->queued > 0 && idle < 1000; d->now += 1e6) {
		unsigned n = d->subject->dequeue(d->state, (uint64_t)d->now, burst, SUBJECT_BURST);

		rte_pktmbuf_free_bulk(burst, n);
		d->queued -= n;
		idle = n > 0 ? 0 : idle + 1;
	}
	packets_free(d->packets);
	if (d->state != NULL)
		d->subject->free(d->state);
}
