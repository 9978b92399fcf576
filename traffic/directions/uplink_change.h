/* SPDX-License-Identifier: BSD-3-Clause */
/* A change of the service group for an uplink and its receiver; see downlink_change.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "directions/unresolved.h"
#include "directions/uplink.h"
#include "directions/uplink_receiver.h"
#include "modems/uplink_flow.h"
#include "modems/uplink_packets.h"
#include "proof/watch.h"

struct uplink_change {
	bool tables; /* replaces the whole generation; false: only keys */
	struct uplink_plan plan;
	struct uplink_sources sources;
	struct rewrites rewrites;
	struct upstream_channel *channels; /* by index */
	uint32_t channel_count;
	uint32_t *fresh; /* as in struct downlink_change */
	uint32_t fresh_count;
	struct stream_mark *marks;
	uint32_t mark_count;
	struct key_store *store; /* of `rekeys` */
	struct uplink_modem *rekeys; /* ordered by modem index */
	uint32_t rekey_count;
	uint32_t grant_size; /* for the new set of modems */
	double lowest;
	uint64_t until; /* TSC at which it is given back */
	struct uplink_change *newer;
	bool done; /* given back to the thread that prepared it */
};

struct uplink_follow {
	struct unresolved unresolved; /* frames of the network port */
	uint64_t known, resolved; /* as downlink_follow has them */
	struct watch watch;
	struct uplink_change *oldest, *newest;
	uint64_t keep; /* TSC cycles */
};

/* Whether frames are unresolved; on any thread. */
static inline bool uplink_has_unresolved(const struct uplink_follow *f) {
	return __atomic_load_n(&f->unresolved.count, __ATOMIC_RELAXED) > 0;
}

/* Allocates the state that an uplink and its receiver need to follow changes. Returns false after a
 * message. The caller must call uplink_follow_end() in either case. */
bool uplink_follow_begin(struct uplink_follow *f, const struct uplink *u, struct uplink_receiver *r,
			 uint64_t tsc_hz);

void uplink_follow_end(struct uplink_follow *f, struct uplink *u, struct uplink_receiver *r);

/*
 * Prepare the change for a configuration, on any thread. The first function builds the sources and sets
 * `silent`, by index, for modems that have no address for the packets. The second one builds the rest.
 * Return false after a message.
 */
bool uplink_change_sources(struct uplink_change *c, const struct uplink *u,
			   const struct service_group *sg, bool *silent);
bool uplink_change_plan(struct uplink_change *c, struct uplink *u, const struct service_group *sg,
			const struct uplink_plan_follow *follow);

/* Applies a change at TSC `now`. Returns false without effect if the uplink is within a round. */
bool uplink_change_apply(struct uplink_follow *f, struct uplink *u, struct uplink_receiver *r,
			 struct uplink_change *c, uint64_t now);

/* Expires watches and old generations at TSC `now`, and gives unresolved frames their verdict. */
void uplink_follow_round(struct uplink_follow *f, struct uplink *u, struct uplink_receiver *r,
			 uint64_t now);

/* Frees the contents of a change that was not applied or was given back. */
void uplink_change_free(struct uplink_change *c);
