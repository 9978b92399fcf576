/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/live/part.h"

#include <pthread.h>

/* Packet kinds by direction. stages.c finds them by name; workers index these tables by number. */
static struct {
	uint8_t at[TAP_BOUNDARIES];
	uint8_t dropped[TAP_STAGES + 1][DROP_REASONS];
} kinds[DIRECTION_PORT + 1];

static pthread_once_t kinds_once = PTHREAD_ONCE_INIT;

/* Fills the tables of one direction. */
static void kinds_of(enum direction direction) {
	unsigned stages = direction == DIRECTION_PORT ? 0 : tap_stage_count(direction);

	for (unsigned b = 0; b < 2 * stages; b++)
		kinds[direction].at[b] = (uint8_t)tap_kind_at(direction, b);
	for (unsigned r = 0; r < DROP_REASONS; r++) {
		enum drop_reason reason = (enum drop_reason)r;

		for (unsigned s = 0; s < stages; s++)
			kinds[direction].dropped[s][r] =
				(uint8_t)tap_kind_dropped(direction, s, reason);
		kinds[direction].dropped[TAP_STAGES][r] =
			(uint8_t)tap_kind_dropped(direction, TAP_NO_STAGE, reason);
	}
}

static void kinds_find(void) {
	kinds_of(DIRECTION_DOWN);
	kinds_of(DIRECTION_UP);
	kinds_of(DIRECTION_PORT);
}

static bool filter_passes(const struct tap_filter *f, const struct tap_facts *facts) {
	if ((facts->known & f->wants) != f->wants)
		return false;
	if ((f->wants & TAP_KNOWS_MODEM) != 0 && (f->modem == TAP_NONE || f->modem != facts->modem))
		return false;
	if ((f->wants & TAP_KNOWS_FLOW) != 0 && (f->flow == TAP_NONE || f->flow != facts->flow))
		return false;
	return (f->wants & TAP_KNOWS_SESSION) == 0 || f->session == facts->session;
}

/* Copies the packet if it passes the filter of the rule and its sampling. */
static void packet_match(const struct tap_rule *rule, struct tap_packet *p) {
	struct tap_buffer *e = rule->buffer;
	struct tap_facts facts;

	tap_facts_read(p->tables, p->kind, p->m, &facts);
	if (!filter_passes(&rule->filter, &facts))
		return;
	e->tallies[p->slot].matched++;
	if (e->skip > 0) {
		e->skip--;
		return;
	}
	e->skip = e->sample - 1;
	tap_buffer_copy(e, p, &facts);
}

/* Without a filter, packets that sampling skips are not read. */
static void burst_sample(const struct tap_rule *rule, struct tap_packet *p,
			 struct rte_mbuf *const *pkts, uint16_t n) {
	struct tap_buffer *e = rule->buffer;
	struct tap_facts facts;

	e->tallies[p->slot].matched += n;
	for (uint32_t i = e->skip; i < n; i += e->sample) {
		p->m = pkts[i];
		tap_facts_read(p->tables, p->kind, p->m, &facts);
		tap_buffer_copy(e, p, &facts);
		e->skip += e->sample;
	}
	e->skip -= n;
}

static void view_passed(struct tap *tap, unsigned boundary, struct rte_mbuf *const *pkts,
			uint16_t n) {
	const struct tap_view *v = (const struct tap_view *)tap;
	struct tap_packet p = {
		.tables = &v->tables,
		.kind = (enum tap_kind)kinds[v->direction].at[boundary],
		.stage = boundary / 2,
		.side = (enum tap_side)(boundary % 2),
		.reason = DROP_NONE,
		.slot = (uint16_t)boundary,
		.now = (*v->clock)->now,
	};

	for (unsigned l = 0; l < v->rule_count; l++) {
		const struct tap_rule *rule = &v->rules[l];

		if ((rule->boundaries >> boundary & 1) == 0)
			continue;
		if (rule->filter.wants == 0) {
			burst_sample(rule, &p, pkts, n);
			continue;
		}
		for (uint16_t i = 0; i < n; i++) {
			p.m = pkts[i];
			packet_match(rule, &p);
		}
	}
}

static void view_dropped(struct tap *tap, struct rte_mbuf *m, unsigned reason) {
	const struct tap_view *v = (const struct tap_view *)tap;
	struct tap_packet p = {
		.m = m,
		.tables = &v->tables,
		.stage = *tap->stage,
		.side = TAP_IN,
		.reason = (uint16_t)reason,
		.slot = TAP_DROP_SLOT,
		.now = (*v->clock)->now,
	};

	if (m == NULL) /* nothing of it was received */
		return;
	p.kind = (enum tap_kind)kinds[v->direction]
			 .dropped[RTE_MIN(p.stage, (uint32_t)TAP_STAGES)][reason];
	for (unsigned l = 0; l < v->rule_count; l++) {
		const uint64_t *reasons = v->rules[l].reasons;

		if (reasons != NULL && (reasons[reason / 64] >> reason % 64 & 1) != 0)
			packet_match(&v->rules[l], &p);
	}
}

/* The boundaries that any rule of the view captures. */
static uint64_t boundaries_of(const struct tap_view *v) {
	uint64_t all = 0;

	for (unsigned l = 0; l < v->rule_count; l++)
		all |= v->rules[l].boundaries;
	return all;
}

void tap_view_finish(struct tap_view *v, unsigned first_list, unsigned list_count) {
	uint64_t wanted = boundaries_of(v);

	pthread_once(&kinds_once, kinds_find);
	v->tap.passed = view_passed;
	v->tap.dropped = view_dropped;
	for (unsigned l = 0; l < list_count; l++) {
		struct tap_list *list = &v->lists[l];
		unsigned end = tap_list_first(v->direction, first_list + l + 1);

		*list = (struct tap_list){
			.tap = &v->tap,
			.first = tap_list_first(v->direction, first_list + l),
		};
		for (unsigned s = list->first; s < end; s++) {
			uint32_t bit = UINT32_C(1) << (s - list->first);

			list->in |= (wanted >> tap_boundary(s, TAP_IN) & 1) != 0 ? bit : 0;
			list->out |= (wanted >> tap_boundary(s, TAP_OUT) & 1) != 0 ? bit : 0;
		}
	}
}
