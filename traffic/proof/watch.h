/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that were overtaken by a change: made while the server had a modem no longer, or had it otherwise,
 * and the traffic did not know yet. What is missing of them is the server's to tell, and no loss.
 *
 *     made     .. from                                to ..
 *               |  the change is made      it is known |  some time later: what of these never came?
 *               '--------------------------------------'
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proof/proof.h"

/* What was known of a stream at a time before the change. */
struct stream_mark {
	uint32_t stream;
	uint32_t from; /* sequence number behind the last packet that had arrived */
	uint32_t missing; /* of those before it, passed over and not seen until then */
};

struct watched_stream {
	uint32_t from, to; /* sequence numbers */
	uint32_t missing; /* before `from` */
	bool active;
	uint64_t until; /* TSC: for so long they may come */
};

struct watch {
	struct watched_stream *streams; /* as many as the proof has */
	uint32_t *active;
	uint32_t active_count;
	uint64_t removed; /* packets of streams that are not watched any more */
	uint64_t due; /* TSC at which the first of them is over, where there is one */
};

/* Returns 0, or -1 when memory is short. To be freed by watch_free() in either case. */
int watch_create(struct watch *w, uint32_t streams);

void watch_free(struct watch *w);

/* Watches the packets from the mark up to the number `to`. Where the stream is watched already, these too. */
void watch_begin(struct watch *w, const struct stream_mark *mark, uint32_t to, uint64_t until);

/* Ends what is over at TSC `now`. To be called often. */
void watch_expire(struct watch *w, const struct proof *p, uint64_t now);

/* Ends it for a stream whose number another one gets. */
void watch_end(struct watch *w, const struct proof *p, uint32_t stream);

/* Packets that were overtaken and never came, as far as is known now. */
uint64_t watch_removed(const struct watch *w, const struct proof *p);
