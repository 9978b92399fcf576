/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change of the service group for a downlink. A thread that does not poll prepares it; the polling thread
 * applies it between two rounds. The change then holds the previous generation, whose packets are proven
 * for some time more.
 *
 *     current <-- change <-- change <-- ..      each holds the generation before it
 *                                 '-- the oldest is given back when its time is over
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "directions/downlink.h"
#include "directions/unresolved.h"
#include "proof/watch.h"

#define FOLLOW_KEEP_MS 2000 /* how long the previous generation is kept */

struct downlink_change {
	bool tables; /* replaces the whole generation; false: only keys */
	struct generator_past targets;
	struct modems modems;
	struct channel *channels; /* by index; NULL: unchanged */
	uint32_t channel_count;
	uint32_t *fresh; /* streams that start: their numbers are new or reused */
	uint32_t fresh_count;
	struct stream_mark *marks; /* existing streams of changed or removed modems */
	uint32_t mark_count;
	uint32_t *changed; /* streams of changed, added and removed modems */
	uint32_t changed_count;
	struct key_store *store; /* of `rekeys` */
	struct modem_rekey *rekeys;
	uint32_t rekey_count;
	uint32_t number; /* number of the change, counted when applied */
	uint64_t until; /* TSC at which it is given back */
	struct downlink_change *newer;
	bool done; /* given back to the thread that prepared it */
};

struct downlink_follow {
	struct unresolved frames; /* unresolved DOCSIS frames */
	struct unresolved depi;
	uint64_t since; /* arrival (TSC) of the unresolved frame being processed; 0: a new frame */
	bool last; /* frames are not left unresolved any more */
	struct watch watch;
	struct downlink_change *oldest, *newest;
	uint32_t applied; /* number of changes applied */
	/* TSC, set by another thread: all changes that the server made before it are applied here. */
	uint64_t known;
	uint64_t resolved; /* unresolved frames received before this TSC have been processed */
	uint64_t keep; /* FOLLOW_KEEP_MS in TSC cycles */
};

/* Whether there are unresolved frames; callable on any thread. */
static inline bool downlink_has_unresolved(const struct downlink_follow *f) {
	return __atomic_load_n(&f->frames.count, __ATOMIC_RELAXED) > 0 ||
	       __atomic_load_n(&f->depi.count, __ATOMIC_RELAXED) > 0;
}

/* Allocates the state that a downlink needs to follow changes. Returns false after a message. */
bool downlink_follow_begin(struct downlink *d);

/* Frees it and gives all changes back; the thread that prepared them must free them. */
void downlink_follow_end(struct downlink *d);

/* Applies a change at TSC `now`. If the receiver's session table is full, frames of the new
 * channels count as unknown. */
void downlink_change_apply(struct downlink *d, struct downlink_change *c, uint64_t now);

/* Expires watches and old generations at TSC `now`, and processes unresolved frames. */
void downlink_follow_round(struct downlink *d, uint64_t now);

/* Frees the contents of a change that was not applied or was given back. */
void downlink_change_free(struct downlink_change *c);
