/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of one direction that passed every check: each counted once, in its stream's order. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hdr_histogram.h>

#include "pipeline/percentiles.h"
#include "proof/prefetch.h"
#include "proof/resequencer.h"
#include "proof/suspects.h"
#include "proof/window.h"

struct proof {
	struct window *streams;
	uint64_t *made; /* by stream: TSC at which the last packet received in order was made */
	struct suspects suspects; /* times at which lost or reordered packets were under way */
	uint32_t stream_count;
	bool untimed; /* latency is not recorded; set after proof_restart(), which resets it */
	uint64_t proven; /* distinct packets */
	uint64_t proven_bytes; /* Ethernet frames without CRC */
	uint64_t duplicated;
	uint64_t reordered; /* proven packets received after a later one of their stream */
	uint64_t missing; /* sequence numbers skipped and not received since */
	int64_t ended_missing; /* packets of ended streams that did not arrive */
	uint64_t latency_unknown; /* proven packets whose time of sending is not kept any more */
	uint64_t last_tsc; /* of the last packet proven */
	uint64_t tsc_to_ns_q32;
	struct hdr_histogram *latency; /* ns; NULL: not recorded */
};

/* Records latencies if `latency`. Returns 0, or -1 if memory is short; `p` is then empty. The caller frees it with
 * proof_free(). */
int proof_create(struct proof *p, uint32_t streams, uint64_t tsc_hz, bool latency);

void proof_free(struct proof *p);

/* Restarts: all counts are 0 and all streams begin with 0. */
void proof_restart(struct proof *p);

/*
 * Counts a packet of `packet->stream`, below the number of streams, at TSC `now`. It was made at
 * `packet->tsc`; 0: unknown. Duplicates and packets that are too old are not proven; the caller counts the
 * latter.
 */
enum arrival proof_arrive(struct proof *p, const struct arrived *packet, uint64_t now);

/* Prefetches what proof_arrive() needs for a packet of `stream`. */
static inline void proof_prefetch(const struct proof *p, uint32_t stream) {
	prefetch_record(&p->streams[stream], sizeof(*p->streams));
	rte_prefetch0(&p->made[stream]);
}

/* Ends a stream of which `made` packets were sent, so that another stream can use its number. */
void proof_end_stream(struct proof *p, uint32_t stream, uint32_t made);

/* Number of the `made` packets of a stream that did not arrive. Negative if more arrived than were made. */
static inline int64_t proof_stream_missing(const struct proof *p, uint32_t stream, uint32_t made) {
	const struct window *w = &p->streams[stream];

	return (int64_t)(int32_t)(made - w->next) + w->missing;
}

/* Frames received and not proven. */
struct proof_damage {
	uint64_t corrupted;
	uint64_t undecipherable;
};

/* Outcome of the packets sent and not proven. */
struct proof_balance {
	uint64_t lost;
	uint64_t duplicated;
	uint64_t corrupted;
	uint64_t undecipherable;
};

/* Balances `missing` packets that are not proven. Each damaged frame was one of them, unless its
 * valid copy arrived too: then it is a damaged duplicate. */
struct proof_balance proof_balance(const struct proof *p, uint64_t missing,
				   const struct proof_damage *damage);

/* Histogram of latencies in ns, owned by the proof; NULL if not recorded. */
static inline const struct hdr_histogram *proof_histogram(const struct proof *p) {
	return p->untimed ? NULL : p->latency;
}

/* All 0 if nothing was recorded. */
struct percentiles proof_latency_us(const struct proof *p);
