/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modems that wait for their grants: MAPs come by the MAP pseudowires, packets come to the modems' queues, and
 * what traffic/access decides becomes bursts and requests at the times of their minislots.
 *
 *     MAP pseudowires --> MAPs ----\                         / when their minislots are over --> bursts
 *                                  access: who asks, when --+
 *     packets' arrivals --> queues /                         \ requests, collisions
 *
 * MAPs are taken of the pseudowires, not of the downstream sessions that modems hear: the R-PHY device has to have
 * them there before it receives anything, they come also where nothing is sent downstream, and wait for no other
 * frames. The interleaver's delay and that of the distance are added to when they came.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "access/access.h"
#include "access/due.h"
#include "grants/arrivals.h"
#include "grants/grants_result.h"
#include "grants/map_watch.h"
#include "impairments/impair_shares.h"
#include "model/service_group.h"
#include "modems/uplink_flow.h"
#include "pipeline/clock.h"
#include "pipeline/docsis_clock.h"
#include "random/random.h"
#include "rphy/map_pseudowire.h"

struct grants {
	const struct service_group *sg;
	struct uplink_flows *flows;
	struct clock worker; /* ns since the start, which DOCSIS time goes on by */
	struct docsis_clock clock;
	struct access *access;
	struct access_counts earlier; /* of modems before a jump of the clock */
	struct arrivals arrivals;
	struct map_pseudowires wires;
	struct random random;
	struct impair_shares impair;
	uint64_t seed;
	uint64_t now; /* DOCSIS time of this round */
	uint64_t interleaver; /* samples */
	uint8_t *units; /* N, by stream */
	/* What is sent when its minislots are over: by its number in `ends`, or not in use. */
	struct access_event *events;
	uint32_t *unused;
	uint32_t unused_count, event_count;
	uint32_t carrying; /* of the events, those with bytes of a queue */
	struct due ends;
	uint32_t first; /* the event that grants_next() has given, and which is not done */
	bool has_first;
	bool ucd_known[SG_MAX_UPSTREAM_CHANNELS];
	uint8_t ucd_count[SG_MAX_UPSTREAM_CHANNELS];
	struct map_watch watches[SG_MAX_UPSTREAM_CHANNELS];
	struct grants_result result; /* what is counted here */
};

/*
 * `sg` and `flows` must live on; `impair` has the shares of what goes wrong with MAPs, requests and modems. Returns
 * NULL after a message. To be freed by grants_free().
 */
struct grants *grants_create(const struct service_group *sg, struct uplink_flows *flows,
			     const struct impair_shares *impair, uint64_t seed);
void grants_free(struct grants *g);

/* What lacks in a service group that can give no grants, in a line; NULL: nothing. */
const char *grants_lack(const struct service_group *sg);

/* Takes what is of a MAP pseudowire out of `n` frames that have come, and frees it. Returns how many are
 * left, in front. */
unsigned grants_hear(struct grants *g, struct rte_mbuf **frames, unsigned n);

/* A round: time goes on, and modems decide what they send. */
void grants_round(struct grants *g);

/* A packet comes to the stream's queue; `size` bytes with MAC header and CRC. Returns false where that is full. */
bool grants_arrive(struct grants *g, struct uplink_stream *s, uint32_t size, uint64_t now);

/* The next event whose minislots are over, to be given back by grants_done(); NULL where there is none. */
const struct access_event *grants_next(struct grants *g);
void grants_done(struct grants *g);

/* N of a stream's requests. */
static inline uint8_t grants_unit(const struct grants *g, uint32_t stream) {
	return g->units[stream];
}

/* Whether a request gets lost on its way, as an impairment. */
bool grants_loses_request(struct grants *g);

/* The stream's first packet, of `size` bytes in its queue, is given up. Returns false, with nothing done, where its
 * bytes are granted already. */
bool grants_give_up(struct grants *g, uint32_t stream, uint32_t size);

/* Whether nothing waits, and nothing is decided that was not sent, but for requests without end. */
bool grants_idle(const struct grants *g);

/* Draws whether an impairment happens. */
bool grants_happens(struct grants *g, enum impairment kind);

void grants_result(const struct grants *g, struct grants_result *out);
