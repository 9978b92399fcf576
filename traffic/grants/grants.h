/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduled modems: receives MAPs from the MAP pseudowires, queues arriving packets, and turns the
 * decisions of traffic/access into bursts and requests at the times of their minislots.
 *
 *     MAP pseudowires --> MAPs ----\                            / when their minislots are over --> bursts
 *                                  access: requests, grants --+
 *     packets' arrivals --> queues /                            \ requests, collisions
 *
 * MAPs come from the pseudowires, not from the downstream sessions of the modems. The R-PHY device needs
 * them before it receives a burst. They are sent on an idle downstream too, and do not queue behind other
 * frames. The delays of interleaver and distance are added to the time of arrival.
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
	struct clock worker; /* ns since the start, input of the DOCSIS clock */
	struct docsis_clock clock;
	struct access *access;
	struct access_counts earlier; /* counts of the modems before a jump of the clock */
	struct arrivals arrivals;
	struct map_pseudowires wires;
	struct random random;
	struct impair_shares impair;
	uint64_t seed;
	uint64_t now; /* DOCSIS time of this round */
	uint64_t interleaver; /* samples */
	uint8_t *units; /* N, by stream */
	/* Transmissions until their minislots are over. `ends` and `unused` have indices of these. */
	struct access_event *events;
	uint32_t *unused;
	uint32_t unused_count, event_count;
	uint32_t carrying; /* number of events that carry queue bytes */
	struct due ends;
	uint32_t first; /* event that grants_next() returned, until grants_done() */
	bool has_first;
	bool ucd_known[SG_MAX_UPSTREAM_CHANNELS];
	uint8_t ucd_count[SG_MAX_UPSTREAM_CHANNELS];
	struct map_watch watches[SG_MAX_UPSTREAM_CHANNELS];
	/* counts of traffic/grants and of the bursts sent; grants_result() adds the others */
	struct grants_result result;
};

/* Creates the modems. `sg` and `flows` must outlive them; `impair` has the shares of impaired MAPs,
 * requests and modems. Returns NULL after a message. The caller frees it with grants_free(). */
struct grants *grants_create(const struct service_group *sg, struct uplink_flows *flows,
			     const struct impair_shares *impair, uint64_t seed);
void grants_free(struct grants *g);

/* The missing setting, as a line, of a service group that cannot give grants; NULL: none. */
const char *grants_missing_setting(const struct service_group *sg);

/* Removes the frames of MAP pseudowires from `n` received frames, processes and frees them. Returns
 * the number of other frames, which move to the front. */
unsigned grants_receive_maps(struct grants *g, struct rte_mbuf **frames, unsigned n);

/* Runs a round: advances the time and lets the modems decide. */
void grants_round(struct grants *g);

/* Queues a packet of `size` bytes, MAC header and CRC included, for the stream at TSC `now`. Returns
 * false if the queue is full. */
bool grants_arrive(struct grants *g, struct uplink_stream *s, uint32_t size, uint64_t now);

/* The next event whose minislots are over, or NULL. The caller must release it with grants_done(). */
const struct access_event *grants_next(struct grants *g);
void grants_done(struct grants *g);

/* N (bytes per request unit) of a stream. */
static inline uint8_t grants_unit(const struct grants *g, uint32_t stream) {
	return g->units[stream];
}

/* Draws whether an impairment loses a request, and counts it. */
bool grants_draw_request_loss(struct grants *g);

/* Discards the stream's first packet, of `size` bytes in its queue. Returns false without effect if
 * its bytes are already granted. */
bool grants_give_up(struct grants *g, uint32_t stream, uint32_t size);

/* Whether the queues are empty and all decided bursts sent, except for modems that request endlessly. */
bool grants_idle(const struct grants *g);

/* Draws the impairment of a MAP; IMPAIRMENTS: none. */
enum impairment grants_draw_map(struct grants *g);

/* Gets all counts, also those of the modems and MAP pseudowires. */
void grants_result(const struct grants *g, struct grants_result *out);
