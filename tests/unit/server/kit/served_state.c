/* SPDX-License-Identifier: BSD-3-Clause */
#include "served_state.h"

#include "test.h"

#include <inttypes.h>

#include <jansson.h>

#include "model/live/group_json.h"
#include "model/live/live_group.h"

#include "life_kit.h"

struct state {
	FILE *to;
	const struct server *s;
	bool exact; /* as in served_state() */
};

static uint64_t digest(const void *bytes, size_t size) {
	uint64_t sum = 1;

	digest_add(&sum, bytes, size);
	return sum;
}

/* Writes the number of keys and a digest of keys (if exact, and values) in any order. */
static void write_hash(const struct state *t, const char *name, const struct rte_hash *h,
		       size_t key_size) {
	uint64_t sum = 0;
	const void *key;
	uint32_t at = 0;
	void *data;

	while (h != NULL && rte_hash_iterate(h, &key, &data, &at) >= 0)
		sum += digest(key, key_size) ^ (t->exact ? digest(&data, sizeof(data)) : 0);
	fprintf(t->to, "  %s: %d keys, %" PRIx64 "\n", name, h != NULL ? rte_hash_count(h) : 0,
		sum);
}

static void write_counters(const struct state *t, const char *name, const struct counters *c) {
	fprintf(t->to, "  %s: dropped %" PRIu64 ", all %" PRIx64 "\n", name, counters_dropped(c),
		digest(c, sizeof(*c)));
}

static uint64_t count_retiring(const struct ds_slots *p, const struct group_capacity *capacity) {
	uint64_t sum = 0;

	for (uint32_t i = 0; i < capacity->modems; i++)
		sum += p->retiring[LIVE_MODEM][i];
	for (uint32_t i = 0; i < capacity->channels; i++)
		sum += p->retiring[LIVE_CHANNEL][i] + p->groups_leaving[i];
	for (uint32_t i = 0; i < capacity->bonding_groups; i++)
		sum += p->retiring[LIVE_BONDING_GROUP][i] + p->flows_leaving[i];
	return sum;
}

static void write_downstream(const struct state *t, const struct downstream *d) {
	const struct ds_tables *tables = &d->tables;
	struct counters c;

	write_hash(t, "ipv4", tables->ipv4, 4);
	write_hash(t, "ipv6", tables->ipv6, 16);
	write_hash(t, "mac", tables->mac, 6);
	fprintf(t->to, "  slots: %u free flows, %" PRIu64 " retiring, change %d\n",
		d->slots.free_flow_count, count_retiring(&d->slots, &tables->capacity),
		d->slots.latest != NULL);
	fprintf(t->to, "  lists: %u filters of %zu rules, %u classifiers of %zu rules\n",
		d->lists.filters.used, d->lists.filters.rule_count, d->lists.classifiers.used,
		d->lists.classifiers.rule_count);
	if (!t->exact)
		return;
	fprintf(t->to, "  modems %" PRIx64 ", flows %" PRIx64 ", rules %" PRIx64 " %" PRIx64 "\n",
		digest(tables->modems, tables->capacity.modems * sizeof(*tables->modems)),
		digest(tables->flows, tables->flow_count * sizeof(*tables->flows)),
		digest(&d->upper.filters, sizeof(d->upper.filters)),
		digest(&d->upper.classifiers, sizeof(d->upper.classifiers)));
	fprintf(t->to, "  crypto %p\n", (void *)d->lower.crypto);
	downstream_counters(d, &c);
	write_counters(t, "downstream", &c);
}

static void write_upstream(const struct state *t, const struct upstream *u) {
	const struct us_tables *tables = &u->tables;

	if (u == NULL)
		return;
	write_hash(t, "sessions", tables->by_session, 4);
	write_hash(t, "sids", tables->by_sid, 4);
	fprintf(t->to, "  free: %u flows, %u streams, %u sessions; %u sids\n",
		tables->slots.flows.count, tables->slots.streams.count,
		tables->slots.sessions.count, tables->slots.sids);
	for (uint32_t m = 0; t->exact && m < tables->modem_count; m++) {
		const struct us_modem_data *own = tables->slots.modem_data[m];

		fprintf(t->to, "  modem %u: own %p, reserved %d, keys", m, (const void *)own,
			tables->slots.reserved[m]);
		/* only flows of modems: others may have been prepared */
		for (uint32_t f = 0; own != NULL && f < own->flow_count; f++)
			fprintf(t->to, " %" PRIx64,
				digest(&tables->flows[own->flows[f].flow],
				       sizeof(tables->flows[0])));
		fprintf(t->to, "\n");
	}
	if (!t->exact)
		return;
	fprintf(t->to, "  modems %" PRIx64 ", crypto %p\n",
		digest(tables->modems, tables->modem_count * sizeof(*tables->modems)),
		(void *)u->r.crypto);
	write_counters(t, "upstream", &u->counters);
}

static void write_keys(const struct state *t, const struct served_group *g) {
	const struct group_crypto *c = &g->crypto;
	size_t modems = g->sg->modem_count;

	fprintf(t->to, "  provider %s, keys rolled %" PRIu64 " %" PRIu64 "\n", c->provider->name,
		t->exact ? g->key_rolls[0] : 0, t->exact ? g->key_rolls[1] : 0);
	if (!t->exact)
		return;
	fprintf(t->to, "  queues %p %p, schedules %" PRIx64, (void *)c->queues[0],
		(void *)c->queues[1], digest(c->schedules, modems * sizeof(*c->schedules)));
	if (c->up_schedules != NULL)
		fprintf(t->to, " %" PRIx64,
			digest(c->up_schedules, 2 * modems * sizeof(*c->up_schedules)));
	fprintf(t->to, "\n");
}

static void write_group(const struct state *t, const struct served_group *g) {
	json_t *json = group_json(&g->live, true);
	char *text = json_dumps(json, JSON_SORT_KEYS | JSON_INDENT(1));

	assert_non_null(text);
	fprintf(t->to, "group %u, drained %d, needs %" PRIx64 "\n%s\n", g->sg->id, g->drained,
		digest(&g->needs, sizeof(g->needs)), text);
	free(text);
	json_decref(json);
	write_keys(t, g);
	write_downstream(t, g->downstream);
	write_upstream(t, g->upstream);
}

static void write_share(const struct state *t, unsigned p) {
	const struct port_share *share = t->s->shares.of[p];
	uint64_t members = 0;
	struct counters c;

	for (unsigned g = 0; g < SHARE_MAX_GROUPS; g++)
		members |= (uint64_t)(share->members[g].ring != NULL) << g;
	fprintf(t->to, "  share: owner %u, receives %d, sends %d, ring %d, members %" PRIx64 "\n",
		t->s->shares.owners[p], t->s->shares.receives[p], t->s->shares.sends[p],
		share->send.ring != NULL, members);
	write_hash(t, "addresses", share->table->groups, sizeof(struct share_key));
	fprintf(t->to, "  change %d\n", share->changes != NULL);
	if (!t->exact)
		return;
	fprintf(t->to, "  table %p, spare %" PRIx64 "\n", (void *)share->table, share->spare);
	share_counters(share, &c);
	write_counters(t, "port", &c);
}

static void write_ports(const struct state *t) {
	for (unsigned p = 0; p < t->s->ports.count; p++) {
		const struct server_port *port = &t->s->ports.list[p];

		if (port->users == 0)
			continue;
		fprintf(t->to,
			"port %s: role %d, first %u, users %u, shared %d, queue %u, mtu %u, "
			"counted %u, state %d, open %d\n",
			port->device, port->role, t->exact ? port->first : 0, port->users,
			port->shared, port->queue_size, port->mtu, port->counted, port->state,
			port->open);
		if (t->s->shares.of[p] != NULL)
			write_share(t, p);
	}
}

static void write_workers(const struct state *t) {
	for (unsigned w = 0; w < t->s->worker_count; w++) {
		const struct worker *worker = &t->s->workers[w];

		fprintf(t->to, "worker %u: %s, %u lists, idle %d\n", w, worker->name,
			worker->entry_count, worker->idle.config.kind);
		for (unsigned e = 0; t->exact && e < worker->entry_count; e++)
			fprintf(t->to, "  %p\n", (void *)worker->entries[e].pipeline);
	}
}

static void write_server(const struct state *t) {
	const struct server *s = t->s;
	const struct pool_needs *reserved = &s->pools.reserved;

	fprintf(t->to, "buffers: %u %u %u %u %u, linear %d\n", reserved->packets,
		reserved->depi_frames, reserved->uepi, reserved->frames, reserved->pieces,
		s->pools.linear != NULL);
	fprintf(t->to, "retiring %d, measures %d %d, power %" PRIx64 "\n", s->retiring != NULL,
		s->measures.cycles.on, s->measures.latency.on, digest(&s->power, sizeof(s->power)));
	for (unsigned p = 0; p < s->crypto.count; p++)
		fprintf(t->to, "provider %s: %u keys\n", s->crypto.open[p]->name,
			s->crypto.open[p]->keys);
	if (!t->exact)
		return;
	fprintf(t->to, "generation %" PRIu64 ", group slots %u, removed groups %u\n", s->generation,
		s->group_count, s->removed.groups);
	fprintf(t->to, "layout %" PRIx64 " %" PRIx64 ", device handles %" PRIx64 "\n",
		digest(&s->layout, sizeof(s->layout)), digest(&s->planned, sizeof(s->planned)),
		digest(s->crypto.open, s->crypto.count * sizeof(s->crypto.open[0])));
	write_counters(t, "removed shared ports", &s->removed.ports);
}

static void write_groups(const struct state *t) {
	for (unsigned id = 0; id <= LIFE_IDS; id++) {
		for (unsigned g = 0; g < t->s->group_count; g++) {
			if (!t->s->groups[g].in_service || t->s->groups[g].sg->id != id)
				continue;
			if (t->exact)
				fprintf(t->to, "slot %u\n", g);
			write_group(t, &t->s->groups[g]);
		}
	}
}

char *served_state(const struct server *s, bool exact) {
	char *text;
	size_t size;
	struct state t = {open_memstream(&text, &size), s, exact};

	assert_non_null(t.to);
	write_server(&t);
	write_workers(&t);
	write_ports(&t);
	write_groups(&t);
	fclose(t.to);
	return text;
}

void served_state_check(const char *before, const char *now, const char *what) {
	const char *line = before;

	if (strcmp(before, now) == 0)
		return;
	while (*before == *now) {
		if (*before == '\n')
			line = before + 1;
		before++;
		now++;
	}
	fail_msg("%s: state differs: expected \"%.*s\", found \"%.*s\"", what,
		 (int)strcspn(line, "\n"), line, (int)strcspn(now, "\n"), now);
}
