/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers the streams of a group, and samples how many packets of each have arrived. */
#include "follow/follow_streams.h"

#include <stdlib.h>
#include <string.h>

/* Flag in `first_sample` while follow_streams_keep() compares two sets. */
#define STREAM_NEW (1u << 31)

static bool sample_create(struct follow_sample *l, uint32_t capacity) {
	l->next = calloc(capacity + 1, sizeof(*l->next));
	l->missing = calloc(capacity + 1, sizeof(*l->missing));
	return l->next != NULL && l->missing != NULL;
}

static void sample_free(struct follow_sample *l) {
	free(l->next);
	free(l->missing);
}

bool follow_streams_create(struct follow_streams *s, uint32_t capacity, uint32_t modems,
			   uint64_t rest) {
	bool good = stream_numbers_create(&s->numbers, capacity, rest);

	s->modems = modems;
	s->first_sample = calloc(capacity + 1, sizeof(*s->first_sample));
	good = good && s->first_sample != NULL;
	good = sample_create(&s->sample, capacity) && good;
	good = sample_create(&s->latest, capacity) && good;
	for (int i = 0; i < 2; i++) {
		s->sets[i].streams = calloc(capacity + 1, sizeof(*s->sets[i].streams));
		s->sets[i].first = calloc(modems + 2, sizeof(*s->sets[i].first));
		good = good && s->sets[i].streams != NULL && s->sets[i].first != NULL;
	}
	return good;
}

void follow_streams_free(struct follow_streams *s) {
	stream_numbers_free(&s->numbers);
	free(s->first_sample);
	free(s->between);
	sample_free(&s->sample);
	sample_free(&s->latest);
	for (int i = 0; i < 2; i++) {
		free(s->sets[i].streams);
		free(s->sets[i].first);
	}
	*s = (struct follow_streams){0};
}

void follow_streams_sample(struct follow_streams *s, const struct proof *p) {
	const struct follow_set *set = &s->sets[s->current];

	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t stream = set->streams[i];

		s->latest.next[stream] =
			__atomic_load_n(&p->streams[stream].next, __ATOMIC_RELAXED);
		s->latest.missing[stream] =
			__atomic_load_n(&p->streams[stream].missing, __ATOMIC_RELAXED);
	}
}

void follow_streams_sample_valid(struct follow_streams *s) {
	struct follow_sample before = s->sample;

	s->sample = s->latest;
	s->latest = before;
	s->samples++;
}

struct numbering {
	struct follow_streams *s;
	struct follow_set *set; /* of the next change */
	uint64_t now;
	uint32_t *fresh;
	uint32_t fresh_count;
};

static bool numbering_begin(struct numbering *n, struct follow_streams *s, uint64_t now) {
	*n = (struct numbering){.s = s, .set = &s->sets[!s->current], .now = now};
	n->set->count = 0;
	n->fresh = calloc(s->numbers.capacity + 1, sizeof(*n->fresh));
	stream_numbers_begin(&s->numbers);
	return n->fresh != NULL;
}

static struct stream_key key_of(const struct modem *m, uint32_t flow, uint32_t dsid,
				uint16_t cluster) {
	struct stream_key key = {.cluster = cluster, .flow = flow, .dsid = dsid};

	memcpy(key.mac, m->mac, sizeof(key.mac));
	return key;
}

static uint32_t key_dsid(const struct service_flow *f) {
	return f->has_dsid ? f->dsid + 1 : 0;
}

static bool numbering_add(struct numbering *n, const struct modem *m, uint32_t flow, uint32_t dsid,
			  uint16_t cluster) {
	struct stream_key key = key_of(m, flow, dsid, cluster);
	bool fresh;
	uint32_t number;

	number = stream_number(&n->s->numbers, &key, n->now, &fresh);
	if (number == NO_STREAM_NUMBER)
		return false;
	if (fresh)
		n->fresh[n->fresh_count++] = number;
	n->set->streams[n->set->count++] = number;
	return true;
}

static bool numbering_end(struct numbering *n, bool good, struct follow_numbering *out) {
	if (!good || out == NULL) {
		free(n->fresh);
		return good;
	}
	*out = (struct follow_numbering){n->set->streams, n->fresh, n->fresh_count};
	return true;
}

bool follow_streams_downstream(struct follow_streams *s, const struct service_group *sg,
			       uint64_t now, struct follow_numbering *out) {
	struct numbering n;
	bool good = numbering_begin(&n, s, now);

	for (uint32_t m = 0; m < sg->modem_count; m++) {
		const struct modem *modem = &sg->modems[m];

		n.set->first[m] = n.set->count;
		for (size_t f = 0; good && f < modem->service_flow_count; f++) {
			const struct service_flow *flow = &modem->service_flows[f];

			good = numbering_add(&n, modem, flow->id, key_dsid(flow), 0);
		}
	}
	n.set->first[sg->modem_count] = n.set->count;
	return numbering_end(&n, good, out);
}

static bool modem_number(struct numbering *n, const struct modem *m) {
	bool good = true;

	for (size_t f = 0; f < m->upstream_flow_count; f++) {
		const struct upstream_service_flow *flow = &m->upstream_flows[f];

		for (size_t c = 0; good && c < flow->cluster_count; c++)
			good = numbering_add(n, m, flow->id, 0, flow->clusters[c].id);
	}
	return good;
}

bool follow_streams_upstream(struct follow_streams *s, const struct service_group *sg,
			     const bool *silent, uint64_t now, struct follow_numbering *out) {
	struct numbering n;
	bool good = numbering_begin(&n, s, now);

	for (uint32_t m = 0; m < sg->modem_count; m++) {
		n.set->first[m] = n.set->count;
		if (good && uplink_modem_sends(&sg->modems[m]) && (silent == NULL || !silent[m]))
			good = modem_number(&n, &sg->modems[m]);
	}
	n.set->first[sg->modem_count] = n.set->count;
	return numbering_end(&n, good, out);
}

/* Stores a rewrite that the server had. Ignores streams without a number: the traffic has sent no packets of
 * them. */
static void between_add(struct follow_streams *s, const struct stream_key *key,
			const struct rewrite *rewrite) {
	uint32_t stream = stream_number_find(&s->numbers, key);
	struct rewrite_between *grown;

	if (stream == NO_STREAM_NUMBER)
		return;
	grown = realloc(s->between, (s->between_count + 1) * sizeof(*grown));
	if (grown == NULL)
		return;
	s->between = grown;
	grown[s->between_count++] = (struct rewrite_between){stream, *rewrite};
}

void follow_streams_between_downstream(struct follow_streams *s, const struct modem *before,
				       const struct modem *next) {
	for (size_t i = 0; i < before->service_flow_count; i++) {
		const struct service_flow *f = &before->service_flows[i];
		struct stream_key key = key_of(before, f->id, key_dsid(f), 0);
		struct rewrite had = rewrite_of(f->overwrites_tos, &f->tos);
		bool same = false;

		for (size_t k = 0; next != NULL && k < next->service_flow_count; k++) {
			const struct service_flow *n = &next->service_flows[k];
			struct rewrite has = rewrite_of(n->overwrites_tos, &n->tos);

			same |= n->id == f->id && key_dsid(n) == key_dsid(f) &&
				rewrite_same(&had, &has);
		}
		if (!same)
			between_add(s, &key, &had);
	}
}

void follow_streams_between_upstream(struct follow_streams *s, const struct modem *before,
				     const struct modem *next) {
	for (size_t i = 0; i < before->upstream_flow_count; i++) {
		const struct upstream_service_flow *f = &before->upstream_flows[i];
		struct rewrite had = rewrite_of(f->overwrites_tos, &f->tos);
		bool same = false;

		for (size_t k = 0; next != NULL && k < next->upstream_flow_count; k++) {
			const struct upstream_service_flow *n = &next->upstream_flows[k];
			struct rewrite has = rewrite_of(n->overwrites_tos, &n->tos);

			same |= n->id == f->id && rewrite_same(&had, &has);
		}
		for (size_t c = 0; !same && c < f->cluster_count; c++) {
			struct stream_key key = key_of(before, f->id, 0, f->clusters[c].id);

			between_add(s, &key, &had);
		}
	}
}

void follow_streams_keep(struct follow_streams *s, uint64_t now) {
	const struct follow_set *before = &s->sets[s->current], *set = &s->sets[!s->current];

	if (s->numbers.capacity == 0)
		return; /* the traffic does not have this direction */
	/* Streams of the previous set continue; the others start. */
	for (uint32_t i = 0; i < set->count; i++)
		s->first_sample[set->streams[i]] |= STREAM_NEW;
	for (uint32_t i = 0; i < before->count; i++)
		s->first_sample[before->streams[i]] &= ~STREAM_NEW;
	for (uint32_t i = 0; i < set->count; i++) {
		if (s->first_sample[set->streams[i]] & STREAM_NEW)
			s->first_sample[set->streams[i]] = s->samples;
	}
	s->current = !s->current;
	s->between_count = 0;
	stream_numbers_end(&s->numbers, now);
}

static uint32_t set_list(const struct follow_set *set, uint32_t modems, const bool *changed,
			 uint32_t *out) {
	uint32_t count = 0;

	for (uint32_t m = 0; m < modems; m++) {
		for (uint32_t i = set->first[m]; changed[m] && i < set->first[m + 1]; i++)
			out[count++] = set->streams[i];
	}
	return count;
}

bool follow_streams_changed(const struct follow_streams *s, const bool *changed, uint32_t **streams,
			    uint32_t *count) {
	const struct follow_set *current = &s->sets[s->current], *next = &s->sets[!s->current];

	*streams = calloc(current->count + next->count + 1, sizeof(**streams));
	if (*streams == NULL)
		return false;
	*count = set_list(current, s->modems, changed, *streams);
	*count += set_list(next, s->modems, changed, *streams + *count);
	return true;
}

/* A stream that started after the sample had received nothing at that time. */
bool follow_streams_mark(const struct follow_streams *s, const bool *changed,
			 struct stream_mark **marks, uint32_t *count) {
	const struct follow_set *current = &s->sets[s->current];
	uint32_t *streams = calloc(current->count + 1, sizeof(*streams));

	*marks = calloc(current->count + 1, sizeof(**marks));
	if (streams == NULL || *marks == NULL) {
		free(streams);
		return false;
	}
	*count = set_list(current, s->modems, changed, streams);
	for (uint32_t i = 0; i < *count; i++) {
		bool young = s->samples == s->first_sample[streams[i]];

		(*marks)[i].stream = streams[i];
		(*marks)[i].from = young ? 0 : s->sample.next[streams[i]];
		(*marks)[i].missing = young ? 0 : s->sample.missing[streams[i]];
	}
	free(streams);
	return true;
}
