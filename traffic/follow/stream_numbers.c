/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps streams to numbers that stay the same over live changes; the numbers index the tables of the proof. */
#include "follow/stream_numbers.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct numbered {
	struct stream_key key;
	uint32_t number;
	uint32_t numbering; /* the last one that requested it */
	bool fresh; /* added after the last completed numbering */
	struct numbered *next; /* list of numbers to release */
};

static int numbered_compare(const void *a, const void *b) {
	return memcmp(a, b, sizeof(struct stream_key));
}

bool stream_numbers_create(struct stream_numbers *n, uint32_t capacity, uint64_t rest) {
	*n = (struct stream_numbers){
		.capacity = capacity,
		.released = calloc(capacity + 1, sizeof(*n->released)),
		.since = calloc(capacity + 1, sizeof(*n->since)),
		.released_count = capacity,
		.rest = rest,
	};
	if (n->released == NULL || n->since == NULL)
		return false;
	for (uint32_t i = 0; i < capacity; i++)
		n->released[i] = i;
	return true;
}

void stream_numbers_free(struct stream_numbers *n) {
	tdestroy(n->tree, free);
	free(n->released);
	free(n->since);
	*n = (struct stream_numbers){0};
}

void stream_numbers_begin(struct stream_numbers *n) {
	n->numbering++;
}

/* Gives the oldest released number to a stream. Returns NULL if the number must rest, or memory is short.
 * A number that was never used (`since` is 0) need not rest. */
static struct numbered *numbered_add(struct stream_numbers *n, const struct stream_key *key,
				     uint64_t now) {
	uint32_t number = n->released[n->first];
	struct numbered *stream;

	if (n->released_count == 0 || (n->since[number] != 0 && now - n->since[number] < n->rest))
		return NULL;
	stream = calloc(1, sizeof(*stream));
	if (stream == NULL)
		return NULL;
	stream->key = *key;
	stream->number = number;
	stream->fresh = true;
	if (tsearch(stream, &n->tree, numbered_compare) == NULL) {
		free(stream);
		return NULL;
	}
	n->first = (n->first + 1) % n->capacity;
	n->released_count--;
	n->count++;
	return stream;
}

uint32_t stream_number(struct stream_numbers *n, const struct stream_key *key, uint64_t now,
		       bool *fresh) {
	struct numbered **known = tfind(key, &n->tree, numbered_compare);
	struct numbered *stream = known != NULL ? *known : numbered_add(n, key, now);

	if (stream == NULL)
		return NO_STREAM_NUMBER;
	stream->numbering = n->numbering;
	*fresh = stream->fresh;
	return stream->number;
}

uint32_t stream_number_find(const struct stream_numbers *n, const struct stream_key *key) {
	struct numbered **known = tfind(key, &n->tree, numbered_compare);

	return known != NULL ? (*known)->number : NO_STREAM_NUMBER;
}

/* Context of twalk_r(). */
struct ending {
	uint32_t numbering; /* the one that ends */
	struct numbered *unused; /* list of streams that it did not request */
};

static void numbered_end(const void *node, VISIT which, void *context) {
	struct numbered *stream = *(struct numbered *const *)node;
	struct ending *e = context;

	if (which != postorder && which != leaf)
		return;
	stream->fresh = false;
	if (stream->numbering == e->numbering)
		return;
	stream->next = e->unused;
	e->unused = stream;
}

void stream_numbers_end(struct stream_numbers *n, uint64_t now) {
	struct ending e = {.numbering = n->numbering};

	twalk_r(n->tree, numbered_end, &e);
	while (e.unused != NULL) {
		struct numbered *stream = e.unused;

		e.unused = stream->next;
		tdelete(stream, &n->tree, numbered_compare);
		n->since[stream->number] = now;
		n->released[(n->first + n->released_count++) % n->capacity] = stream->number;
		n->count--;
		free(stream);
	}
}
