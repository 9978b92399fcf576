/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a capture as pcapng: merges the records of its sources by time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/live/buffer.h"
#include "capture/live/captures.h"
#include "capture/pcapng.h"

#define TAP_COMMENT 512 /* bytes */
#define TAP_OUTPUT_SIZE (UINT32_C(1) << 20) /* bytes that may be pending for the client */

/* Reasons for the end of a file. Functions below return NULL while it continues. */
#define TAP_END_COUNT "the number of packets requested"
#define TAP_END_SIZE "the size requested"
#define TAP_END_TIME "the time requested"
#define TAP_END_GONE "all captured groups and ports were removed"
#define TAP_END_CLIENT "ended by its client"
#define TAP_END_SERVER "vcmtsd ends"

struct tap_output {
	struct pcapng blocks; /* not sent yet */
	size_t sent; /* bytes of them that were sent */
	uint64_t total; /* bytes of the file so far */
	uint64_t max; /* limit of `total` */
	uint64_t left; /* packets until the limit */
	uint64_t packets;
	uint64_t limited; /* packets beyond the rate of the whole capture */
	uint64_t missed; /* packets lost by full rings, as last reported */
	struct tap_bucket bucket;
	bool full; /* the rings hold more than fits the output */
	uint32_t interface_count;
	uint32_t retired_interfaces; /* of these: of removed sources */
	struct tap_tally retired_tally; /* counts of those sources */
	uint64_t base_tsc, base_time; /* the same moment */
	double ns_per_tick;
	char reported[TAP_COMMENT]; /* the counts as last reported */
};

/* Starts the file. Returns 0, or -1 without memory. Call tap_output_free() in either case. */
int tap_output_open(struct tap_output *o, const struct tap_request *request);
void tap_output_free(struct tap_output *o);

/* Moves records older than `until` (TSC) from the sources' rings to the output. Sets `full` if the
 * output is full. Returns the reason to end the file, or NULL. */
const char *tap_output_fill(struct tap_output *o, struct tap_source *const *sources, unsigned count,
			    uint64_t until);

/* Writes the statistics of a source that is removed and empty; the caller may free it then. Returns false without
 * space. */
bool tap_output_retire(struct tap_output *o, const struct tap_source *source);

/* Writes the counts so far, if they changed, for a client that follows the capture. */
void tap_output_report(struct tap_output *o, struct tap_source *const *sources, unsigned count);

/* Writes the statistics of each interface and the reason for the end. Returns false without space. */
bool tap_output_finish(struct tap_output *o, struct tap_source *const *sources, unsigned count,
		       const char *why);

/* Bytes pending for the client; tap_output_sent() removes those that were sent. */
static inline size_t tap_output_pending(const struct tap_output *o) {
	return o->blocks.size - o->sent;
}
void tap_output_sent(struct tap_output *o, size_t size);
