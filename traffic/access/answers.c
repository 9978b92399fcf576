/* SPDX-License-Identifier: BSD-3-Clause */
#include "access/answers.h"

#include "access/hearing.h"
#include "access/requests.h"

static void watch_from(struct access *a, struct access_queue *f, uint64_t least) {
	uint64_t oldest = UINT64_MAX;

	if (f->watched || f->request_count == 0)
		return;
	for (unsigned i = 0; i < f->request_count; i++)
		oldest = f->requests[i].at < oldest ? f->requests[i].at : oldest;
	f->watched = true;
	due_add(&a->groups[f->group].waiting, oldest > least ? oldest : least, f->number);
}

void answers_watch(struct access *a, struct access_queue *f) {
	watch_from(a, f, 0);
}

/* The lowest ack time of a group's channels; ignores channels without recent MAPs. */
static uint64_t acknowledged(const struct access *a, const struct access_group *g, uint64_t heard) {
	uint64_t least = UINT64_MAX;

	for (uint64_t left = g->channels; left != 0; left &= left - 1) {
		const struct access_line *l = &a->lines[__builtin_ctzll(left)];

		if (l->heard + ACCESS_AWAY >= heard && l->ack < least)
			least = l->ack;
	}
	return least;
}

static void acknowledge(struct access *a, struct access_group *g, const struct access_heard *map) {
	uint64_t ack = acknowledged(a, g, map->heard);

	while (due_next(&g->waiting) < ack) {
		struct access_queue *f = &a->flows[due_take(&g->waiting).number];

		if (hearing_of(a, f->set.modem, map) != HEARING_HEARD) {
			due_add(&g->waiting, ack, f->number);
			continue;
		}
		f->answer_ack = ack;
		access_schedule(a, hearing_known(a, f->set.modem, map->heard), DUE_ANSWER,
				f->number);
	}
}

void answers_acknowledge(struct access *a, struct access_line *l, const struct access_heard *map,
			 uint64_t ack) {
	uint64_t bit = UINT64_C(1) << (l - a->lines);

	l->heard = map->heard;
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
