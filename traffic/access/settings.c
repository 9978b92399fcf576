/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds, changes and removes modems and flows. */
#include <stdlib.h>
#include <string.h>

#include "access/contend.h"

#define FIRST_START 2 /* exponents of the back-off window before the first MAP */
#define FIRST_END 10
#define UNIT_MAX 255 /* N */

bool access_set_modem(struct access *a, uint32_t modem, const struct access_modem *settings) {
	int64_t lead = (int64_t)settings->propagation + settings->burst_processing - settings->skew;
	int64_t min = lead + settings->propagation + settings->map_processing;

	if (modem >= a->modem_count)
		return false;
	a->modems[modem] = *settings;
	if (lead > (int64_t)a->lead)
		a->lead = (uint64_t)lead;
	if (min < a->min)
		a->min = min;
	return true;
}

static const char *wrong_sids(const struct access *a, uint32_t flow, const struct access_flow *s) {
	uint64_t seen = 0;

	for (size_t i = 0; i < s->sid_count; i++) {
		const struct access_sid *sid = &s->sids[i];
		uint32_t owner;

		if (sid->channel >= a->line_count || sid->sid >= MAP_SID_BROADCAST)
			return "a SID's channel is not there, or it is no SID of one flow";
		if (seen & UINT64_C(1) << sid->channel)
			return "a cluster has two SIDs on one channel";
		seen |= UINT64_C(1) << sid->channel;
		owner = a->lines[sid->channel].flows[sid->sid];
		if (owner != ACCESS_NONE && owner != flow)
			return "a SID is another flow's";
	}
	return NULL;
}

static const char *wrong(const struct access *a, uint32_t flow, const struct access_flow *s) {
	if (flow >= a->flow_count)
		return "there is no capacity for such a flow";
	if (s->modem >= a->modem_count)
		return "there is no such modem";
	if (s->request_unit > UNIT_MAX || s->outstanding > ACCESS_OUTSTANDING)
		return "the request unit is at most 255, outstanding at most 16";
	return wrong_sids(a, flow, s);
}

/* Returns the group of flows with the same channels; otherwise one without members or a new one. */
static struct access_group *group_of(struct access *a, uint64_t channels) {
	struct access_group *spare = NULL;

	for (uint32_t i = 0; i < a->group_count; i++) {
		if (a->groups[i].channels == channels)
			return &a->groups[i];
		if (a->groups[i].members == 0)
			spare = &a->groups[i];
	}
	if (spare == NULL)
		spare = &a->groups[a->group_count++];
	spare->channels = channels;
	spare->start = FIRST_START;
	spare->end = FIRST_END;
	return spare;
}

static uint64_t channels_of(const struct access_flow *s) {
	uint64_t channels = 0;

	for (size_t i = 0; i < s->sid_count; i++)
		channels |= UINT64_C(1) << s->sids[i].channel;
	return channels;
}

/* Discards the queue, requests and grants of a flow that is removed or replaced. */
static void clear(struct access *a, struct access_queue *f) {
	struct access_group *g = &a->groups[f->group];

	if (f->set.sid_count == 0)
		return;
	a->counts.discarded += f->waiting;
	a->counts.waiting -= f->waiting;
	for (size_t i = 0; i < f->set.sid_count; i++)
		a->lines[f->sids[i].channel].flows[f->sids[i].sid] = ACCESS_NONE;
	due_remove(&g->contenders, f->number);
	due_remove(&g->waiting, f->number);
	due_remove(&a->due, access_due_number(DUE_ANSWER, f->number));
	g->members--;
	free(f->sids);
	*f = (struct access_queue){
		.number = f->number, .generation = f->generation + 1, .chance = ACCESS_NONE};
}

static const char *begin(struct access *a, struct access_queue *f, const struct access_flow *s) {
	struct access_group *g = group_of(a, channels_of(s));
	size_t size = s->sid_count * sizeof(*f->sids);

	f->sids = malloc(size);
	if (f->sids == NULL || !due_reserve(&g->contenders, g->members + 1) ||
	    !due_reserve(&g->waiting, g->members + 1)) {
		free(f->sids);
		f->sids = NULL;
		return "memory is short";
	}
	memcpy(f->sids, s->sids, size);
	f->set = *s;
	f->set.sids = f->sids;
	f->group = (uint32_t)(g - a->groups);
	g->members++;
	for (size_t i = 0; i < s->sid_count; i++)
		a->lines[s->sids[i].channel].flows[s->sids[i].sid] = f->number;
	return NULL;
}

const char *access_set_flow(struct access *a, uint32_t flow, const struct access_flow *settings,
			    uint64_t now) {
	const char *mistake = wrong(a, flow, settings);
	struct access_queue *f = &a->flows[flow];

	if (mistake != NULL)
		return mistake;
	clear(a, f);
	if (settings->sid_count == 0)
		return NULL;
	mistake = begin(a, f, settings);
	if (mistake == NULL)
		contend_consider(a, f, now); /* modems of ACCESS_ENDLESS contend at once */
	return mistake;
}

void access_set_ucd(struct access *a, uint16_t channel, uint8_t count) {
	a->lines[channel].set.ucd_count = count;
}

void access_queue(struct access *a, uint32_t flow, uint32_t bytes, uint64_t now) {
	struct access_queue *f = &a->flows[flow];

	if (f->set.sid_count == 0)
		return;
	f->waiting += bytes;
	a->counts.waiting += bytes;
	a->counts.queued += bytes;
	contend_consider(a, f, now);
}

void access_discard(struct access *a, uint32_t flow, uint32_t bytes) {
	struct access_queue *f = &a->flows[flow];
	uint64_t removed = bytes < f->waiting ? bytes : f->waiting;

	f->waiting -= removed;
	a->counts.waiting -= removed;
	a->counts.discarded += removed;
}

uint64_t access_waiting(const struct access *a, uint32_t flow) {
	return a->flows[flow].waiting;
}

void access_counts(const struct access *a, struct access_counts *out) {
	*out = a->counts;
}
