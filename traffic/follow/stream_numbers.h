/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of streams that stay while the configuration changes around them. A number that nobody has any more
 * rests for a while before another stream gets it, as packets may be under way.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NO_STREAM_NUMBER UINT32_MAX

/* What a stream is known by. Without padding: it is compared as it stands. */
struct stream_key {
	uint8_t mac[6];
	uint16_t cluster; /* SID cluster; downstream 0 */
	uint32_t flow; /* SFID */
	uint32_t dsid; /* + 1; 0: none */
};

struct stream_numbers {
	void *tree; /* of tsearch() */
	uint32_t room;
	uint32_t count; /* that somebody has */
	uint32_t *resting; /* a ring of numbers, those longest free first */
	uint64_t *since; /* TSC at which each number became free */
	uint32_t first, resting_count;
	uint32_t round; /* of numbering */
	uint64_t rest; /* TSC cycles */
};

/* Returns false when memory is short. To be freed by stream_numbers_free() in either case. */
bool stream_numbers_create(struct stream_numbers *n, uint32_t room, uint64_t rest);

void stream_numbers_free(struct stream_numbers *n);

/* Begins a round in which all streams that there shall be are asked for. */
void stream_numbers_begin(struct stream_numbers *n);

/*
 * The number of a stream at TSC `now`; `fresh` gets whether it has it only since the last round that ended
 * well. NO_STREAM_NUMBER: none is free at this time, or memory is short.
 */
uint32_t stream_number(struct stream_numbers *n, const struct stream_key *key, uint64_t now,
		       bool *fresh);

/* The round went well: numbers that were not asked for are free from TSC `now` on. */
void stream_numbers_end(struct stream_numbers *n, uint64_t now);
