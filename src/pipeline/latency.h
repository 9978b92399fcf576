/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of packets in a pipeline, from the burst of the receive stage to the burst that the port
 * accepted from the transmit stage.
 *
 * Measuring is off by default. It reads the TSC once per burst at either end.
 *
 * Downstream, a packet's time ends with the DEPI frame that carries its last byte. Upstream, it
 * begins with the L2TPv3 packet that contains the trailer of the frame's last UEPI burst. Delays of the
 * modem or R-PHY device do not count; waiting for earlier packets, segments or fragments that
 * arrive later does.
 *
 * The arrival time is in the mbuf (struct packet_meta) and survives queues, the crypto device and
 * the chaining to DEPI frames. A fragment without the packet's last byte has none. So the
 * arrival times in a DEPI frame are those of the packets that end in it. The transmit stage reads them before
 * the port owns the frame, and keeps them in a latency_line until the port accepts it.
 *
 * One writer, the transmitting worker, records. A reader exchanges the writer's histogram for an
 * empty one, and waits until the writer has seen that. The worker never waits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hdr_histogram.h>
#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "pipeline/packet.h"

/* The latency of one direction. Zeroed: off. */
struct latency {
	/* read by the workers of the direction */
	bool on;
	uint64_t since; /* ticks, above 0: earlier packets are not counted */
	uint64_t ns_per_tick_q32; /* fixed point, 32 fractional bits */
	const uint64_t *simulated; /* ns, instead of the TSC; NULL in service */
	/* of the transmitting worker */
	struct hdr_histogram *into __rte_cache_aligned; /* ns */
	uint32_t bursts; /* odd while it records a burst */
	/* of the reader */
	struct hdr_histogram *spare __rte_cache_aligned; /* empty */
	/* ns; since latency_reset(), and since measuring was switched on */
	struct hdr_histogram *recent, *whole;
};

/* A ring of times of packets that end in DEPI frames which the port has not accepted yet. */
struct latency_line {
	uint64_t *arrived; /* ticks */
	uint32_t size; /* a power of two; 0: not created */
	uint32_t first, count;
};

/* Switches measuring on or off while no worker runs. If it was off, switching it on takes the readers' lock and
 * clears the results; packets already in the pipeline do not count. Returns 0, or -1 without memory, which leaves
 * it off. */
int latency_switch(struct latency *l, bool on);

/*
 * The same in two parts, while workers run: first latency_prepare(), then latency_set().
 *
 * The reader calls latency_prepare(), which allocates memory and clears the results. It takes the
 * readers' lock, so the caller must not have it. It does nothing if measuring is on. It returns 0, or
 * -1 without memory. The transmitting worker calls latency_set() between two rounds; it cannot fail.
 */
int latency_prepare(struct latency *l);
void latency_set(struct latency *l, bool on);

/* Allocates the memory of latency_prepare() ahead, so that it cannot fail, and keeps the results. Takes the readers'
 * lock. Returns 0, or -1 without memory. */
int latency_reserve(struct latency *l);

/* For tests: uses the time `*ns`, which must outlive `l`, from now on. Call it while measuring is off. */
void latency_simulate(struct latency *l, const uint64_t *ns);

/* Frees the results and switches measuring off. No worker may measure, and the caller excludes readers. */
void latency_free(struct latency *l);

/* Whether memory for results exists, as after latency_prepare() and latency_reserve(). */
bool latency_measured(const struct latency *l);

/* Serialize readers of all latencies of the process: around latency_collect(), latency_reset() and
 * reads of the histograms. Not recursive. Workers never take the lock. */
void latency_readers_lock(void);
void latency_readers_unlock(void);

/* Moves recorded times to `recent` and `whole`, also while workers run. The caller has the
 * readers' lock, and latency_measured() must be true. */
void latency_collect(struct latency *l);

/* Clears `recent`, under the readers' lock of the caller. */
void latency_reset(struct latency *l);

/* Records the time from arrival until now of `n` packets that the port has just accepted. `arrived` is in
 * ticks; times before `since` and 0 are ignored. Only the transmitting worker may call it, and only after
 * latency_prepare(). */
void latency_record(struct latency *l, const uint64_t *arrived, unsigned n);

/* Allocates memory for `packets` at a time. An existing line stays as it is. Returns 0, or -1 without
 * memory. */
int latency_line_create(struct latency_line *line, uint32_t packets);
void latency_line_free(struct latency_line *line);

/* Adds the times of packets that end in the DEPI frame, as far as the line has capacity. Returns how many it
 * added: the share of the frame in `n` of latency_line_record(). */
uint16_t latency_line_add(struct latency_line *line, const struct latency *l,
			  const struct rte_mbuf *frame);

/* Records and removes the first `n` times of the line, as the port has just accepted their frames. `n` is at most `count`. Only
 * the transmitting worker may call it, and only after latency_prepare(). */
void latency_line_record(struct latency_line *line, struct latency *l, uint32_t n);

static inline bool latency_on(const struct latency *l) {
	return unlikely(__atomic_load_n(&l->on, __ATOMIC_ACQUIRE));
}

static inline uint64_t latency_now(const struct latency *l) {
	return likely(l->simulated == NULL) ? rte_rdtsc() : *l->simulated;
}

/* Stamps a burst that has just arrived. */
static inline void latency_arrive(const struct latency *l, struct rte_mbuf **pkts, uint16_t n) {
	uint64_t now;

	if (n == 0 || !latency_on(l))
		return;
	now = latency_now(l);
	for (uint16_t i = 0; i < n; i++)
		packet_meta(pkts[i])->arrived = now;
}
