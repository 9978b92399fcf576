/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of one direction of a group that changes: their numbers, and the received packets at
 * the latest samples. */
#pragma once

#include "follow/follow_group.h"

/* Numbers of the group's streams. `streams` is owned by the struct follow_streams; the caller frees
 * `fresh`. */
struct follow_numbering {
	const uint32_t *streams;
	uint32_t *fresh; /* streams that start */
	uint32_t fresh_count;
};

/* Returns false if memory is short. The caller frees it with follow_streams_free() in either case. `rest` is
 * as in struct stream_numbers. */
bool follow_streams_create(struct follow_streams *s, uint32_t capacity, uint32_t modems,
			   uint64_t rest);

void follow_streams_free(struct follow_streams *s);

/* Records the received packets of each stream from `p`. */
void follow_streams_sample(struct follow_streams *s, const struct proof *p);

/* Confirms that no change was made before the latest sample. */
void follow_streams_sample_valid(struct follow_streams *s);

/*
 * Number the streams of `sg` at TSC `now`, in the order of targets and plans; upstream without `silent`
 * modems (NULL: none). `out` may be NULL. Return false if no number is free now or memory is short. The
 * previous numbering stays valid until follow_streams_keep().
 */
bool follow_streams_downstream(struct follow_streams *s, const struct service_group *sg,
			       uint64_t now, struct follow_numbering *out);
bool follow_streams_upstream(struct follow_streams *s, const struct service_group *sg,
			     const bool *silent, uint64_t now, struct follow_numbering *out);

/* Makes the latest numbering the current one from TSC `now` on. */
void follow_streams_keep(struct follow_streams *s, uint64_t now);

/* Stores the rewrites of the streams of modem `before` that differ in `next` (NULL: the modem is
 * removed). */
void follow_streams_between_downstream(struct follow_streams *s, const struct modem *before,
				       const struct modem *next);
void follow_streams_between_upstream(struct follow_streams *s, const struct modem *before,
				     const struct modem *next);

/* Gets the streams of `changed` modems in the current and the latest numbering. The caller frees
 * them. Returns false if memory is short. */
bool follow_streams_changed(const struct follow_streams *s, const bool *changed, uint32_t **streams,
			    uint32_t *count);

/* Gets the streams of `changed` modems in the current numbering, with the received packets at a
 * time before the change. The caller frees them. Returns false if memory is short. */
bool follow_streams_mark(const struct follow_streams *s, const bool *changed,
			 struct stream_mark **marks, uint32_t *count);
