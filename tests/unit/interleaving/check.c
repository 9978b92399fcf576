/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the tables of the data plane with the configuration in service. */

#include <rte_hash.h>

#include "downstream/tables.h"
#include "upstream/state/records.h"

#include "server_simulation.h"

#include "test.h"

/* A group whose tables are checked, and the number of keys that each table must have. */
struct group_check {
	const struct served_group *g;
	const struct service_group *sg;
	unsigned ipv4, ipv6, macs, sids, sessions;
	bool *used_flows; /* by downstream flow number: a modem uses it */
};

static void check_downstream_address(struct group_check *c, size_t slot, const struct ip_address *a,
				     uint64_t *seen_addresses) {
	struct rte_hash *table = ds_addresses(&c->g->downstream->tables, a->family);
	uint64_t bit;
	void *entry;

	assert_true(rte_hash_lookup_data(table, a->bytes, &entry) >= 0);
	assert_int_equal(ds_entry_modem((uintptr_t)entry), slot);
	bit = UINT64_C(1) << ds_entry_address((uintptr_t)entry);
	assert_true((*seen_addresses & bit) == 0);
	*seen_addresses |= bit;
	*(a->family == 4 ? &c->ipv4 : &c->ipv6) += 1;
}

/* In the key schedules of the IPsec library, the first round key of AES is the key itself. */
static void check_schedule(const void *schedule, const struct security_association *sa,
			   const uint8_t *key) {
	assert_non_null(schedule);
#ifndef VCMTS_NO_IPSEC_MB
	if (sa->cipher == CIPHER_AES_128)
		assert_memory_equal(schedule, key, 16);
#endif
}

static void check_downstream_flow(struct group_check *c, size_t slot, size_t flow) {
	const struct ds_tables *t = &c->g->downstream->tables;
	const struct modem *m = &c->sg->modems[slot];
	uint32_t number = ds_modem_flows(t, (uint32_t)slot)[flow];
	struct ds_flow expected;

	assert_true(number < t->flow_count && !c->used_flows[number]);
	c->used_flows[number] = true;
	memset(&expected, 0, sizeof(expected));
	ds_flow_fill(&expected, m, &m->service_flows[flow], c->g->crypto.schedules[slot]);
	assert_memory_equal(&t->flows[number], &expected, sizeof(expected));
	check_schedule(c->g->crypto.schedules[slot], &m->security, association_key(&m->security));
}

static void check_downstream_modem(struct group_check *c, size_t slot) {
	const struct ds_tables *t = &c->g->downstream->tables;
	const struct modem *m = &c->sg->modems[slot];
	uint64_t seen_addresses = 0;
	void *entry;

	for (size_t a = 0; a < m->address_count; a++)
		check_downstream_address(c, slot, &m->addresses[a], &seen_addresses);
	assert_true(rte_hash_lookup_data(t->mac, m->mac, &entry) >= 0);
	assert_int_equal(ds_entry_modem((uintptr_t)entry), slot);
	assert_memory_equal(t->modems[slot].mac, m->mac, sizeof(m->mac));
	assert_int_equal(t->modems[slot].cpe_limit, m->cpe_limit);
	for (size_t f = 0; f < m->service_flow_count; f++)
		check_downstream_flow(c, slot, f);
	c->macs++;
}

static void check_up_key(const struct group_check *c, size_t slot, const struct us_flow *f,
			 unsigned generation) {
	const struct security_association *sa = &c->sg->modems[slot].security;
	const struct crypto_key *key = &f->keys[generation];
	bool expected = sa->cipher != CIPHER_NONE && (generation == 0 || sa->has_next_key);

	assert_ptr_equal(key->schedule,
			 expected ? c->g->crypto.up_schedules[2 * slot + generation] : NULL);
	if (!expected)
		return;
	check_schedule(key->schedule, sa, generation == 0 ? sa->key : sa->next_key);
	assert_int_equal(key->sequence, (sa->key_sequence + generation) % ASSOCIATION_SEQUENCES);
	assert_memory_equal(key->iv, generation == 0 ? sa->iv : sa->next_iv, sizeof(sa->iv));
}

static void check_sid(struct group_check *c, size_t slot, const struct upstream_service_flow *f,
		      const struct sid_cluster *k, const struct upstream_sid *sid) {
	struct us_tables *t = &c->g->upstream->tables;
	const struct us_stream *stream = us_stream_of_sid(t, sid->channel, sid->sid);
	const struct us_flow *flow;

	assert_non_null(stream);
	assert_int_equal(stream->modem, slot);
	assert_int_equal(stream->cluster, k->id);
	flow = &t->flows[stream->flow];
	assert_int_equal(flow->modem, slot);
	assert_int_equal(flow->segment_header, f->segment_header);
	assert_int_equal(flow->stream_count, f->cluster_count);
	assert_true(us_flow_has_sid(flow, sid->sid));
	for (unsigned g = 0; g < US_GENERATIONS; g++)
		check_up_key(c, slot, flow, g);
	c->sids++;
}

static void check_upstream_modem(struct group_check *c, size_t slot) {
	const struct modem *m = &c->sg->modems[slot];

	for (size_t f = 0; f < m->upstream_flow_count; f++) {
		const struct upstream_service_flow *flow = &m->upstream_flows[f];

		for (size_t k = 0; k < flow->cluster_count; k++) {
			for (size_t s = 0; s < flow->clusters[k].sid_count; s++)
				check_sid(c, slot, flow, &flow->clusters[k],
					  &flow->clusters[k].sids[s]);
		}
	}
}

static void check_session(struct group_check *c, size_t slot, enum us_session_kind kind) {
	const struct us_tables *t = &c->g->upstream->tables;
	const struct upstream_channel *u = &c->sg->upstream_channels[slot];
	uint32_t id = us_session_id(u, kind), slot_index = t->channels[slot].sessions[kind];
	void *entry;

	if (id == 0) {
		assert_int_equal(slot_index, US_NONE);
		return;
	}
	assert_true(rte_hash_lookup_data(t->by_session, &id, &entry) >= 0);
	assert_int_equal((uintptr_t)entry, slot_index);
	assert_int_equal(t->sessions[slot_index].id, id);
	assert_int_equal(t->sessions[slot_index].channel, slot);
	assert_int_equal(t->sessions[slot_index].kind, kind);
	assert_int_equal(t->sessions[slot_index].format, us_format_of(u));
	c->sessions++;
}

static void check_upstream(struct group_check *c) {
	const struct us_tables *t = &c->g->upstream->tables;

	for (size_t slot = 0; slot < c->sg->modem_count; slot++) {
		if (modem_exists(&c->sg->modems[slot]))
			check_upstream_modem(c, slot);
	}
	for (size_t slot = 0; slot < c->sg->upstream_channel_count; slot++) {
		for (enum us_session_kind kind = 0; kind < US_SESSION_KINDS; kind++)
			check_session(c, slot, kind);
	}
	assert_int_equal(rte_hash_count(t->by_sid), c->sids);
	assert_int_equal(rte_hash_count(t->by_session), c->sessions);
}

static void check_group(const struct served_group *g) {
	struct group_check c = {.g = g, .sg = &g->live.sg};
	const struct ds_tables *t = &g->downstream->tables;

	c.used_flows = calloc(t->flow_count, sizeof(*c.used_flows));
	assert_non_null(c.used_flows);
	for (size_t slot = 0; slot < c.sg->modem_count; slot++) {
		if (modem_exists(&c.sg->modems[slot]))
			check_downstream_modem(&c, slot);
	}
	assert_int_equal(rte_hash_count(t->ipv4), c.ipv4);
	assert_int_equal(rte_hash_count(t->ipv6), c.ipv6);
	assert_int_equal(rte_hash_count(t->mac), c.macs);
	check_upstream(&c);
	free(c.used_flows);
}

static void check_same_keys(const struct share_table *t, const struct share_table *expected_table) {
	const void *stored; /* a key without its alignment */
	void *groups, *entry;
	struct share_key key;
	uint32_t iterator = 0;

	assert_int_equal(rte_hash_count(t->groups), rte_hash_count(expected_table->groups));
	while (rte_hash_iterate(expected_table->groups, &stored, &groups, &iterator) >= 0) {
		memcpy(&key, stored, sizeof(key));
		assert_true(rte_hash_lookup_data(t->groups, &key, &entry) >= 0);
		assert_ptr_equal(entry, groups);
	}
}

static void check_shared_port(const struct server *s, enum device_role role) {
	enum share_side side = role == DEVICE_RPHY ? SHARE_RPHY : SHARE_NETWORK;
	const struct service_group *groups[SERVER_MAX_GROUPS] = {NULL};
	const struct port_share *share = s->shares.of[s->ports.of[0][role]];
	struct share_table *expected_table;

	assert_non_null(share);
	for (unsigned g = 0; g < s->group_count; g++)
		groups[g] = s->groups[g].in_service ? &s->groups[g].live.sg : NULL;
	expected_table =
		share_table_create("model", side, groups, s->group_count, (char[LIVE_LINE]){0});
	assert_non_null(expected_table);
	check_same_keys(share->table, expected_table);
	share_table_free(expected_table);
}

void sim_check_tables(struct simulation *sim) {
	const struct server *s = &sim->kit.server;

	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service)
			check_group(&s->groups[g]);
	}
	check_shared_port(s, DEVICE_NETWORK);
	check_shared_port(s, DEVICE_RPHY);
}

/* Drop reasons of packets that are pending in removed flows and groups. */
static bool is_expected(enum drop_reason reason) {
	return reason == DROP_SERVICE_FLOW_REMOVED || reason == DROP_STOPPED ||
	       reason == DROP_PORT_STOPPED;
}

static void check_counters(const struct counters *c) {
	for (unsigned d = 0; d < DROP_REASONS; d++) {
		if (c->drops[d] != 0 && !is_expected((enum drop_reason)d))
			fail_msg("%lu packets dropped: %s", (unsigned long)c->drops[d],
				 drop_name((enum drop_reason)d));
	}
}

void sim_check_drops(struct simulation *sim) {
	const struct server *s = &sim->kit.server;
	struct counters c;

	for (unsigned p = 0; p < s->ports.count; p++) {
		if (s->shares.of[p] == NULL)
			continue;
		share_counters(s->shares.of[p], &c);
		check_counters(&c);
	}
	for (unsigned g = 0; g < SIM_PERMANENT; g++) {
		downstream_counters(s->groups[g].downstream, &c);
		check_counters(&c);
		check_counters(&s->groups[g].upstream->counters);
	}
}
