/* SPDX-License-Identifier: BSD-3-Clause */
/* Stream numbers that stay the same while the configuration changes. A released number is reused
 * only after a while, as its packets may be under way. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NO_STREAM_NUMBER UINT32_MAX

/* Identifies a stream. Without padding, as the bytes are compared. */
struct stream_key {
	uint8_t mac[6];
	uint16_t cluster; /* SID cluster; downstream 0 */
	uint32_t flow; /* SFID */
	uint32_t dsid; /* + 1; 0: none */
};

struct stream_numbers {
	void *tree; /* root of tsearch() */
	uint32_t capacity;
	uint32_t count; /* numbers in use */
	uint32_t *released; /* ring of released numbers, the oldest first */
	uint64_t *since; /* by number: TSC of its release */
	uint32_t first, released_count;
	uint32_t numbering; /* number of the current one */
	uint64_t rest; /* TSC cycles before reuse */
};

/* Returns false if memory is short. The caller frees it with stream_numbers_free() in either case. */
bool stream_numbers_create(struct stream_numbers *n, uint32_t capacity, uint64_t rest);

void stream_numbers_free(struct stream_numbers *n);

/* Begins a numbering, which must request the number of every stream. Without stream_numbers_end() it is
 * abandoned: the next one replaces it, and new streams stay fresh. */
void stream_numbers_begin(struct stream_numbers *n);

/* The number of a stream at TSC `now`; `fresh` gets whether it is new since the last completed
 * numbering. NO_STREAM_NUMBER: none is free, the oldest free one must rest, or memory is short. */
uint32_t stream_number(struct stream_numbers *n, const struct stream_key *key, uint64_t now,
		       bool *fresh);

/* Returns the number of a stream; NO_STREAM_NUMBER: none. */
uint32_t stream_number_find(const struct stream_numbers *n, const struct stream_key *key);

/* Completes the numbering: numbers not requested are released at TSC `now`. */
void stream_numbers_end(struct stream_numbers *n, uint64_t now);
