/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the templates and the order in which flows are used. */
#include "core/targets.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_prefetch.h>

#include "core/admits.h"
#include "core/flows.h"
#include "core/mix.h"

#define SIZE_TRIES 16 /* flows of `any` that are tried for a frame size before those of `small` */
#define PREFETCH_AHEAD 8

struct builder {
	struct targets *t;
	const struct service_group *sg;
	uint32_t capacity;
	bool keep_packets; /* for flows_create(), which then needs all targets: none is copied */
	struct target_packet *packets; /* by target */
	struct random random;
};

static bool targets_grow(struct builder *b) {
	struct targets *t = b->t;
	uint32_t capacity = b->capacity == 0 ? 1024 : 2 * b->capacity;
	struct target *all = aligned_alloc(RTE_CACHE_LINE_SIZE, capacity * sizeof(*all));

	if (all == NULL)
		return false;
	if (t->count != 0)
		memcpy(all, t->all, t->count * sizeof(*all));
	free(t->all);
	t->all = all;
	b->capacity = capacity;
	if (b->keep_packets) {
		struct target_packet *packets = realloc(b->packets, capacity * sizeof(*b->packets));

		if (packets == NULL)
			return false;
		b->packets = packets;
	}
	return true;
}

static bool targets_add(struct builder *b, uint32_t modem, enum traffic_class class,
			const struct target_packet *packet) {
	struct targets *t = b->t;
	struct target *target;

	if (t->count == b->capacity && !targets_grow(b))
		return false;
	if (b->keep_packets)
		b->packets[t->count] = *packet;
	target = &t->all[t->count++];
	memset(target, 0, sizeof(*target));
	packet_template_create(&target->template, &packet->packet, traffic_source_mac,
			       packet_cmts_mac(b->sg));
	target->modem = modem;
	target->stream = targets_stream(t, modem, packet->evaluation.flow);
	target->min_size = (uint16_t)(target->template.size + PACKET_TAG_SIZE);
	target->class = (uint8_t)class;
	return true;
}

static bool targets_find(struct builder *b, uint32_t modem, const struct ip_address *address,
			 enum traffic_class class, uint32_t service_flow) {
	struct candidate_search search = {
		.sg = b->sg,
		.modem = &b->sg->modems[modem],
		.address = address,
		.random = {random_next(&b->random)},
	};
	struct target_packet packet;

	if (!candidate_find(&search, class, service_flow, &packet.packet, &packet.evaluation))
		return true;
	return targets_add(b, modem, class, &packet);
}

static bool is_classified_to(const struct modem *m, uint32_t service_flow) {
	for (size_t c = 0; c < m->classifier_count; c++) {
		if (m->classifiers[c].flow == service_flow)
			return true;
	}
	return false;
}

static bool targets_modem_add(struct builder *b, uint32_t modem) {
	const struct modem *m = &b->sg->modems[modem];

	for (size_t a = 0; a < m->address_count; a++) {
		if (!modem_admits(m, a))
			continue;
		if (!targets_find(b, modem, &m->addresses[a], CLASS_UNMATCHED, 0) ||
		    !targets_find(b, modem, &m->addresses[a], CLASS_PERMIT, 0))
			return false;
		for (uint32_t f = 0; f < m->service_flow_count; f++) {
			if (is_classified_to(m, f) &&
			    !targets_find(b, modem, &m->addresses[a], CLASS_CLASSIFIED, f))
				return false;
		}
	}
	return true;
}

static void shuffle(struct target_list *l, struct random *random) {
	for (uint32_t i = l->count; i > 1; i--) {
		uint32_t pick = random_below(random, i);
		uint32_t other = l->flows[i - 1];

		l->flows[i - 1] = l->flows[pick];
		l->flows[pick] = other;
	}
}

static bool is_in_class(const struct target *target, enum traffic_class class,
			uint32_t max_min_size) {
	return target->class == class && target->min_size <= max_min_size;
}

static bool list_create(struct targets *t, struct target_list *l, enum traffic_class class,
			uint32_t max_min_size, struct random *random) {
	uint32_t count = 0;

	for (uint32_t i = 0; i < t->flow_count; i++)
		count += is_in_class(targets_of(t, i), class, max_min_size);
	l->flows = calloc(count + 1, sizeof(*l->flows));
	if (l->flows == NULL)
		return false;
	for (uint32_t i = 0; i < t->flow_count; i++) {
		if (is_in_class(targets_of(t, i), class, max_min_size))
			l->flows[l->count++] = i;
	}
	shuffle(l, random);
	return true;
}

/* The lowest `min_size` of the flows of a class; UINT16_MAX without flows. */
static uint32_t class_min_size(const struct targets *t, enum traffic_class class) {
	uint32_t min = UINT16_MAX;

	for (uint32_t i = 0; i < t->flow_count; i++) {
		const struct target *target = targets_of(t, i);

		if (target->class == class)
			min = RTE_MIN(min, target->min_size);
	}
	return min;
}

static bool lists_create(struct targets *t, struct random *random) {
	for (int i = 0; i < CLASS_COUNT; i++) {
		enum traffic_class class = (enum traffic_class)i;
		uint32_t small = RTE_MAX(MIX_MIN_SIZE, class_min_size(t, class));

		if (!list_create(t, &t->any[i], class, UINT16_MAX, random) ||
		    !list_create(t, &t->small[i], class, small, random))
			return false;
	}
	return true;
}

static int targets_no_memory(struct targets *t) {
	fprintf(stderr, "traffic: no memory for the generator\n");
	targets_free(t);
	return -1;
}

static int targets_streams_create(struct targets *t, const struct service_group *sg,
				  const struct targets_follow *follow) {
	memset(t, 0, sizeof(*t));
	t->modem_count = (uint32_t)sg->modem_count;
	t->first_stream = calloc(sg->modem_count + 1, sizeof(*t->first_stream));
	if (t->first_stream == NULL)
		return targets_no_memory(t);
	for (uint32_t m = 0; m < sg->modem_count; m++) {
		t->first_stream[m] = t->service_flow_count;
		t->service_flow_count += (uint32_t)sg->modems[m].service_flow_count;
	}
	t->stream_count = t->service_flow_count;
	if (follow == NULL)
		return 0;
	t->stream_count = follow->capacity;
	if (follow->streams == NULL)
		return 0;
	t->streams = calloc(t->service_flow_count + 1, sizeof(*t->streams));
	if (t->streams == NULL)
		return targets_no_memory(t);
	memcpy(t->streams, follow->streams, t->service_flow_count * sizeof(*t->streams));
	return 0;
}

int targets_create_streams(struct targets *t, const struct service_group *sg) {
	return targets_streams_create(t, sg, NULL);
}

/* Makes the wanted number of flows, or one per target. */
static int flows_make(struct builder *b, const struct flows_wanted *wanted) {
	struct targets *t = b->t;

	t->flow_count = t->count;
	if (!b->keep_packets || t->count == 0)
		return 0;
	return flows_create(t, b->sg, b->packets, wanted, &b->random);
}

/* Copies the targets of a modem that the change did not touch: a search would find the same
 * packets. */
static bool targets_keep(struct builder *b, const struct targets *before, uint32_t modem) {
	for (uint32_t i = before->first_target[modem]; i < before->first_target[modem + 1]; i++) {
		if (b->t->count == b->capacity && !targets_grow(b))
			return false;
		b->t->all[b->t->count++] = before->all[i];
	}
	return true;
}

static bool targets_find_all(struct builder *b, const struct targets_follow *follow) {
	const struct targets *before = follow == NULL || b->keep_packets ? NULL : follow->before;
	struct targets *t = b->t;
	bool good = true;

	t->first_target = calloc(b->sg->modem_count + 1, sizeof(*t->first_target));
	if (t->first_target == NULL)
		return false;
	for (uint32_t m = 0; m < b->sg->modem_count && good; m++) {
		t->first_target[m] = t->count;
		good = before != NULL && m < before->modem_count && !follow->changed[m]
			       ? targets_keep(b, before, m)
			       : targets_modem_add(b, m);
	}
	t->first_target[b->sg->modem_count] = t->count;
	return good;
}

int targets_create(struct targets *t, const struct service_group *sg, uint64_t seed,
		   const struct flows_wanted *wanted, const struct targets_follow *follow) {
	struct builder b = {.t = t, .sg = sg, .random = {seed}};
	bool good;

	b.keep_packets = wanted != NULL && wanted->count > 0;
	if (targets_streams_create(t, sg, follow) != 0)
		return -1;
	good = targets_find_all(&b, follow);
	if (good && flows_make(&b, wanted) != 0) {
		free(b.packets);
		targets_free(t);
		return -1;
	}
	free(b.packets);
	return good && lists_create(t, &b.random) ? 0 : targets_no_memory(t);
}

void targets_free(struct targets *t) {
	for (int c = 0; c < CLASS_COUNT; c++) {
		free(t->any[c].flows);
		free(t->small[c].flows);
	}
	free(t->first_stream);
	free(t->first_target);
	free(t->streams);
	free(t->flows);
	free(t->all);
	memset(t, 0, sizeof(*t));
}

/* Prefetches what list_next() reads of later flows of the list. With many flows, the flow and its target are two steps:
 * the target is that of a flow which an earlier call has prefetched. */
static void list_prefetch(const struct targets *t, const struct target_list *l) {
	uint32_t near = l->next + PREFETCH_AHEAD, far = near + PREFETCH_AHEAD;

	if (t->flows != NULL && far < l->count)
		rte_prefetch0(&t->flows[l->flows[far]]);
	if (near < l->count)
		rte_prefetch0(&targets_of(t, l->flows[near])->min_size);
}

static uint32_t list_next(struct targets *t, struct target_list *l, uint32_t size) {
	uint32_t tries = l->count < SIZE_TRIES ? l->count : SIZE_TRIES;

	for (; tries > 0; tries--) {
		uint32_t flow = l->flows[l->next];

		l->next = l->next + 1 == l->count ? 0 : l->next + 1;
		list_prefetch(t, l);
		if (targets_of(t, flow)->min_size <= size)
			return flow;
	}
	return NO_FLOW;
}

static uint32_t class_next(struct targets *t, enum traffic_class class, uint32_t size) {
	uint32_t flow = list_next(t, &t->any[class], size);

	return flow != NO_FLOW ? flow : list_next(t, &t->small[class], size);
}

bool targets_fit(struct targets *t, const struct mix *mix, uint32_t *size) {
	for (unsigned i = 0; i < mix->count; i++) {
		*size = mix->sizes[i];
		if (targets_next(t, CLASS_UNMATCHED, *size) == NO_FLOW)
			return false;
	}
	return true;
}

uint32_t targets_next(struct targets *t, enum traffic_class class, uint32_t size) {
	uint32_t flow = class_next(t, class, size);

	for (int c = 0; flow == NO_FLOW && c < CLASS_COUNT; c++)
		flow = class_next(t, (enum traffic_class)c, size);
	return flow;
}
