/* SPDX-License-Identifier: BSD-3-Clause */
/* Pending grants: inform modems that their request is known, so that they do not repeat it. */
#include "scheduler/maps/internal.h"

/* Uses the channel of the flow's request, or else any of the set. Returns false if none has an
 * element free. */
static bool cluster_pending(struct maps *m, uint32_t flow, uint32_t cluster, uint64_t set) {
	uint32_t channel = m->flows[flow].request_channel;
	uint64_t left = set & m->in_round;

	if (!has_bit(left, channel) || m->channels[channel].slots == 0) {
		while (left != 0 && m->channels[first_bit(left)].slots == 0)
			left &= left - 1;
		if (left == 0)
			return false;
		channel = first_bit(left);
	}
	struct channel *c = &m->channels[channel];

	c->pending[c->pending_count++] = sid_state_of(m, flow, cluster, channel)->sid;
	c->slots--;
	c->counts.pendings++;
	return true;
}

static bool flow_pending(struct maps *m, uint32_t flow) {
	const struct flow *f = &m->flows[flow];
	uint32_t base = flow * MAPS_MAX_CLUSTERS;
	bool fits = cluster_pending(m, flow, f->cluster, m->groups[f->group].channels);

	for (uint32_t i = 0; i < f->clusters && f->owed > f->owed_here; i++)
		if (i != f->cluster && m->cluster_owed[base + i] > 0)
			cluster_pending(m, flow, i,
					m->groups[m->cluster_groups[base + i]].channels);
	return fits;
}

/* Starts with the latest flows: earlier MAPs have informed those before them. */
static bool ring_pending(struct maps *m, uint32_t first) {
	uint32_t flow;

	if (first == NONE)
		return true;
	flow = m->flows[first].link.prev;
	for (;;) {
		uint32_t next = m->flows[flow].link.prev;

		prefetch_flow(m, m->flows[next].link.prev);
		if (!flow_pending(m, flow))
			return false;
		if (flow == first)
			return true;
		flow = next;
	}
}

static void group_pending(struct maps *m, uint32_t group) {
	const struct group *g = &m->groups[group];
	bool fits = (g->channels & m->in_round) != 0;

	for (uint32_t level = MAPS_PRIORITIES; fits && level-- > 0;)
		fits = ring_pending(m, m->queues[queue_index(group, level)].first);
	if (fits)
		ring_pending(m, g->parked);
}

/* Looks only at groups with flows that are owed bytes. */
void add_pending(struct maps *m) {
	for (uint32_t word = 0; word < SET_WORDS; word++) {
		uint64_t groups = m->parking[word];

		for (uint32_t level = 0; level < MAPS_PRIORITIES; level++)
			groups |= m->levels[level].active[word];
		for (; groups != 0; groups &= groups - 1)
			group_pending(m, word * 64 + first_bit(groups));
	}
}
