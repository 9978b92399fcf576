/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans each object of the list: slots to take and to free, and keys to add and to remove. */
#include <string.h>

#include "model/units.h"
#include "upstream/change/internal.h"

/* For messages: "modem 02:00:00:00:00:01". */
struct modem_text {
	char mac[UNITS_TEXT_SIZE];
};

static struct modem_text text_of(const struct modem *m) {
	struct modem_text t;

	units_format_mac(m->mac, t.mac);
	return t;
}

/* Adds all SIDs of the planned flow, which map to its streams. */
static bool sids_gain(struct us_change *c, const struct us_flow_plan *p,
		      const struct upstream_service_flow *f) {
	for (size_t k = 0; k < f->cluster_count; k++) {
		for (size_t s = 0; s < f->clusters[k].sid_count; s++) {
			const struct upstream_sid *sid = &f->clusters[k].sids[s];

			if (!us_entries_add(c, &c->sids.added, us_sid_key(sid->channel, sid->sid),
					    p->streams[k]))
				return false;
		}
	}
	return true;
}

/* Plans the removal of the SIDs that a flow had. */
static bool sids_lose(struct us_change *c, const struct us_modem_data *before,
		      const struct us_modem_data_flow *b) {
	struct us_tables *t = &c->u->tables;

	for (uint32_t s = 0; s < b->sid_count; s++) {
		uint32_t key = before->sids[b->first_sid + s];
		const struct us_stream *stream =
			us_stream_of_sid(t, key >> 16, (uint16_t)(key & 0xffff));

		if (stream != NULL &&
		    !us_entries_add(c, &c->sids.removed, key, (uint32_t)(stream - t->streams)))
			return false;
	}
	return true;
}

static const struct us_flow_plan *plan_of(const struct us_modem_plan *p, uint32_t flow) {
	for (uint32_t f = 0; f < p->flow_count; f++) {
		if (p->flows[f].flow == flow)
			return &p->flows[f];
	}
	return NULL;
}

static bool plan_has_stream(const struct us_flow_plan *p, uint32_t stream) {
	for (unsigned s = 0; p != NULL && s < p->stream_count; s++) {
		if (p->streams[s] == stream)
			return true;
	}
	return false;
}

/* Lists the slots and SIDs that a former flow loses: some of its streams, or all. */
static bool flow_loses(struct us_change *c, const struct us_modem_plan *p,
		       const struct us_modem_data_flow *b) {
	const struct us_flow_plan *next = plan_of(p, b->flow);
	const struct us_flow *f = &c->u->tables.flows[b->flow];

	if (!sids_lose(c, p->before, b))
		return false;
	if (next == NULL && !us_list_add(c, &c->old_flows, b->flow))
		return false;
	for (unsigned s = 0; s < f->stream_count; s++) {
		if (!plan_has_stream(next, f->streams[s]) &&
		    !us_list_add(c, &c->old_streams, f->streams[s]))
			return false;
	}
	return true;
}

/* Keeps the modem's schedules if none are given. Replaced keys stay valid for pending packets. */
static void keys_of_modem(struct us_change *c, struct us_modem_plan *p,
			  const struct security_association *sa, void *const *schedules) {
	bool given = schedules != NULL && (schedules[0] != NULL || schedules[1] != NULL);
	bool replaced = false;

	if (!given)
		schedules = p->before != NULL ? p->before->schedules : p->modem_data->schedules;
	us_keys_plan(&p->keys, sa, schedules);
	for (unsigned g = 0; g < US_GENERATIONS; g++) {
		p->modem_data->schedules[g] = p->keys.generations[g].schedule;
		replaced |=
			p->before != NULL && p->before->schedules[g] != p->modem_data->schedules[g];
	}
	if (!replaced || p->before->flow_count == 0)
		return;
	memcpy(p->retired, c->u->tables.flows[p->before->flows[0].flow].keys, sizeof(p->retired));
	p->record.retired = p->retired;
}

static bool modem_plan(struct us_change *c, struct us_modem_plan *p, const struct modem *m,
		       void *const *schedules) {
	p->modem_data = us_modem_data_create(m, p->before);
	p->flows = arena_alloc(c->memory, m->upstream_flow_count, sizeof(p->flows[0]));
	if (p->modem_data == NULL || p->flows == NULL)
		return us_change_refuse(c, "modem %s: no memory", text_of(m).mac);
	p->record = us_modem_of(p->modem_data);
	p->record.change = c->number;
	keys_of_modem(c, p, &m->security, schedules);
	for (uint32_t f = 0; f < p->modem_data->flow_count; f++) {
		struct us_flow_plan *plan = &p->flows[p->flow_count++];

		if (!us_flow_plan(&c->u->tables, p->modem_data, f, &m->upstream_flows[f], p->modem,
				  plan))
			return us_change_refuse(
				c, "modem %s: no capacity for upstream service flow %u",
				text_of(m).mac, m->upstream_flows[f].id);
		if (plan->is_new)
			us_flow_put(&c->u->tables, plan, &p->keys);
		if (!sids_gain(c, plan, &m->upstream_flows[f]) ||
		    !us_plan_grants(c, p->modem, &m->upstream_flows[f], plan))
			return false;
	}
	return true;
}

bool us_plan_modem(struct us_change *c, const struct live_change *k, void *const *schedules) {
	struct us_tables *t = &c->u->tables;
	struct us_modem_plan *p;

	if (k->slot >= t->modem_count)
		return us_change_refuse(c, "there is capacity for %u modems", t->modem_count);
	if (t->slots.reserved[k->slot])
		return us_change_refuse(c,
					"slot %u of modems is still in use by a removed "
					"modem",
					k->slot);
	t->slots.reserved[k->slot] = true;
	p = &c->modems[c->modem_count++];
	p->modem = k->slot;
	p->before = t->slots.modem_data[k->slot];
	if (k->next != NULL && !modem_plan(c, p, k->modem, schedules))
		return false;
	for (uint32_t f = 0; p->before != NULL && f < p->before->flow_count; f++) {
		if (!flow_loses(c, p, &p->before->flows[f]))
			return false;
	}
	return true;
}

static bool session_add(struct us_change *c, struct us_channel_plan *p,
			const struct upstream_channel *next, enum us_session_kind kind) {
	uint32_t id = us_session_id(next, kind);
	uint32_t slot = us_session_plan(&c->u->tables, id, p->channel, kind, us_format_of(next));

	if (slot == US_NONE)
		return us_change_refuse(c, "upstream channel %u: no capacity for session 0x%x",
					next->id, id);
	p->next.sessions[kind] = slot;
	return us_list_add(c, &c->new_sessions, slot) &&
	       us_entries_add(c, &c->sessions.added, id, slot);
}

bool us_plan_channel(struct us_change *c, const struct live_change *k) {
	static const struct upstream_channel none;
	const struct upstream_channel *next = k->next != NULL ? k->upstream_channel : &none;
	struct us_tables *t = &c->u->tables;
	struct us_channel_plan *p;

	if (k->slot >= t->channel_count)
		return us_change_refuse(c, "there is capacity for %u upstream channels",
					t->channel_count);
	if (upstream_grants(c->u))
		return us_change_refuse(
			c,
			"upstream_channels: with upstream.scheduler they change only at a restart");
	p = &c->channels[c->channel_count++];
	p->channel = k->slot;
	p->next = t->channels[k->slot];
	for (enum us_session_kind kind = 0; kind < US_SESSION_KINDS; kind++) {
		uint32_t id = us_session_id(next, kind), slot = p->next.sessions[kind];
		const struct us_session *s = slot != US_NONE ? &t->sessions[slot] : NULL;

		if (s != NULL && s->id == id && s->format == us_format_of(next))
			continue;
		p->next.sessions[kind] = US_NONE;
		if (s != NULL && (!us_entries_add(c, &c->sessions.removed, s->id, slot) ||
				  !us_list_add(c, &c->old_sessions, slot)))
			return false;
		if (id != 0 && !session_add(c, p, next, kind))
			return false;
	}
	return true;
}

bool us_plan_group(struct us_change *c, const struct service_group *next) {
	const struct us_slots *p = &c->u->tables.slots;
	bool by_session = next->upstream.psp_numbering == PSP_NUMBERING_SESSION;

	if (by_session != c->u->uepi.numbered_by_session)
		return us_change_refuse(
			c,
			"upstream.psp_numbering: differs; this setting changes only at a restart");
	if (next->upstream.pending != c->u->pending_limit &&
	    (next->upstream.pending / us_packet_size(next) > p->pending_packets ||
	     next->upstream.pending / US_FRAME_BUFFER > p->pending_frames))
		return us_change_refuse(c, "upstream.held: needs more buffers than were "
					   "allocated at the start; this value needs a restart");
	c->group = next;
	return true;
}
