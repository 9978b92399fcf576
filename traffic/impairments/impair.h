/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Impairs the upstream while it is sent, by a seeded generator, and tells the shadow (shadow.h) what
 * was done. Each function is called where a thing was made: frame, burst, packet.
 *
 * Nothing is hit at the beginning of a stream or session, nor after impair_calm(). Of the streams of
 * pre-3.0 modems, which have no numbers, bursts close to one that was hit are spared: fragments of two
 * units could not be told from each other.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "impairments/impair_shares.h"
#include "impairments/shadow.h"
#include "modems/uplink_flow.h"
#include "modems/uplink_frames.h"
#include "random/random.h"
#include "rphy/uplink_rphy.h"
#include "rphy/uplink_session.h"

#define IMPAIR_HELD 8 /* packets of a session that are held back at a time */

struct impair_held {
	struct rte_mbuf *m;
	uint64_t since; /* TSC */
	uint32_t release; /* when so many packets of the session were put out */
	uint16_t number; /* of PSP */
	bool late;
};

struct impair_session {
	struct impair *impair;
	struct shadow_session shadow;
	bool data;
	bool begun;
	uint16_t highest; /* number put out */
	uint32_t closed; /* packets */
	uint32_t put;
	unsigned held_count;
	struct impair_held held[IMPAIR_HELD];
};

struct impair {
	struct impair_shares shares;
	struct random random;
	bool calm;
	struct shadow shadow;
	struct crypto_provider *crypto;
	struct crypto_key stray; /* nobody's */
	struct uplink_flows *flows;
	struct uplink_rphy *rphy;
	struct uplink_output *output;
	struct impair_session *sessions; /* three a channel */
	unsigned session_count;
	unsigned held; /* packets, in all sessions */
	uint64_t
		patience; /* TSC cycles that a packet is held back at most, unless it is to be late */
	uint64_t hits[IMPAIRMENTS];
};

/*
 * The sessions of `rphy` are impaired from now on, and all of the
 * arguments must live on. Returns NULL after a message. To be freed by impair_free().
 */
struct impair *impair_create(const struct impair_shares *shares, const struct service_group *sg,
			     struct uplink_flows *flows, struct uplink_rphy *rphy,
			     struct crypto_provider *crypto, uint64_t seed);
void impair_free(struct impair *im);

/* Nothing is hit from now on. Returns how many grants must follow, so that all of the streams and
 * sessions have something behind what was hit. */
uint32_t impair_calm(struct impair *im);

/* Of the modems' frames, and of the R-PHY device's sessions. */
extern const struct frame_impairer impair_frames;
extern const struct session_impairer impair_sessions;

/* The frames of a grant are encrypted, and not cut: bits become wrong. With NULL none do. */
void impair_grant(struct impair *im, struct uplink_grant *g);

/* The burst of a grant was cut. Returns whether it is sent; what is in it counts as sent then. */
bool impair_burst(struct impair *im, struct uplink_grant *g, struct uplink_burst *b);

/* Puts out what was held back for long enough, or all of it. */
void impair_release(struct impair *im, uint64_t now, bool all);

/* Draws what happens to a packet, burst or frame, out of what `allowed` has a bit for. */
enum impairment impair_draw(struct impair *im, enum impair_target target, uint32_t allowed);

/* Whether burst `number` of a stream may be hit, and that it was. */
bool impair_may_hit(const struct shadow_stream *st, uint32_t number);
void impair_hit(struct impair *im, struct shadow_stream *st, uint32_t number, enum impairment kind);

static inline uint32_t impair_bit(enum impairment kind) {
	return 1u << kind;
}
