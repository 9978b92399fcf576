/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/tables.h"

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#include "platform/large_pages.h"

static void *zalloc(const char *what, size_t count, size_t size) {
	void *p = rte_zmalloc_socket(what, (count + 1) * size, RTE_CACHE_LINE_SIZE,
				     large_pages_socket());

	if (p == NULL)
		fprintf(stderr, "upstream: no memory for %zu %s records\n", count, what);
	return p;
}

static struct rte_hash *hash_create(const char *what, uint32_t id, size_t entries) {
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters p = {
		.name = name,
		.entries = (uint32_t)RTE_MAX(entries + entries / 4, (size_t)64),
		.key_len = sizeof(uint32_t),
		.hash_func = rte_hash_crc,
		.socket_id = large_pages_socket(),
	};
	struct rte_hash *hash;

	snprintf(name, sizeof(name), "%s_%u", what, id);
	hash = rte_hash_create(&p);
	if (hash == NULL)
		fprintf(stderr, "upstream: no hash table %s of %zu entries: %s\n", name, entries,
			rte_strerror(rte_errno));
	return hash;
}

/* The table stores a pointer; ours is a number of the same size. */
static int hash_add(struct rte_hash *hash, uint32_t key, uint32_t value) {
	if (rte_hash_add_key_data(hash, &key, (void *)(uintptr_t)value) == 0)
		return 0;
	fprintf(stderr, "upstream: key 0x%x does not fit the hash table\n", key);
	return -1;
}

static int session_add(struct us_tables *t, uint32_t id, uint32_t channel,
		       enum us_session_kind kind, enum uepi_format format) {
	struct us_session *s = &t->sessions[t->session_count];

	if (id == 0)
		return 0;
	s->channel = (uint16_t)channel;
	s->kind = kind;
	s->format = format;
	for (unsigned f = 0; f < US_PSP_FLOWS; f++) {
		order_init(&s->flows[f].order, UINT16_MAX, US_PSP_WINDOW);
		hold_init(&s->flows[f].hold, HOLD_PACKETS, HOLD_NOBODY);
		hold_init(&s->flows[f].burst.hold, HOLD_BURST, HOLD_NOBODY);
	}
	return hash_add(t->by_session, id, t->session_count++);
}

static int sessions_create(struct us_tables *t, const struct service_group *sg) {
	int ret = 0;

	t->sessions = zalloc("session", 3 * sg->upstream_channel_count, sizeof(*t->sessions));
	t->by_session = hash_create("us_session", sg->id, 3 * sg->upstream_channel_count);
	if (t->sessions == NULL || t->by_session == NULL)
		return -1;
	for (uint32_t c = 0; c < sg->upstream_channel_count && ret == 0; c++) {
		const struct upstream_channel *k = &sg->upstream_channels[c];
		enum uepi_format format = k->type == UPSTREAM_OFDMA ? UEPI_OFDMA : UEPI_SC_QAM;

		ret |= session_add(t, k->session, c, US_DATA, format);
		ret |= session_add(t, k->request_session, c, US_REQUESTS, format);
		ret |= session_add(t, k->ranging_session, c, US_RANGING, format);
	}
	return ret;
}

static void stream_init(struct us_stream *s, uint32_t flow, uint32_t modem, uint8_t cluster) {
	order_init(&s->order, US_SEQUENCE_MASK, US_SEGMENT_WINDOW);
	s->flow = flow;
	s->modem = modem;
	s->cluster = cluster;
	s->lost = true;
	hold_init(&s->segments_hold, HOLD_SEGMENTS, modem);
	hold_init(&s->frame_hold, HOLD_FRAME, modem);
}

static void keys_set(struct us_flow *f, const struct security_association *sa, void *const *keys) {
	f->has_key = sa->cipher != CIPHER_NONE;
	f->keys[0].session = keys[0];
	f->keys[0].sequence = sa->key_sequence;
	memcpy(f->keys[0].iv, sa->iv, sizeof(sa->iv));
	f->keys[1].session = sa->has_next_key ? keys[1] : NULL;
	f->keys[1].sequence = (sa->key_sequence + 1) & 0xf;
	memcpy(f->keys[1].iv, sa->next_iv, sizeof(sa->next_iv));
}

/* A flow with its streams and SIDs; `sids` is where the SIDs of all flows have got to. */
static int flow_add(struct us_tables *t, const struct upstream_service_flow *f, uint32_t modem,
		    uint16_t **sids) {
	struct us_flow *d = &t->flows[t->flow_count];
	int ret = 0;

	d->modem = modem;
	d->first_stream = t->stream_count;
	d->stream_count = (uint8_t)f->cluster_count;
	d->segment_header = f->segment_header;
	d->sids = *sids;
	hold_init(&d->fragments.hold, HOLD_FRAGMENTS, modem);
	for (size_t c = 0; c < f->cluster_count; c++) {
		const struct sid_cluster *k = &f->clusters[c];

		stream_init(&t->streams[t->stream_count], t->flow_count, modem, k->id);
		for (size_t s = 0; s < k->sid_count; s++) {
			ret |= hash_add(t->by_sid, us_sid_key(k->sids[s].channel, k->sids[s].sid),
					t->stream_count);
			*(*sids)++ = k->sids[s].sid;
		}
		t->stream_count++;
	}
	d->sid_count = (uint16_t)(*sids - d->sids);
	t->flow_count++;
	return ret;
}

/* Whose frames are management messages only. */
static void ranging_add(struct us_tables *t) {
	struct us_flow *d = &t->flows[t->flow_count];

	d->modem = HOLD_NOBODY;
	d->first_stream = t->stream_count;
	d->stream_count = 1;
	hold_init(&d->fragments.hold, HOLD_FRAGMENTS, HOLD_NOBODY);
	stream_init(&t->streams[t->stream_count++], t->flow_count++, HOLD_NOBODY, 0);
}

static int flows_create(struct us_tables *t, const struct service_group *sg, void *const *keys) {
	size_t flows = 1, streams = 1, sids = 0;
	uint16_t *next;

	for (size_t m = 0; m < sg->modem_count; m++) {
		flows += sg->modems[m].upstream_flow_count;
		for (size_t f = 0; f < sg->modems[m].upstream_flow_count; f++) {
			const struct upstream_service_flow *k = &sg->modems[m].upstream_flows[f];

			streams += k->cluster_count;
			for (size_t c = 0; c < k->cluster_count; c++)
				sids += k->clusters[c].sid_count;
		}
	}
	t->flows = zalloc("upstream flow", flows, sizeof(*t->flows));
	t->streams = zalloc("stream", streams, sizeof(*t->streams));
	t->sids = next = zalloc("SID", sids, sizeof(*t->sids));
	t->by_sid = hash_create("us_sid", sg->id, sids);
	if (t->flows == NULL || t->streams == NULL || t->sids == NULL || t->by_sid == NULL)
		return -1;
	for (size_t m = 0; m < sg->modem_count; m++) {
		for (size_t f = 0; f < sg->modems[m].upstream_flow_count; f++) {
			keys_set(&t->flows[t->flow_count], &sg->modems[m].security, &keys[2 * m]);
			if (flow_add(t, &sg->modems[m].upstream_flows[f], (uint32_t)m, &next) != 0)
				return -1;
		}
	}
	ranging_add(t);
	return 0;
}

static int modems_create(struct us_tables *t, const struct service_group *sg) {
	size_t ipv4 = 0, ipv6 = 0;

	for (size_t m = 0; m < sg->modem_count; m++) {
		for (size_t a = 0; a < sg->modems[m].address_count; a++)
			(*(sg->modems[m].addresses[a].family == 4 ? &ipv4 : &ipv6))++;
	}
	t->modem_count = (uint32_t)sg->modem_count;
	t->modems = zalloc("modem", sg->modem_count, sizeof(*t->modems));
	t->ipv4 = zalloc("IPv4 address", ipv4, sizeof(*t->ipv4));
	t->ipv6 = zalloc("IPv6 address", ipv6, sizeof(*t->ipv6));
	if (t->modems == NULL || t->ipv4 == NULL || t->ipv6 == NULL)
		return -1;
	ipv4 = ipv6 = 0;
	for (size_t m = 0; m < sg->modem_count; m++) {
		struct us_modem *d = &t->modems[m];

		d->ipv4 = t->ipv4 + ipv4;
		d->ipv6 = (const uint8_t (*)[16])(t->ipv6 + ipv6);
		for (size_t a = 0; a < sg->modems[m].address_count; a++) {
			const struct ip_address *address = &sg->modems[m].addresses[a];

			if (address->family == 4) {
				memcpy(&t->ipv4[ipv4++], address->bytes, 4);
				d->ipv4_count++;
			} else {
				memcpy(t->ipv6[ipv6++], address->bytes, 16);
				d->ipv6_count++;
			}
		}
	}
	return 0;
}

int us_tables_create(struct us_tables *t, const struct service_group *sg, void *const *keys) {
	memset(t, 0, sizeof(*t));
	return sessions_create(t, sg) == 0 && flows_create(t, sg, keys) == 0 &&
			       modems_create(t, sg) == 0
		       ? 0
		       : -1;
}

void us_tables_free(struct us_tables *t) {
	rte_hash_free(t->by_session);
	rte_hash_free(t->by_sid);
	rte_free(t->sessions);
	rte_free(t->flows);
	rte_free(t->streams);
	rte_free(t->sids);
	rte_free(t->modems);
	rte_free(t->ipv4);
	rte_free(t->ipv6);
	memset(t, 0, sizeof(*t));
}

bool us_flow_has_sid(const struct us_flow *f, uint16_t sid) {
	for (unsigned i = 0; i < f->sid_count; i++) {
		if (f->sids[i] == sid)
			return true;
	}
	return false;
}

struct us_stream *us_stream_of_sid(struct us_tables *t, uint32_t channel, uint16_t sid) {
	uint32_t key = us_sid_key(channel, sid);
	void *found;

	if (rte_hash_lookup_data(t->by_sid, &key, &found) < 0)
		return NULL;
	return &t->streams[(uintptr_t)found];
}

struct us_stream *us_cluster_stream(struct us_tables *t, const struct us_stream *any_of_flow,
				    uint8_t cluster) {
	const struct us_flow *f = &t->flows[any_of_flow->flow];

	for (unsigned s = 0; s < f->stream_count; s++) {
		if (t->streams[f->first_stream + s].cluster == cluster)
			return &t->streams[f->first_stream + s];
	}
	return NULL;
}
