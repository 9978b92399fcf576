/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts missing packets in a range of each watched stream, from counts of the stream's window. */
#include "proof/watch.h"

#include <stdlib.h>

#include <rte_common.h>

int watch_create(struct watch *w, uint32_t streams) {
	*w = (struct watch){
		.streams = calloc(streams + 1, sizeof(*w->streams)),
		.active = calloc(streams + 1, sizeof(*w->active)),
	};
	return w->streams != NULL && w->active != NULL ? 0 : -1;
}

void watch_free(struct watch *w) {
	free(w->streams);
	free(w->active);
	*w = (struct watch){0};
}

void watch_begin(struct watch *w, const struct stream_mark *mark, uint32_t to, uint64_t until) {
	struct watched_stream *s = &w->streams[mark->stream];

	if ((int32_t)(to - mark->from) <= 0)
		return;
	if (!s->active) {
		*s = (struct watched_stream){
			.from = mark->from,
			.to = to,
			.missing = mark->missing,
			.active = true,
		};
		w->due = w->active_count == 0 ? until : RTE_MIN(w->due, until);
		w->active[w->active_count++] = mark->stream;
	}
	if ((int32_t)(to - s->to) > 0)
		s->to = to;
	s->until = until;
}

/* Missing packets of the range; at most its size, as others were lost outside of it. `more`: that have not been
 * passed by a later packet. */
static uint32_t removed_and(const struct watched_stream *s, const struct window *w, uint32_t more) {
	uint32_t missing = w->missing - s->missing + more;
	uint32_t max = s->to - s->from;

	if ((int32_t)missing < 0)
		return 0;
	return missing < max ? missing : max;
}

static uint32_t removed_of(const struct watched_stream *s, const struct window *w) {
	return removed_and(s, w, (int32_t)(s->to - w->next) > 0 ? s->to - w->next : 0);
}

static void active_end(struct watch *w, const struct proof *p, uint32_t at) {
	uint32_t stream = w->active[at];

	w->removed += removed_of(&w->streams[stream], &p->streams[stream]);
	w->passed += removed_and(&w->streams[stream], &p->streams[stream], 0);
	w->streams[stream].active = false;
	w->active[at] = w->active[--w->active_count];
}

void watch_expire(struct watch *w, const struct proof *p, uint64_t now) {
	if (w->active_count == 0 || now < w->due)
		return;
	w->due = UINT64_MAX;
	for (uint32_t i = w->active_count; i > 0; i--) {
		uint64_t until = w->streams[w->active[i - 1]].until;

		if (now >= until)
			active_end(w, p, i - 1);
		else
			w->due = RTE_MIN(w->due, until);
	}
}

void watch_end(struct watch *w, const struct proof *p, uint32_t stream) {
	if (!w->streams[stream].active)
		return;
	for (uint32_t i = w->active_count; i > 0; i--) {
		if (w->active[i - 1] == stream)
			active_end(w, p, i - 1);
	}
}

uint64_t watch_removed(const struct watch *w, const struct proof *p) {
	uint64_t removed = w->removed;

	for (uint32_t i = 0; i < w->active_count; i++)
		removed += removed_of(&w->streams[w->active[i]], &p->streams[w->active[i]]);
	return removed;
}

uint64_t watch_removed_so_far(const struct watch *w, const struct proof *p, uint64_t *passed) {
	uint64_t active = 0;

	for (uint32_t i = 0; i < w->active_count; i++)
		active += removed_and(&w->streams[w->active[i]], &p->streams[w->active[i]], 0);
	*passed = w->passed + active;
	return w->removed + active;
}
