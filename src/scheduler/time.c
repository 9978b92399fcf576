/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the caller's clock, which may jump, to ticks that neither jump nor overflow. */
#include "scheduler/channels.h"

/* Sets a time back. A past time stays in the past, however old it is. */
static void time_set_back(int64_t *time) {
	*time = more(*time, 0) - REBASE_BY;
}

static void flows_rebase(struct scheduler *s) {
	for (uint32_t i = 0; i < s->flow_count; i++) {
		struct flow *f = &s->flows[i];

		time_set_back(&f->sustained.full_at);
		time_set_back(&f->peak.full_at);
		time_set_back(&f->last_sent);
		time_set_back(&s->reserves[i].due);
		if (f->aqm == SCHEDULER_WRED)
			time_set_back(&s->aqm[i].wred.empty_since);
		else if (f->aqm == SCHEDULER_DOCSIS_PIE)
			time_set_back(&s->aqm[i].pie.updated);
	}
}

static void scheduler_rebase(struct scheduler *s) {
	s->epoch += REBASE_BY / TICKS_PER_NS;
	time_set_back(&s->now);
	time_set_back(&s->limit.full_at);
	flows_rebase(s);
	for (uint32_t i = 0; i < s->modem_count; i++)
		time_set_back(&s->modems[i].aggregate.full_at);
	for (uint32_t i = 0; i < s->channel_count; i++) {
		time_set_back(&s->channels[i].busy_until);
		time_set_back(&s->channels[i].opened);
		s->free_at[i] = (s->channels[i].busy_until & ~(int64_t)CHANNEL_MASK) | i;
	}
	for (uint32_t i = 0; i < 2 * s->channel_count; i++) {
		time_set_back(&s->clusters[i].horizon);
		if (s->clusters[i].first_free != INT64_MAX)
			time_set_back(&s->clusters[i].first_free);
	}
	wheel_rebase(&s->wheel, REBASE_BY);
}

void scheduler_jump(struct scheduler *s, uint64_t since) {
	uint64_t jump = since - (uint64_t)s->now / TICKS_PER_NS;

	if (jump > MAX_JUMP_NS) {
		s->epoch += jump - MAX_JUMP_NS;
		jump = MAX_JUMP_NS;
	}
	s->now += NS_TICKS(jump);
	if (s->now >= REBASE_AT)
		scheduler_rebase(s);
}
