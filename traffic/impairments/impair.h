/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Impairs the upstream at random, by seed, and reports each fault to the shadow (shadow.h). Each function
 * is called where the object is made: frame, burst, packet.
 *
 * Spares the beginning of streams and sessions, and everything after impair_stop(). In streams of pre-3.0
 * modems, which have no sequence numbers, it spares bursts close to a hit one: fragments of two units could
 * not be distinguished.
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

#define IMPAIR_DELAYED 8 /* maximum delayed packets per session */

struct impair_delayed {
	struct rte_mbuf *m;
	uint64_t since; /* TSC */
	uint32_t release; /* value of `put` at which it is sent */
	uint16_t number; /* PSP sequence number */
	bool late;
};

struct impair_session {
	struct impair *impair;
	struct shadow_session shadow;
	bool data;
	bool begun;
	uint16_t highest; /* highest number sent, once `begun` */
	uint32_t closed; /* number of packets closed */
	uint32_t put; /* number of packets put into the output */
	unsigned delayed_count;
	struct impair_delayed delayed[IMPAIR_DELAYED];
};

struct impair {
	struct impair_shares shares;
	struct random random;
	bool stopped;
	struct shadow shadow;
	struct crypto_provider *crypto;
	struct crypto_key foreign; /* key that no modem has */
	struct uplink_flows *flows;
	struct uplink_rphy *rphy;
	struct uplink_output *output;
	struct impair_session *sessions; /* three per channel */
	unsigned session_count;
	unsigned delayed; /* delayed packets of all sessions */
	uint64_t max_delay; /* maximum delay in TSC cycles, except for late packets */
	uint64_t hits[IMPAIRMENTS];
};

/* Impairs the sessions of `rphy` from now on. All arguments must outlive the result. Returns NULL
 * after a message. The caller frees it with impair_free(). */
struct impair *impair_create(const struct impair_shares *shares, const struct service_group *sg,
			     struct uplink_flows *flows, struct uplink_rphy *rphy,
			     struct crypto_provider *crypto, uint64_t seed);
void impair_free(struct impair *im);

/* Stops impairing. Returns how many grants must follow so that every stream and session continues
 * after its last fault. */
uint32_t impair_stop(struct impair *im);

/* Callbacks for the modems' frames and for the R-PHY device's sessions. */
extern const struct frame_impairer impair_frames;
extern const struct session_impairer impair_sessions;

/* Flips the bits that were drawn for a grant, in its encrypted frames, before uplink_grant_finish(). `im`
 * NULL: does nothing. */
void impair_grant(struct impair *im, struct uplink_grant *g);

/* Impairs the burst of a grant. Returns whether it is sent; if not, its packets count as sent here. */
bool impair_burst(struct impair *im, struct uplink_grant *g, struct uplink_burst *b);

/* Sends packets that were delayed for long enough. `all`: sends all of them, but drops late ones. */
void impair_release(struct impair *im, uint64_t now, bool all);

/* Draws the impairment of a packet, burst or frame by the shares. IMPAIRMENTS: none, or one that is not in
 * the bitmap `allowed` (impair_bit()). */
enum impairment impair_draw(struct impair *im, enum impair_target target, uint32_t allowed);

/* Whether burst `number` of a stream may be hit; impair_hit() records a hit. */
bool impair_may_hit(const struct shadow_stream *st, uint32_t number);
void impair_hit(struct impair *im, struct shadow_stream *st, uint32_t number, enum impairment kind);

static inline uint32_t impair_bit(enum impairment kind) {
	return 1u << kind;
}
