/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of one direction of a group that changes: their numbers, and what was known of them when. */
#pragma once

#include "follow/follow_group.h"

/* The numbers that the group's streams have, or will have: `streams` is the keeper's, `fresh` the caller's to
 * free. */
struct follow_numbering {
	const uint32_t *streams;
	uint32_t *fresh; /* those that begin */
	uint32_t fresh_count;
};

bool follow_streams_create(struct follow_streams *s, uint32_t room, uint32_t modems, uint64_t rest);

void follow_streams_free(struct follow_streams *s);

/* Notes what had arrived of each stream by what `p` has now. */
void follow_streams_look(struct follow_streams *s, const struct proof *p);

/* No change was made before the latest look. */
void follow_streams_look_holds(struct follow_streams *s);

/*
 * Numbers the streams of `sg` at TSC `now`, in the order in which targets and plans have them; upstream those of
 * modems that are not `silent` (NULL: all). `out` may be NULL. Return false where no number is free at this
 * time, or memory is short. What was numbered before holds until follow_streams_keep().
 */
bool follow_streams_downstream(struct follow_streams *s, const struct service_group *sg,
			       uint64_t now, struct follow_numbering *out);
bool follow_streams_upstream(struct follow_streams *s, const struct service_group *sg,
			     const bool *silent, uint64_t now, struct follow_numbering *out);

/* The latest numbering is the one that holds from TSC `now` on. */
void follow_streams_keep(struct follow_streams *s, uint64_t now);

/* The streams that `changed` modems have or will have, to be freed. Returns false when memory is short. */
bool follow_streams_changed(const struct follow_streams *s, const bool *changed, uint32_t **streams,
			    uint32_t *count);

/* The same of those that they have, with what had arrived when the server cannot have had the change yet. */
bool follow_streams_mark(const struct follow_streams *s, const bool *changed,
			 struct stream_mark **marks, uint32_t *count);
