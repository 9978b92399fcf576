/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds, changes and removes flows. */
#include "scheduler/maps/lists.h"

/* Index of the flow's first cluster in cluster_groups[]. */
static uint32_t base_of(uint32_t flow) {
	return flow * MAPS_MAX_CLUSTERS;
}

static uint64_t channels_of(const struct maps_cluster *cluster) {
	uint64_t channels = 0;

	for (size_t i = 0; i < cluster->count; i++)
		channels |= UINT64_C(1) << cluster->sids[i].channel;
	return channels;
}

static bool sid_is_used(const struct channel *c, uint16_t sid) {
	return c->used_sids[sid / 32] >> sid % 32 & 1;
}

/* Releases the flow's SIDs, committed capacity and groups, or (`back`) claims them again. */
static void resources(struct maps *m, uint32_t flow, bool back) {
	for (uint32_t i = 0; i < m->flows[flow].clusters; i++) {
		struct group *g = &m->groups[m->cluster_groups[base_of(flow) + i]];

		g->users += back ? 1u : -1u;
		for (uint64_t left = g->channels; left != 0; left &= left - 1) {
			uint32_t at = first_bit(left);
			struct channel *c = &m->channels[at];
			uint16_t sid = sid_state_of(m, flow, i, at)->sid;
			uint32_t units = i == 0 ? *committed_of(m, flow, at) : 0;

			c->used_sids[sid / 32] ^= 1u << sid % 32;
			c->committed += back ? units : -units;
		}
	}
}

/* Finds the group of a set of channels, or NONE. Sets `unused` to the first free group and counts
 * the free groups. */
static uint32_t find_group(const struct maps *m, uint64_t channels, uint32_t *unused,
			   uint32_t *count) {
	uint32_t found = NONE;

	*unused = NONE;
	*count = 0;
	for (uint32_t i = 0; i < MAPS_SETS; i++) {
		if (m->groups[i].users == 0) {
			*unused = (*count)++ == 0 ? i : *unused;
		} else if (m->groups[i].channels == channels) {
			found = i;
		}
	}
	return found;
}

/* Claims the groups, SIDs and capacity that check_resources() and admit() found free. */
static void claim_resources(struct maps *m, uint32_t flow, const struct maps_flow *s,
			    const uint32_t *plan) {
	for (uint32_t i = 0; i < s->cluster_count; i++) {
		uint32_t unused, count;
		uint32_t found = find_group(m, channels_of(&s->clusters[i]), &unused, &count);
		struct group *g = &m->groups[found == NONE ? unused : found];

		g->users++;
		g->channels = channels_of(&s->clusters[i]);
		m->cluster_groups[base_of(flow) + i] = (uint16_t)(g - m->groups);
		m->cluster_owed[base_of(flow) + i] = 0;
		for (size_t j = 0; j < s->clusters[i].count; j++) {
			const struct maps_sid *sid = &s->clusters[i].sids[j];
			struct channel *c = &m->channels[sid->channel];

			*sid_state_of(m, flow, i, sid->channel) = (struct sid_state){sid->sid, 0};
			c->used_sids[sid->sid / 32] |= 1u << sid->sid % 32;
			if (i == 0) {
				*committed_of(m, flow, sid->channel) = plan[sid->channel];
				c->committed += plan[sid->channel];
			}
		}
	}
}

/* Whether each set of channels has a group or gets a free one. */
static bool sets_fit(const struct maps *m, const struct maps_flow *s) {
	uint32_t wanted = 0, unused, count = 0;

	for (size_t i = 0; i < s->cluster_count; i++) {
		uint64_t channels = channels_of(&s->clusters[i]);
		bool before = false;

		for (size_t j = 0; j < i; j++)
			before = before || channels_of(&s->clusters[j]) == channels;
		if (find_group(m, channels, &unused, &count) == NONE && !before)
			wanted++;
	}
	return wanted <= count;
}

/* Claims the SIDs of a cluster, or (`back`) releases them. Returns their number, which is less
 * than `count` if a SID is in use. */
static size_t sids_try(struct maps *m, const struct maps_cluster *cluster, size_t count,
		       bool back) {
	for (size_t j = 0; j < count; j++) {
		const struct maps_sid *sid = &cluster->sids[j];
		struct channel *c = &m->channels[sid->channel];

		if (!back && sid_is_used(c, sid->sid))
			return j;
		c->used_sids[sid->sid / 32] ^= 1u << sid->sid % 32;
	}
	return count;
}

/* Checks that groups and SIDs are free. */
static const char *check_resources(struct maps *m, const struct maps_flow *s) {
	size_t tried[MAPS_MAX_CLUSTERS], i = 0, clusters;
	bool good = true;

	if (!sets_fit(m, s))
		return "there are more than 256 different sets of channels";
	for (; good && i < s->cluster_count; i++) {
		tried[i] = sids_try(m, &s->clusters[i], s->clusters[i].count, false);
		good = tried[i] == s->clusters[i].count;
	}
	for (clusters = i; clusters > 0; clusters--)
		sids_try(m, &s->clusters[clusters - 1], tried[clusters - 1], true);
	return good ? NULL : "a SID is in two clusters of a channel";
}

/* Removes the flow with the bytes owed to it, and releases its resources. */
static void forget(struct maps *m, uint32_t flow) {
	struct flow *f = &m->flows[flow];

	if (f->state == FLOW_UNUSED)
		return;
	flow_idle(m, flow);
	timers_clear(&m->timers, timer_of(m, TIMER_SERVICE, flow));
	m->counts.forgotten_bytes += f->owed;
	m->counts.owed_bytes -= f->owed;
	resources(m, flow, false);
	*f = (struct flow){.state = FLOW_UNUSED};
}

static void flow_reset(struct maps *m, uint32_t flow, const struct maps_flow *s) {
	m->flows[flow] = (struct flow){
		.max = s->max_burst == 0 ? UINT32_MAX : s->max_burst - s->header_bytes,
		.header = (uint8_t)s->header_bytes,
		.clusters = (uint8_t)s->cluster_count,
		.priority = s->priority,
		.type = (uint8_t)s->type,
		.state = FLOW_IDLE,
		.request_channel = (uint8_t)s->clusters[0].sids[0].channel,
		.round = m->round - 1,
	};
}

/* Begins with the resources of the flow. */
static void begin(struct maps *m, uint32_t flow, const struct maps_flow *s, uint8_t channel,
		  uint64_t now) {
	flow_set_cluster(m, flow, 0);
	rates_set(m, flow, s);
	m->services[flow].channel = channel;
	if (s->type != MAPS_BEST_EFFORT)
		service_begin(m, flow, s, now);
}

const char *maps_set_flow(struct maps *m, uint32_t flow, const struct maps_flow *s, uint64_t now) {
	uint32_t plan[MAPS_MAX_CHANNELS];
	const char *why;
	uint8_t channel;

	if (flow >= m->flow_count)
		return "there is no capacity for the flow";
	if (s->cluster_count == 0) {
		forget(m, flow);
		return NULL;
	}
	why = check_flow(m, s);
	if (why != NULL)
		return why;
	resources(m, flow, false);
	why = check_resources(m, s);
	if (why == NULL)
		why = admit(m, s, plan, &channel);
	resources(m, flow, true);
	if (why != NULL)
		return why;
	forget(m, flow);
	flow_reset(m, flow, s);
	claim_resources(m, flow, s, plan);
	begin(m, flow, s, channel, now);
	return NULL;
}
