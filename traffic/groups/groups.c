/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the traffic of several service groups on one thread, with common ports and pools. */
#include "groups/groups.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "directions/downlink.h"
#include "directions/traffic_change.h"
#include "directions/traffic_parts.h"
#include "groups/rates.h"
#include "groups/shared_port_side.h"
#include "rphy/uplink_output.h"

#define GROUPS_MORE 4 /* capacity of the buffers: groups that may be added */

static struct shared_port *share_of(struct groups *g, uint16_t port,
				    const struct shared_port_side *side) {
	struct shared_port *s;

	for (unsigned i = 0; i < g->share_count; i++) {
		if (g->shares[i]->port == port)
			return g->shares[i];
	}
	s = shared_port_create(port, side);
	if (s == NULL)
		fprintf(stderr, "traffic: no memory for the ports of service groups\n");
	else
		g->shares[g->share_count++] = s;
	if (s != NULL) {
		s->follows = g->follows;
		s->evidence = g->options.evidence;
	}
	return s;
}

/* Sets the options for ports that are shared or separated by VLAN. */
static void sharing_find(const struct service_group *sgs, struct traffic_options *options,
			 unsigned count) {
	for (unsigned i = 0; i < count; i++) {
		bool follows = options[i].streams > 0;

		/* An added group may share the port of a group that was alone. */
		options[i].network_shared = sgs[i].network.vlan != 0 || follows;
		options[i].rphy_shared = sgs[i].rphy_port.vlan != 0 || follows;
		for (unsigned j = 0; j < count; j++) {
			if (j == i)
				continue;
			if (options[j].network_port == options[i].network_port) {
				options[i].network_shared = true;
				options[i].network_by_address |=
					sgs[j].network.vlan == sgs[i].network.vlan &&
					!sgs[i].network.has_mac;
			}
			if (options[j].rphy_port == options[i].rphy_port) {
				options[i].rphy_shared = true;
				options[i].rphy_by_session |=
					sgs[j].rphy_port.vlan == sgs[i].rphy_port.vlan;
			}
		}
	}
}

/* R-PHY ports first: a round processes the downstream before the upstream. */
static bool shares_add(struct groups *g, const struct service_group *sgs,
		       const struct traffic_options *options, unsigned count) {
	for (unsigned i = 0; i < count; i++) {
		struct shared_port *s;

		if (!options[i].rphy_shared)
			continue;
		s = share_of(g, options[i].rphy_port, &shared_port_rphy);
		if (s == NULL)
			return false;
		shared_port_add(s, i, &sgs[i]);
	}
	for (unsigned i = 0; i < count; i++) {
		struct shared_port *s;

		if (!options[i].network_shared || !options[i].upstream)
			continue;
		s = share_of(g, options[i].network_port, &shared_port_network);
		if (s == NULL)
			return false;
		shared_port_add(s, i, &sgs[i]);
	}
	return true;
}

static bool shares_build(struct groups *g, const struct service_group *sgs) {
	for (unsigned i = 0; i < g->share_count; i++) {
		if (shared_port_build(g->shares[i], sgs) != 0)
			return false;
	}
	return true;
}

/* One group's buffers suffice for all groups, so the groups share pools. */
static bool pools_create(struct groups *g, const struct service_group *sgs,
			 struct traffic_options *options, unsigned count) {
	bool downstream = false, upstream = false;
	uint32_t mtu = 0;

	if (count == 1 && !g->follows)
		return true;
	for (unsigned i = 0; i < count; i++) {
		downstream = downstream || !options[i].no_downstream;
		upstream = upstream || options[i].upstream;
		mtu = RTE_MAX(mtu, sgs[i].rphy.mtu);
	}
	if (downstream && ((g->packets = downlink_packets_pool()) == NULL ||
			   (g->frames = downlink_frames_pool()) == NULL))
		return false;
	if (upstream && (g->uplink_packets = uplink_output_pool(
				 count + (g->follows ? GROUPS_MORE : 0), mtu)) == NULL)
		return false;
	for (unsigned i = 0; i < count; i++) {
		options[i].packets = g->packets;
		options[i].frames = g->frames;
		options[i].uplink_packets = g->uplink_packets;
	}
	return true;
}

/* Adds the group at the next index. */
static void group_add(struct groups *g, struct traffic *t) {
	struct run_group *n = &g->run_groups.all[g->count];

	g->all[g->count++] = t;
	if (t->downlink != NULL) {
		n->modems = &t->downlink->modems;
		n->generator = t->downlink->generator;
	}
	n->uplink = t->uplink;
	g->run_groups.count = g->count;
}

static bool traffics_create(struct groups *g, const struct service_group *sgs,
			    struct traffic_options *options, unsigned count) {
	for (unsigned i = 0; i < count; i++) {
		struct traffic *t;

		options[i].group = i;
		options[i].run_groups = count > 1 || g->follows ? &g->run_groups : NULL;
		t = traffic_create(&sgs[i], &options[i]);
		if (t == NULL) {
			if (count > 1)
				fprintf(stderr,
					"traffic: the message above is of service "
					"group %u\n",
					sgs[i].id);
			return false;
		}
		group_add(g, t);
	}
	return true;
}

int groups_create(struct groups *g, const struct service_group *sgs,
		  struct traffic_options *options, unsigned count) {
	*g = (struct groups){.follows = options[0].streams > 0};
	g->options.evidence = options[0].evidence;
	sharing_find(sgs, options, count);
	if (!shares_add(g, sgs, options, count) || !shares_build(g, sgs) ||
	    !pools_create(g, sgs, options, count) || !traffics_create(g, sgs, options, count))
		return -1;
	g->options = options[0];
	return 0;
}

/* Scales the first group's rate by the ratio of the channel capacities. */
static uint64_t rate_of(uint64_t rate, uint64_t capacity, uint64_t first) {
	unsigned __int128 part = (unsigned __int128)rate * capacity;

	return rate == 0 || first == 0 ? rate : RTE_MAX((uint64_t)(part / first), (uint64_t)1);
}

static bool ports_are_shared(const struct groups *g) {
	for (unsigned i = 1; i < g->count; i++) {
		if (g->all[i]->network_port != g->options.network_port ||
		    g->all[i]->rphy_port != g->options.rphy_port)
			return false;
	}
	return g->follows;
}

struct traffic *groups_prepare(const struct groups *g, const struct service_group *sg,
			       uint32_t streams, uint32_t upstream_streams) {
	struct traffic_options o = g->options;
	const struct service_group *first = g->all[0]->sg;
	const char *why = NULL;

	if (g->count == SERVER_MAX_GROUPS)
		why = "there are too many groups";
	else if (!ports_are_shared(g))
		why = "it has its own ports";
	if (why != NULL) {
		fprintf(stderr, "traffic: service group %u gets no traffic: %s\n", sg->id, why);
		return NULL;
	}
	o.witness = NULL; /* the configuration that the decoder reads does not have this group */
	o.group = g->count;
	o.seed += g->count;
	o.rate = rate_of(o.rate, rates_downstream_capacity(sg), rates_downstream_capacity(first));
	o.upstream = o.upstream && rates_upstream_capacity(sg) > 0;
	o.upstream_rate = rate_of(o.upstream_rate, rates_upstream_capacity(sg),
				  rates_upstream_capacity(first));
	o.streams = streams;
	o.upstream_streams = upstream_streams;
	return traffic_create(sg, &o);
}

void groups_offer(struct groups *g, struct groups_offer *offer) {
	__atomic_store_n(&g->offered, offer, __ATOMIC_RELEASE);
}

bool groups_applied(const struct groups *g) {
	return __atomic_load_n(&g->offered, __ATOMIC_ACQUIRE) == NULL;
}

static void group_apply(struct groups *g, const struct groups_offer *offer, uint64_t now) {
	for (unsigned i = 0; i < g->share_count; i++) {
		struct shared_port *s = g->shares[i];
		const struct shared_port_side *side = s->side;

		if (side == &shared_port_rphy || offer->traffic->uplink != NULL)
			shared_port_add(s, g->count, offer->sg);
	}
	group_add(g, offer->traffic);
	traffic_begin(offer->traffic, now);
	if (g->all[0]->stopped)
		traffic_stop(offer->traffic);
	__atomic_store_n(&g->offered, NULL, __ATOMIC_RELEASE);
}

void groups_of_one(struct groups *g, struct traffic *t) {
	*g = (struct groups){.all = {t}, .count = 1};
}

void groups_free(struct groups *g) {
	for (unsigned i = 0; i < g->count; i++)
		traffic_free(g->all[i]);
	for (unsigned i = 0; i < g->share_count; i++)
		shared_port_free(g->shares[i]);
	rte_mempool_free(g->uplink_packets);
	rte_mempool_free(g->frames);
	rte_mempool_free(g->packets);
	*g = (struct groups){0};
}

void groups_begin(struct groups *g, uint64_t now) {
	for (unsigned i = 0; i < g->count; i++)
		traffic_begin(g->all[i], now);
}

unsigned groups_send(struct groups *g, uint64_t now) {
	const struct groups_offer *offer = __atomic_load_n(&g->offered, __ATOMIC_ACQUIRE);
	unsigned n = 0;

	if (offer != NULL)
		group_apply(g, offer, now);
	/* If groups share a full port, the first one takes all its free descriptors, so the order rotates. */
	for (unsigned i = 0, at = g->rotation; i < g->count; i++) {
		n += traffic_send(g->all[at], i == 0 ? now : rte_rdtsc());
		at = at + 1 == g->count ? 0 : at + 1;
	}
	g->rotation = g->rotation + 1 == g->count ? 0 : g->rotation + 1;
	return n;
}

static void share_emptied(struct groups *g, const struct shared_port *s) {
	for (unsigned i = 0; i < g->count; i++) {
		if (s->has[i])
			traffic_change_emptied(g->all[i]);
	}
}

/* Polls a shared port as often as each group would have polled it, while bursts are full. */
static unsigned share_receive(struct groups *g, struct shared_port *s) {
	unsigned n = 0, last = SHARED_PORT_BURST;

	for (unsigned i = 0; i < g->count && last == SHARED_PORT_BURST; i++) {
		last = shared_port_poll(s, g->all);
		n += last;
	}
	if (g->follows && s->side == &shared_port_rphy && last < SHARED_PORT_BURST)
		share_emptied(g, s);
	return n;
}

unsigned groups_receive(struct groups *g) {
	unsigned n = 0;

	for (unsigned i = 0; i < g->share_count; i++)
		n += share_receive(g, g->shares[i]);
	for (unsigned i = 0; i < g->count; i++)
		n += traffic_receive(g->all[i]);
	return n;
}

unsigned groups_drain(struct groups *g) {
	unsigned n = 0;

	for (unsigned i = 0; i < g->share_count; i++)
		n += shared_port_discard(g->shares[i]);
	for (unsigned i = 0; i < g->count; i++)
		n += traffic_drain(g->all[i]);
	return n;
}

void groups_stop(struct groups *g) {
	for (unsigned i = 0; i < g->count; i++)
		traffic_stop(g->all[i]);
}

bool groups_all_sent(const struct groups *g) {
	for (unsigned i = 0; i < g->count; i++) {
		if (!traffic_all_sent(g->all[i]))
			return false;
	}
	return true;
}

bool groups_pending(const struct groups *g) {
	for (unsigned i = 0; i < g->count; i++) {
		const struct uplink *u = g->all[i]->uplink;

		if (u != NULL && uplink_scheduled(u) && !uplink_empty(u))
			return true;
	}
	return false;
}

bool groups_unresolved(const struct groups *g) {
	for (unsigned i = 0; i < g->count; i++) {
		if (traffic_unresolved(g->all[i]))
			return true;
	}
	return false;
}

uint64_t groups_in_flight(const struct groups *g) {
	uint64_t n = 0;

	for (unsigned i = 0; i < g->count; i++)
		n += traffic_in_flight(g->all[i]);
	return n;
}

void groups_finish(struct groups *g) {
	for (unsigned i = 0; i < g->count; i++)
		traffic_finish(g->all[i]);
}
