/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage lists of a shared port, its memory, pending packets and the stop. */
#include "sharing/sharing.h"

#include <stdio.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "platform/log/log.h"
#include "sharing/stages.h"
#include "sharing/steered.h"

_Static_assert(SHARE_MAX_GROUPS <= 64, "a bit each in share_table.with_mac");

static const struct stage receiving[] = {
	{"receive", "burst of frames from the shared port", "ethdev", share_receive, .polls = true},
	{"tell_apart", "VLAN, session, MAC or subscriber's address to the group's ring",
	 "hash + ring", share_distribute, .polls = true},
};

static const struct stage sending[] = {
	{"send", "frames of all groups, from their ring to the port", "ring + ethdev", share_send,
	 .polls = true},
};

static uint64_t receiving_due(const void *ctx) {
	const struct port_share *s = ctx;

	return share_misdirected(s) > 0 ? 0 : UINT64_MAX;
}

static uint64_t sending_due(const void *ctx) {
	const struct port_share *s = ctx;

	return share_pending_out(s) > 0 ? 0 : UINT64_MAX;
}

const struct stage_list share_lists[SHARE_LISTS] = {
	{"shared port, to the groups", receiving, RTE_DIM(receiving), .due = receiving_due},
	{"shared port, from the groups", sending, RTE_DIM(sending), .due = sending_due},
};

static struct rte_ring *ring_create(const struct port_share *s, unsigned size, unsigned flags) {
	static unsigned made; /* for unique names in DPDK */
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *ring;

	snprintf(name, sizeof(name), "share_%u", made++);
	ring = rte_ring_create(name, size, SOCKET_ID_ANY, flags | RING_F_EXACT_SZ);
	if (ring == NULL)
		log_error("memory", LOG_NO_FIELDS, "port %s: no ring of %u packets: %s", s->name,
			  size, rte_strerror(rte_errno));
	return ring;
}

int share_member_open(struct port_share *s, unsigned group, unsigned ring_size) {
	struct share_member *member = &s->members[group];
	struct rte_ring *ring = ring_create(s, ring_size, RING_F_SP_ENQ | RING_F_SC_DEQ);

	if (ring == NULL)
		return -1;
	*member = (struct share_member){.ring = ring};
	return 0;
}

static void ring_end(struct port_share *s, struct rte_ring *ring, enum drop_reason reason) {
	struct rte_mbuf *m;

	while (ring != NULL && rte_ring_dequeue(ring, (void **)&m) == 0)
		drop(&s->counters, m, reason);
}

bool share_member_drain(struct port_share *s, unsigned group, unsigned max) {
	struct rte_mbuf *m;

	for (; max > 0; max--) {
		if (rte_ring_dequeue(s->members[group].ring, (void **)&m) != 0)
			return share_queue_drain(s, group, max);
		drop(&s->counters, m, DROP_PORT_STOPPED);
	}
	return false;
}

void share_member_close(struct port_share *s, unsigned group) {
	struct share_member *member = &s->members[group];

	ring_end(s, member->ring, DROP_PORT_STOPPED);
	share_queue_close(s, group);
	rte_ring_free(member->ring);
	member->ring = NULL;
}

/* RTS mode: a producer that lost its core while it enqueues does not block the others. */
int share_send_open(struct port_share *s, unsigned ring_size) {
	if (s->send.ring == NULL)
		s->send.ring = ring_create(s, ring_size, RING_F_MP_RTS_ENQ | RING_F_SC_DEQ);
	return s->send.ring == NULL ? -1 : 0;
}

void share_send_close(struct port_share *s) {
	rte_ring_free(s->send.ring);
	s->send.ring = NULL;
}

int share_misdirected_open(struct port_share *s, unsigned queues, unsigned ring_size) {
	for (unsigned q = 1; q <= queues; q++)
		s->spare |= UINT64_C(1) << q;
	s->misdirected = ring_create(s, ring_size, RING_F_MP_RTS_ENQ | RING_F_SC_DEQ);
	return s->misdirected == NULL ? -1 : 0;
}

static int rings_open(struct port_share *s, const struct share_config *c) {
	if (c->sends_by_ring && share_send_open(s, c->ring_size) != 0)
		return -1;
	for (unsigned g = 0; g < c->group_count; g++) {
		if (c->groups[g] != NULL && share_member_open(s, g, c->ring_size) != 0)
			return -1;
	}
	return 0;
}

struct port_share *share_create(const struct share_config *c, char why[LIVE_LINE]) {
	struct port_share *s = rte_zmalloc("port_share", sizeof(*s), RTE_CACHE_LINE_SIZE);

	why[0] = '\0';
	if (s == NULL) {
		log_error("memory", LOG_NO_FIELDS, "port %s: no memory to share it", c->name);
		return NULL;
	}
	s->name = c->name;
	s->side = c->side;
	s->from = c->from;
	s->send.to = c->to;
	s->table = share_table_create(c->name, c->side, c->groups, c->group_count, why);
	if (s->table == NULL || rings_open(s, c) != 0) {
		share_free(s);
		return NULL;
	}
	pipeline_init(&s->receiving, &share_lists[0], s);
	pipeline_init(&s->sending, &share_lists[1], s);
	return s;
}

void share_free(struct port_share *s) {
	if (s == NULL)
		return;
	share_stop(s);
	for (unsigned g = 0; g < SHARE_MAX_GROUPS; g++)
		rte_ring_free(s->members[g].ring);
	rte_ring_free(s->send.ring);
	rte_ring_free(s->misdirected);
	share_table_free(s->table);
	rte_free(s);
}

struct share_table *share_table_replace(struct port_share *s, struct share_table *table) {
	return __atomic_exchange_n(&s->table, table, __ATOMIC_ACQ_REL);
}

struct packet_source share_source(struct port_share *s, unsigned group) {
	struct packet_source source = {
		.ring = s->members[group].ring,
		.emptied = &s->emptied,
		.port = s->from.port,
		.queue = s->from.queue,
	};

	if (s->members[group].queue.id != 0)
		share_queue_source(s, group, &source);
	return source;
}

struct packet_sink share_sink(const struct port_share *s) {
	struct packet_sink sink = s->send.to;

	sink.ring = s->send.ring;
	return sink;
}

uint64_t share_pending_in(const struct port_share *s) {
	uint64_t pending = 0;

	for (unsigned g = 0; g < SHARE_MAX_GROUPS; g++)
		pending += s->members[g].ring != NULL ? rte_ring_count(s->members[g].ring) : 0;
	return pending;
}

uint64_t share_misdirected(const struct port_share *s) {
	return s->misdirected != NULL ? rte_ring_count(s->misdirected) : 0;
}

uint64_t share_pending_out(const struct port_share *s) {
	return s->send.count + (s->send.ring != NULL ? rte_ring_count(s->send.ring) : 0);
}

void share_counters(const struct port_share *s, struct counters *sum) {
	const struct share_queue all = share_queues_sum(s);

	*sum = s->counters;
	count(sum, COUNTER_PORT_RECEIVED, all.received);
	count(sum, COUNTER_PORT_RECEIVED_BYTES, all.received_bytes);
	count(sum, COUNTER_PORT_STEERED, all.steered);
	count(sum, COUNTER_PORT_MISDIRECTED, all.misdirected_count);
	sum->drops[DROP_PORT_MISDIRECTED] += all.misdirected_dropped;
}

bool share_balanced(const struct port_share *s) {
	struct counters c;
	uint64_t later;

	share_counters(s, &c);
	later = c.drops[DROP_PORT_STOPPED] + c.drops[DROP_PORT_UNSENT];
	return c.values[COUNTER_PORT_RECEIVED] ==
	       c.values[COUNTER_PORT_HANDED] + c.values[COUNTER_PORT_STEERED] +
		       share_misdirected(s) + counters_dropped(&c) - later;
}

void share_close(struct port_share *s) {
	__atomic_store_n(&s->closed, true, __ATOMIC_RELEASE);
}

void share_send_shut(struct port_share *s, bool shut) {
	s->send.to.shut = shut;
}

void share_stop(struct port_share *s) {
	for (unsigned g = 0; g < SHARE_MAX_GROUPS; g++)
		ring_end(s, s->members[g].ring, DROP_PORT_STOPPED);
	ring_end(s, s->misdirected, DROP_PORT_MISDIRECTED);
	for (; s->send.count > 0; s->send.count--)
		drop(&s->counters, s->send.waiting[s->send.first++], DROP_PORT_UNSENT);
	ring_end(s, s->send.ring, DROP_PORT_UNSENT);
}
