/* SPDX-License-Identifier: BSD-3-Clause */
/* The packets of one direction that passed every check: each counted once, in its stream's order. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hdr_histogram.h>

#include "pipeline/percentiles.h"
#include "proof/resequencer.h"
#include "proof/suspects.h"
#include "proof/window.h"

struct proof {
	struct window *streams;
	uint64_t *
		made; /* of each stream: TSC at which the last packet that came in order was made */
	struct suspects
		suspects; /* when those were under way that were lost or came out of order */
	uint32_t stream_count;
	bool untimed; /* no latency is recorded */
	uint64_t proven; /* no packet counts twice */
	uint64_t proven_bytes; /* Ethernet frames without CRC */
	uint64_t duplicated;
	uint64_t reordered; /* of the proven ones, those behind a later one of their stream */
	uint64_t missing; /* sequence numbers passed over and not seen since */
	int64_t ended_missing; /* packets of streams that have ended which did not arrive */
	uint64_t latency_unknown; /* of the proven ones, those whose start is forgotten */
	uint64_t last_tsc; /* of the last packet proven */
	uint64_t tsc_to_ns_q32;
	struct hdr_histogram *latency; /* ns; NULL: is not recorded */
};

/* With `latency` it is recorded how long packets took. Returns 0, or -1 when memory is short. */
int proof_create(struct proof *p, uint32_t streams, uint64_t tsc_hz, bool latency);

void proof_free(struct proof *p);

/* As it was when it was made: all counts are 0, and all streams begin with 0. */
void proof_restart(struct proof *p);

/*
 * Takes note of a packet of `packet->stream`, below the number of streams, at TSC `now`. It took
 * since `packet->tsc`; 0 where that is not known. Duplicates and packets that are too old are not
 * proven; the latter are the caller's to count.
 */
enum arrival proof_arrive(struct proof *p, const struct arrived *packet, uint64_t now);

/* A stream ends of which `made` packets were sent, and its number is for another one. */
void proof_end_stream(struct proof *p, uint32_t stream, uint32_t made);

/* Of `made` packets of a stream, those that did not arrive. Less than 0: more arrived than were made. */
static inline int64_t proof_stream_missing(const struct proof *p, uint32_t stream, uint32_t made) {
	const struct window *w = &p->streams[stream];

	return (int64_t)(int32_t)(made - w->next) + w->missing;
}

/* Frames that arrived and are not proven. */
struct proof_damage {
	uint64_t corrupted;
	uint64_t undecipherable;
};

/* What became of the packets that were sent and not proven. */
struct proof_balance {
	uint64_t lost;
	uint64_t duplicated;
	uint64_t corrupted;
	uint64_t undecipherable;
};

/*
 * Of `missing` packets that are not proven. Each damaged frame was one of them, unless its good copy
 * came too: then it is a duplicate that was damaged.
 */
struct proof_balance proof_balance(const struct proof *p, uint64_t missing,
				   const struct proof_damage *damage);

/* Of latencies in ns, the proof's own; NULL where they are not recorded. */
static inline const struct hdr_histogram *proof_histogram(const struct proof *p) {
	return p->untimed ? NULL : p->latency;
}

/* All 0 where nothing was recorded. */
struct percentiles proof_latency_us(const struct proof *p);
