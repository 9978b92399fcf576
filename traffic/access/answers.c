/* SPDX-License-Identifier: BSD-3-Clause */
/* Detects by the ack times of MAPs that a request got no answer, so that the flow requests again. */
#include "access/answers.h"

#include "access/map_reception.h"
#include "access/requests.h"

/* Makes a flow wait for ack times after its oldest request, and not before `min`. */
static void watch_from(struct access *a, struct access_queue *f, uint64_t min) {
	uint64_t oldest = UINT64_MAX;

	if (f->watched || f->request_count == 0)
		return;
	for (unsigned i = 0; i < f->request_count; i++)
		oldest = f->requests[i].at < oldest ? f->requests[i].at : oldest;
	f->watched = true;
	due_add(&a->groups[f->group].waiting, oldest > min ? oldest : min, f->number);
}

void answers_watch(struct access *a, struct access_queue *f) {
	watch_from(a, f, 0);
}

/* The lowest ack time of a group's channels; ignores channels without recent MAPs. */
static uint64_t acknowledged(const struct access *a, const struct access_group *g,
			     uint64_t received) {
	uint64_t min = UINT64_MAX;

	for (uint64_t left = g->channels; left != 0; left &= left - 1) {
		const struct access_line *l = &a->lines[__builtin_ctzll(left)];

		if (l->received + ACCESS_AWAY >= received && l->ack < min)
			min = l->ack;
	}
	return min;
}

/* Schedules the answers to flows of a group whose requests the ack times of all channels have passed. */
static void acknowledge(struct access *a, struct access_group *g,
			const struct access_map_reception *map) {
	uint64_t ack = acknowledged(a, g, map->received);

	while (due_next(&g->waiting) < ack) {
		struct access_queue *f = &a->flows[due_pop(&g->waiting).number];

		if (map_reception_of(a, f->set.modem, map) != MAP_RECEIVED) {
			due_add(&g->waiting, ack, f->number);
			continue;
		}
		f->answer_ack = ack;
		access_schedule(a, map_processed_at(a, f->set.modem, map->received), DUE_ANSWER,
				f->number);
	}
}

void answers_acknowledge(struct access *a, struct access_line *l,
			 const struct access_map_reception *map, uint64_t ack) {
	uint64_t bit = UINT64_C(1) << (l - a->lines);

	l->received = map->received;
	l->ack = ack;
	for (uint32_t i = 0; i < a->group_count; i++)
		if (a->groups[i].channels & bit)
			acknowledge(a, &a->groups[i], map);
}

bool answers_run(struct access *a, struct access_queue *f) {
	unsigned contended, lost;

	f->watched = false;
	if (f->pending_until >= f->answer_ack) {
		watch_from(a, f, f->answer_ack);
		return false;
	}
	lost = requests_forget(f, f->answer_ack, &contended);
	a->counts.unanswered += lost;
	a->counts.unanswered_contended += contended;
	watch_from(a, f, 0);
	if (contended == 0 || ++f->tries < ACCESS_TRIES)
		return false;
	f->tries = 0;
	a->counts.given_up++;
	return true;
}
