/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs due grants, answers and contention opportunities in the order of time. */
#include "access/answers.h"
#include "access/contend.h"
#include "access/grants.h"

static void request_sent(struct access *a, struct access_queue *f, uint64_t now) {
	answers_watch(a, f);
	contend_consider(a, f, now);
}

static void run_grant(struct access *a, uint32_t grant, uint64_t now) {
	struct access_queue *f = grants_run(a, grant, &a->out[a->out_count]);

	if (f == NULL)
		return;
	a->out_count++;
	request_sent(a, f, now);
}

static void run_answer(struct access *a, struct access_queue *f, uint64_t now) {
	if (f->set.sid_count == 0)
		return;
	if (answers_run(a, f))
		a->out[a->out_count++] = (struct access_event){
			.kind = ACCESS_GIVEN_UP,
			.flow = f->number,
			.channel = f->sids[0].channel,
			.sid = f->sids[0].sid,
			.time = now,
			.at = now,
			.end = now,
		};
	contend_consider(a, f, now);
}

static void run_channel(struct access *a, struct access_line *l, uint64_t now) {
	uint32_t picked = contend_run(a, l, now);

	for (uint32_t i = 0; i < picked; i++)
		request_sent(a, &a->flows[a->picks[i].flow], now);
	contend_schedule(a, l, now);
}

uint64_t access_due(const struct access *a) {
	return a->out_first < a->out_count ? a->now : due_next(&a->due);
}

/* Runs all that is due at one time. A grant or an answer gives at most one event, a channel at most
 * one per flow, so `out` has enough slots. */
bool access_next(struct access *a, uint64_t now, struct access_event *out) {
	while (a->out_first == a->out_count) {
		struct due_entry e;
		uint32_t which;

		a->out_first = a->out_count = 0;
		if (due_next(&a->due) > now) {
			a->now = now > a->now ? now : a->now;
			return false;
		}
		e = due_pop(&a->due);
		a->now = e.key > a->now ? e.key : a->now;
		which = e.number >> DUE_BITS;
		switch ((enum access_due)(e.number & ((1u << DUE_BITS) - 1))) {
		case DUE_GRANT: run_grant(a, which, a->now); break;
		case DUE_ANSWER: run_answer(a, &a->flows[which], a->now); break;
		case DUE_CHANNEL: run_channel(a, &a->lines[which], a->now); break;
		case DUE_KINDS: break;
		}
	}
	*out = a->out[a->out_first++];
	return true;
}
