/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rule is created when all tables behind it know its packets, and removed before they forget
 * them. Packets of the group keep their order: the ring drains before the queue is used, and the
 * queue before the ring is used again.
 */
#include "server/steering.h"

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "platform/log/log.h"
#include "platform/port.h"
#include "server/groups.h"
#include "server/running.h"
#include "server/steering_plan.h"
#include "sharing/steered.h"

/* Time limits for a group to receive earlier packets. The longer one is for changes that cannot be
 * postponed: the group loses all rules, or another group is added. */
#define SETTLE_MS 100
#define FORCED_MS 1000
#define CARD_US 100 /* after which packets that the NIC has steered are in their queue */

struct steering_rule {
	struct flow_match match;
	struct rte_flow *flow;
};

/* The rules of one group. */
struct steering_rules {
	struct steering_rule *list;
	unsigned count, wanted;
};

struct port_steering {
	struct steering_rules groups[SERVER_MAX_GROUPS];
};

static enum share_side side_of(const struct server_port *port) {
	return port->role == DEVICE_RPHY ? SHARE_RPHY : SHARE_NETWORK;
}

/* The groups that use the port. */
static struct group_slots groups_of(const struct server *s, const struct group_slots *all,
				    unsigned port) {
	struct group_slots groups = *all;

	for (unsigned g = 0; g < groups.count; g++) {
		if (s->ports.of[g][s->ports.list[port].role] != port)
			groups.list[g] = NULL;
	}
	return groups;
}

/* Whether the NIC accepts one of these rules. */
static bool accepts_one(const struct server_port *port, const struct flow_match *list,
			unsigned count, uint16_t queue) {
	for (unsigned i = 0; i < count; i++) {
		struct rte_flow *flow = NULL;

		if (flow_valid(port->id, &list[i], queue))
			flow = flow_create(port->id, &list[i], queue);
		if (flow == NULL)
			continue;
		flow_destroy(port->id, flow);
		return true;
	}
	return false;
}

/* Drivers may validate a rule that they cannot create, so one is created, on a started port. */
static bool port_steers(const struct server *s, const struct group_slots *all, unsigned index) {
	const struct server_port *port = &s->ports.list[index];
	struct group_slots groups = groups_of(s, all, index);
	bool accepts = false;

	if (!flow_known(port->id) || /* do not start a port with queues that no group will use */
	    port_start(port->id, device_role_title(port->role)) != 0)
		return false;
	for (unsigned g = 0; g < groups.count && g < port->queues && !accepts; g++) {
		struct flow_match *list = NULL;
		unsigned count = 0;

		if (groups.list[g] != NULL)
			count = steering_plan(side_of(port), &groups, g, &list);
		accepts = accepts_one(port, list, count, (uint16_t)(g + 1));
		free(list);
	}
	port_stop(port->id);
	return accepts;
}

int server_steering_probe(struct server *s) {
	struct group_slots all = group_slots_of(s->config);
	struct rte_mempool *uepi = s->pools.uepi != NULL ? s->pools.uepi : s->pools.packets;

	for (unsigned p = 0; p < s->ports.count; p++) {
		struct server_port *port = &s->ports.list[p];

		if (!port->open || port->queues_max == 0)
			continue;
		if (port->queues > 0 && port_steers(s, &all, p)) {
			s->steering[p] = calloc(1, sizeof(*s->steering[p]));
			if (s->steering[p] != NULL)
				continue;
		}
		if (server_port_unsteer(port,
					port->role == DEVICE_RPHY ? uepi : s->pools.packets) != 0)
			return -1;
	}
	return 0;
}

static bool wants(const struct flow_match *list, unsigned count, const struct flow_match *match) {
	for (unsigned i = 0; i < count; i++) {
		if (flow_match_same(&list[i], match))
			return true;
	}
	return false;
}

static bool has(const struct steering_rules *r, const struct flow_match *match) {
	for (unsigned i = 0; i < r->count; i++) {
		if (flow_match_same(&r->list[i].match, match))
			return true;
	}
	return false;
}

/* A change of a group's rules. */
struct steering_change {
	struct server *server;
	unsigned port, group;
	struct steering_rules *rules;
	const struct flow_match *list; /* rules that it will have */
	unsigned count;
	unsigned adds, removes;
	uint64_t end; /* limit of the wait for earlier packets, TSC */
};

/* Creates as many as the NIC accepts: packets of a session without a rule arrive in queue 0. */
static void rules_add(struct steering_change *c) {
	struct steering_rules *r = c->rules;
	uint16_t port = c->server->ports.list[c->port].id, queue = (uint16_t)(c->group + 1);
	struct steering_rule *list = realloc(r->list, (r->count + c->adds) * sizeof(*list));

	if (list == NULL)
		return;
	r->list = list;
	for (unsigned i = 0; i < c->count; i++) {
		struct rte_flow *flow;

		if (has(r, &c->list[i]) || !flow_valid(port, &c->list[i], queue))
			continue;
		flow = flow_create(port, &c->list[i], queue);
		if (flow != NULL)
			list[r->count++] = (struct steering_rule){c->list[i], flow};
	}
}

static void rules_remove(struct steering_change *c) {
	struct steering_rules *r = c->rules;
	unsigned kept = 0;

	for (unsigned i = 0; i < r->count; i++) {
		if (wants(c->list, c->count, &r->list[i].match))
			r->list[kept++] = r->list[i];
		else
			flow_destroy(c->server->ports.list[c->port].id, r->list[i].flow);
	}
	r->count = kept;
}

/* The TSC value `ms` from now. */
static uint64_t end_in(unsigned ms) {
	return rte_rdtsc() + rte_get_tsc_hz() / 1000 * ms;
}

/* Returns whether to check again: workers run, and there is time. */
static bool nap(const struct server *s, uint64_t end, unsigned *us) {
	if (!server_runs(s) || rte_rdtsc() >= end)
		return false;
	worker_nap(us);
	return true;
}

/* Waits until the group has received what the change before left behind. Returns whether it has: a
 * drained group receives nothing. */
static bool settle(const struct server *s, const struct port_share *share, unsigned group,
		   uint64_t end) {
	unsigned us = 0;

	while (!share_queue_settled(share, group)) {
		if (!nap(s, end, &us))
			return !server_runs(s);
	}
	return true;
}

/* Creates new rules before it removes old ones, so that packets that match both stay in the
 * queue. */
static void rules_change(struct steering_change *c) {
	struct port_share *share = c->server->shares.of[c->port];
	bool last, leaves = c->count == 0;

	if (!settle(c->server, share, c->group, c->end) && !leaves)
		/* keep the old rules: packets arrive in order, and software distributes them */
		return;
	if (c->adds > 0) {
		share_queue_pause(share, c->group);
		server_synchronize(c->server);
		rules_add(c);
	}
	last = c->removes > 0 && c->rules->count == c->removes;
	if (last) {
		share_ring_pause(share, c->group);
		server_synchronize(c->server);
	}
	rules_remove(c);
	if (server_runs(c->server))
		rte_delay_us_sleep(CARD_US);
	if (last)
		share_ring_resume(share, c->group);
	if (c->adds > 0)
		share_queue_resume(share, c->group);
}

static void group_steer(struct server *s, unsigned port, unsigned group,
			const struct flow_match *list, unsigned count, uint64_t end) {
	struct steering_rules *rules = &s->steering[port]->groups[group];
	struct steering_change c = {s, port, group, rules, list, count, 0, 0, end};

	for (unsigned i = 0; i < count; i++)
		c.adds += !has(rules, &list[i]);
	for (unsigned i = 0; i < rules->count; i++)
		c.removes += !wants(list, count, &rules->list[i].match);
	rules->wanted = count;
	if (c.adds + c.removes > 0)
		rules_change(&c);
}

/* Sets the rules of all groups in service. */
static void port_steer(struct server *s, unsigned port, const struct group_slots *all,
		       unsigned ms) {
	struct group_slots groups = groups_of(s, all, port);

	for (unsigned g = 0; g < groups.count; g++) {
		struct flow_match *list = NULL;
		unsigned count;

		if (groups.list[g] == NULL || !s->groups[g].in_service ||
		    s->shares.of[port]->members[g].queue.id == 0)
			continue;
		count = steering_plan(side_of(&s->ports.list[port]), &groups, g, &list);
		group_steer(s, port, g, list, count, end_in(ms));
		free(list);
	}
}

/* Whether rules can be created and groups have queues for their packets. */
static bool steers(const struct server *s, unsigned port) {
	const struct port_share *share = s->shares.of[port];

	return s->steering[port] != NULL && share != NULL && share->misdirected != NULL &&
	       s->ports.list[port].open;
}

void server_steer(struct server *s, unsigned port) {
	struct group_slots all = server_slots(s);

	if (steers(s, port))
		port_steer(s, port, &all, SETTLE_MS);
}

/*
 * Waits until the group has received what its queue has now, or until the limit. Each count stands
 * for at least one poll that found the queue empty. The poll of the present count may have been
 * earlier, so the wait is for two.
 */
static void queue_wait(const struct server *s, const struct port_share *share, unsigned group,
		       uint64_t end) {
	uint64_t emptied = share_queue_emptied(share, group) + 2;
	unsigned us = 0;

	while (share_queue_emptied(share, group) < emptied && nap(s, end, &us))
		;
}

/* The same for the ring of misdirected packets, which the owner distributes. */
static void misdirected_wait(const struct server *s, const struct port_share *share, uint64_t end) {
	uint64_t handed = share_misdirected_handed(share);
	unsigned us = 0;

	while (!share_misdirected_dequeued(share, handed) && nap(s, end, &us))
		;
	server_synchronize(s);
}

void server_steer_before(struct server *s, unsigned port, unsigned group,
			 const struct service_group *sg) {
	const struct port_share *share = s->shares.of[port];
	struct group_slots all = server_slots(s);
	uint64_t end;

	if (!steers(s, port))
		return;
	for (; all.count <= group; all.count++)
		all.list[all.count] = NULL;
	all.list[group] = sg;
	port_steer(s, port, &all, FORCED_MS);
	end = end_in(FORCED_MS);
	for (unsigned g = 0; g < s->group_count; g++) {
		if (share->members[g].queue.id != 0 && s->groups[g].in_service &&
		    !s->groups[g].drained && settle(s, share, g, end))
			queue_wait(s, share, g, end);
	}
	misdirected_wait(s, share, end);
}

void server_steering_clear(struct server *s, unsigned port, unsigned group) {
	if (s->steering[port] != NULL)
		group_steer(s, port, group, NULL, 0, end_in(FORCED_MS));
}

void server_steering_start(struct server *s) {
	for (unsigned p = 0; p < s->ports.count; p++)
		server_steer(s, p);
}

unsigned server_steering_text(const struct server *s, unsigned port, char text[STEERING_TEXT]) {
	const struct server_port *p = &s->ports.list[port];
	const struct port_steering *steering = s->steering[port];
	const char *by = NULL;
	unsigned steered = 0;

	for (unsigned g = 0; steering != NULL && g < SERVER_MAX_GROUPS; g++) {
		if (steering->groups[g].count == 0)
			continue;
		if (by == NULL || by == steering_plan_name(&steering->groups[g].list[0].match))
			by = steering_plan_name(&steering->groups[g].list[0].match);
		else
			by = "VLAN, MAC address or session";
		steered++;
	}
	if (steered > 0)
		snprintf(text, STEERING_TEXT, "%u of %u groups to queues of their own, by %s",
			 steered, p->users, by);
	else
		snprintf(text, STEERING_TEXT, "off: %s",
			 p->no_steering ? "as configured" : "the device does not accept the rules");
	return steered;
}

void server_steering_log(const struct server *s) {
	char text[STEERING_TEXT];

	for (unsigned p = 0; p < s->ports.count; p++) {
		const struct server_port *port = &s->ports.list[p];

		if (s->shares.of[p] == NULL)
			continue;
		server_steering_text(s, p, text);
		log_notice("port", LOG_FIELDS(LOG_STRING("port", device_role_title(port->role))),
			   "%s port %.*s, steering: %s", device_role_title(port->role),
			   (int)strcspn(port->device, ","), port->device, text);
	}
}

void server_steering_end(struct server *s, unsigned port) {
	struct port_steering *steering = s->steering[port];

	for (unsigned g = 0; steering != NULL && g < SERVER_MAX_GROUPS; g++) {
		for (unsigned i = 0; i < steering->groups[g].count; i++)
			flow_destroy(s->ports.list[port].id, steering->groups[g].list[i].flow);
		free(steering->groups[g].list);
	}
	free(steering);
	s->steering[port] = NULL;
}

void server_steering_free(struct server *s) {
	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++)
		server_steering_end(s, p);
}
