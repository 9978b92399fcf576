/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/state/make_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#include "platform/large_pages.h"
#include "platform/log/log.h"
#include "upstream/state/records.h"

/* for changes: a flow that is replaced and its successor both need a slot until the change ends */
#define SPARE_FLOWS 32
#define SPARE_STREAMS (2 * SPARE_FLOWS)

static void *zalloc(const char *what, size_t count, size_t size) {
	void *p = rte_zmalloc_socket(what, (count + 1) * size, RTE_CACHE_LINE_SIZE,
				     large_pages_socket());

	if (p == NULL)
		log_error("memory", LOG_NO_FIELDS, "upstream: no memory for %zu %s records", count,
			  what);
	return p;
}

/* The extendable table fits all `entries`, so that a change cannot fail after it began. */
static struct rte_hash *hash_create(const char *what, uint32_t id, size_t entries) {
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters p = {
		.name = name,
		.entries = (uint32_t)RTE_MAX(entries, (size_t)64),
		.key_len = sizeof(uint32_t),
		.hash_func = rte_hash_crc,
		.socket_id = large_pages_socket(),
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};
	struct rte_hash *hash;

	snprintf(name, sizeof(name), "%s_%u", what, id);
	hash = rte_hash_create(&p);
	if (hash == NULL)
		log_error("memory", LOG_NO_FIELDS, "upstream: no hash table %s of %zu entries: %s",
			  name, entries, rte_strerror(rte_errno));
	return hash;
}

/* The table stores a pointer; the value is an index instead. */
static int hash_add(struct rte_hash *hash, uint32_t key, uint32_t value) {
	if (rte_hash_add_key_data(hash, &key, (void *)(uintptr_t)value) == 0)
		return 0;
	log_error("upstream", LOG_NO_FIELDS, "upstream: key 0x%x does not fit the hash table", key);
	return -1;
}

static uint32_t sessions_of(const struct service_group *sg) {
	uint32_t sessions = 0;

	for (size_t c = 0; c < sg->upstream_channel_count; c++) {
		for (enum us_session_kind k = 0; k < US_SESSION_KINDS; k++)
			sessions += us_session_id(&sg->upstream_channels[c], k) != 0;
	}
	return sessions;
}

struct group_capacity us_capacity_exact(const struct service_group *sg) {
	struct group_capacity capacity = {
		.modems = (uint32_t)sg->modem_count,
		.upstream_channels = (uint32_t)sg->upstream_channel_count,
	};

	for (size_t m = 0; m < sg->modem_count; m++) {
		capacity.upstream_flows += (uint32_t)sg->modems[m].upstream_flow_count;
		for (size_t f = 0; f < sg->modems[m].upstream_flow_count; f++) {
			const struct upstream_service_flow *k = &sg->modems[m].upstream_flows[f];

			capacity.streams += (uint32_t)k->cluster_count;
			for (size_t c = 0; c < k->cluster_count; c++)
				capacity.sids += (uint32_t)k->clusters[c].sid_count;
		}
	}
	return capacity;
}

static int channel_add(struct us_tables *t, uint32_t channel, const struct upstream_channel *k) {
	for (enum us_session_kind kind = 0; kind < US_SESSION_KINDS; kind++) {
		uint32_t id = us_session_id(k, kind), *slot = &t->channels[channel].sessions[kind];

		*slot = id != 0 ? us_session_plan(t, id, channel, kind, us_format_of(k)) : US_NONE;
		if (*slot != US_NONE && hash_add(t->by_session, id, *slot) != 0)
			return -1;
	}
	return 0;
}

static int sessions_create(struct us_tables *t, const struct service_group *sg) {
	t->sessions = zalloc("session", t->session_count, sizeof(*t->sessions));
	t->channels = zalloc("channel", t->channel_count, sizeof(*t->channels));
	t->by_session = hash_create("us_session", sg->id, t->session_count);
	if (t->sessions == NULL || t->channels == NULL || t->by_session == NULL ||
	    us_free_slots_create(&t->slots.sessions, t->session_count) != 0)
		return -1;
	for (uint32_t c = 0; c < t->channel_count; c++) {
		static const struct upstream_channel none;
		bool exists = c < sg->upstream_channel_count;

		if (channel_add(t, c, exists ? &sg->upstream_channels[c] : &none) != 0)
			return -1;
	}
	return 0;
}

static int flow_add(struct us_tables *t, const struct us_flow_plan *p,
		    const struct upstream_service_flow *f) {
	for (size_t c = 0; c < f->cluster_count; c++) {
		for (size_t s = 0; s < f->clusters[c].sid_count; s++) {
			const struct upstream_sid *k = &f->clusters[c].sids[s];

			if (hash_add(t->by_sid, us_sid_key(k->channel, k->sid), p->streams[c]) != 0)
				return -1;
			t->slots.sids++;
		}
	}
	return 0;
}

static int modem_add(struct us_tables *t, uint32_t m, const struct modem *k, void *const *keys) {
	struct us_modem_data *modem_data = t->slots.modem_data[m] = us_modem_data_create(k, NULL);
	struct us_flow_plan p;
	struct us_keys keys_of;

	if (modem_data == NULL)
		return -1;
	t->modems[m] = us_modem_of(modem_data);
	us_keys_plan(&keys_of, &k->security, keys);
	for (unsigned g = 0; g < US_GENERATIONS; g++)
		modem_data->schedules[g] = keys_of.generations[g].schedule;
	for (uint32_t f = 0; f < modem_data->flow_count; f++) {
		if (!us_flow_plan(t, modem_data, f, &k->upstream_flows[f], m, &p) ||
		    flow_add(t, &p, &k->upstream_flows[f]) != 0)
			return -1;
		us_flow_put(t, &p, &keys_of);
	}
	return 0;
}

/* The flow without a modem: bursts of ranging sessions and request opportunities. */
static void ranging_add(struct us_tables *t) {
	struct us_flow *d = &t->flows[t->flow_count - 1];

	d->modem = PENDING_NO_MODEM;
	d->streams[d->stream_count++] = us_ranging_stream(t);
	pending_init(&d->fragments.pending, PENDING_FRAGMENTS, PENDING_NO_MODEM);
	us_stream_init(&t->streams[us_ranging_stream(t)], t->flow_count - 1, PENDING_NO_MODEM, 0);
}

static int modems_create(struct us_tables *t, const struct service_group *sg, void *const *keys) {
	t->flows = zalloc("upstream flow", t->flow_count, sizeof(*t->flows));
	t->tos = zalloc("TOS overwrite", t->flow_count, sizeof(*t->tos));
	t->streams = zalloc("stream", t->stream_count, sizeof(*t->streams));
	t->modems = zalloc("modem", t->modem_count, sizeof(*t->modems));
	t->by_sid = hash_create("us_sid", sg->id, t->slots.sid_capacity);
	if (t->flows == NULL || t->tos == NULL || t->streams == NULL || t->modems == NULL ||
	    t->by_sid == NULL || us_free_slots_create(&t->slots.flows, t->flow_count - 1) != 0 ||
	    us_free_slots_create(&t->slots.streams, t->stream_count - 1) != 0 ||
	    us_slots_create(&t->slots, t->modem_count) != 0)
		return -1;
	for (uint32_t m = 0; m < sg->modem_count; m++) {
		const struct modem *k = &sg->modems[m];

		bool exists = modem_exists(k) || k->upstream_flow_count > 0 || k->address_count > 0;

		if (exists && modem_add(t, m, k, &keys[(size_t)2 * m]) != 0)
			return -1;
	}
	ranging_add(t);
	return 0;
}

int us_tables_create(struct us_tables *t, const struct service_group *sg,
		     const struct group_capacity *capacity, void *const *keys) {
	struct group_capacity exact = us_capacity_exact(sg);
	const struct group_capacity *r = capacity != NULL ? capacity : &exact;

	memset(t, 0, sizeof(*t));
	t->channel_count = r->upstream_channels;
	/* a session that is replaced and its successor both need a slot until the change ends */
	t->session_count =
		capacity != NULL ? 2 * US_SESSION_KINDS * r->upstream_channels : sessions_of(sg);
	t->modem_count = r->modems;
	t->flow_count = r->upstream_flows + 1 + (capacity != NULL ? SPARE_FLOWS : 0);
	t->stream_count = r->streams + 1 + (capacity != NULL ? SPARE_STREAMS : 0);
	t->slots.sid_capacity = r->sids;
	if (sessions_create(t, sg) == 0 && modems_create(t, sg, keys) == 0)
		return 0;
	log_error("upstream", LOG_NO_FIELDS, "upstream: no tables");
	return -1;
}

void us_tables_free(struct us_tables *t) {
	rte_hash_free(t->by_session);
	rte_hash_free(t->by_sid);
	rte_free(t->sessions);
	rte_free(t->channels);
	rte_free(t->flows);
	rte_free(t->tos);
	rte_free(t->streams);
	rte_free(t->modems);
	us_slots_free(&t->slots, t->modem_count);
	memset(t, 0, sizeof(*t));
}
