/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change of the service group on its way into a downlink: made by a thread that does not poll, taken
 * between two rounds by the one that does, which then has in it what was there before. Packets that were
 * made by that are proven for a while longer.
 *
 *     current <-- change <-- change <-- ..      each has what was before it
 *                                 '-- the oldest is given back when its time is over
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "directions/downlink.h"
#include "directions/held.h"
#include "proof/watch.h"

#define FOLLOW_KEEP_MS 2000 /* for so long what was before a change is known */

struct downlink_change {
	bool tables; /* all is made anew; else only keys differ */
	struct generator_past targets;
	struct modems modems;
	struct channel *channels; /* by place; NULL: as before */
	uint32_t channel_count;
	uint32_t *fresh; /* streams that begin: their numbers were free, or another's long ago */
	uint32_t fresh_count;
	struct stream_mark *marks; /* streams there were of modems that differ or go */
	uint32_t mark_count;
	uint32_t *changed; /* streams of modems that differ, come or go */
	uint32_t changed_count;
	struct key_store *store; /* of the keys that follow */
	struct modem_rekey *rekeys;
	uint32_t rekey_count;
	uint32_t number; /* of the changes that were taken */
	uint64_t until; /* TSC */
	struct downlink_change *newer;
	bool done; /* it has been given back */
};

struct downlink_follow {
	struct held frames; /* DOCSIS */
	struct held depi;
	uint64_t since; /* TSC at which what is judged came; 0: just now */
	bool last; /* nothing is held any more */
	struct watch watch;
	struct downlink_change *oldest, *newest;
	uint32_t taken; /* changes */
	/* Set by another thread: all changes that were made before this TSC are taken, as the server has said. */
	uint64_t known;
	uint64_t judged; /* what came before this TSC and was held has been judged */
	uint64_t keep; /* TSC cycles */
};

/* Whether frames are held; on any thread. */
static inline bool downlink_follow_waits(const struct downlink_follow *f) {
	return __atomic_load_n(&f->frames.count, __ATOMIC_RELAXED) > 0 ||
	       __atomic_load_n(&f->depi.count, __ATOMIC_RELAXED) > 0;
}

/* Makes what a downlink needs to follow changes. Returns false after a message. */
bool downlink_follow_begin(struct downlink *d);

/* Frees it; changes that were not given back are their maker's from now on. */
void downlink_follow_end(struct downlink *d);

/* Takes a change at TSC `now`. Where the receiver has no room for its channels, frames of these are
 * strange to it. */
void downlink_change_take(struct downlink *d, struct downlink_change *c, uint64_t now);

/* What time brings, at TSC `now`. */
void downlink_follow_round(struct downlink *d, uint64_t now);

/* Frees what is in a change that was not taken, or was given back. */
void downlink_change_free(struct downlink_change *c);
