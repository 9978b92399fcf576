/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets overtaken by a change: made after the server removed or changed a modem and before the traffic
 * program knew it. The server drops them, so they do not count as lost.
 *
 *     made     .. from                                to ..
 *               |  server applies the change           |  change is known  |  deadline: which of these are missing?
 *               '--------------------------------------'
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proof/proof.h"

/* State of a stream at a time before the change. */
struct stream_mark {
	uint32_t stream;
	uint32_t from; /* sequence number after the last received packet */
	uint32_t missing; /* numbers before it that had not arrived by then */
};

struct watched_stream {
	uint32_t from, to; /* sequence numbers, without `to` */
	uint32_t missing; /* before `from` */
	bool active;
	uint64_t until; /* TSC until which they may arrive */
};

struct watch {
	struct watched_stream *streams; /* as many as in the proof */
	uint32_t *active;
	uint32_t active_count;
	uint64_t removed; /* packets of streams that are not watched any more */
	uint64_t passed; /* those of `removed` that later packets of their streams have passed */
	uint64_t due; /* TSC of the earliest deadline, if there are active streams */
};

/* Returns 0, or -1 if memory is short. The caller frees it with watch_free() in either case. */
int watch_create(struct watch *w, uint32_t streams);

void watch_free(struct watch *w);

/* Watches the packets from the mark to the number before `to`, until TSC `until`; does nothing if there are none. If
 * the stream is already watched, extends its range and sets the new deadline. */
void watch_begin(struct watch *w, const struct stream_mark *mark, uint32_t to, uint64_t until);

/* Ends watches whose deadline is at or before TSC `now`. Must be called often. */
void watch_expire(struct watch *w, const struct proof *p, uint64_t now);

/* Ends the watch of a stream whose number another stream will use. */
void watch_end(struct watch *w, const struct proof *p, uint32_t stream);

/* Number of overtaken packets that have not arrived so far. */
uint64_t watch_removed(const struct watch *w, const struct proof *p);

/* The same during a run, without packets that are still in flight. Sets `passed` to how many of them are part of
 * proof.missing, which counts packets only once a later one of their stream has arrived. */
uint64_t watch_removed_so_far(const struct watch *w, const struct proof *p, uint64_t *passed);
