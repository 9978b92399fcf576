/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributes distinct flows to classes and targets. */
#include "core/flows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/variants.h"

/* Combinations that fail in sequence before a target counts as exhausted. */
#define TRIES_IN_VAIN 65536

struct spread {
	struct targets *t;
	const struct service_group *sg;
	const struct target_packet *packets;
	const struct flows_wanted *wanted;
	struct random *random;
	uint64_t *tried; /* by target: combinations tried */
	uint32_t *order[CLASS_COUNT]; /* by class: its targets, in random order */
	uint32_t count[CLASS_COUNT];
	uint32_t *seen; /* hash table of `slots`: flow number + 1; 0: free */
	uint32_t slots; /* a power of two */
};

static struct packet_address packet_of(const struct spread *s, const struct flow *flow) {
	struct packet_address packet = s->packets[flow->target].packet;

	variant_apply(&flow->variant, &packet);
	return packet;
}

static bool is_same_flow(const struct packet_address *a, const struct packet_address *b) {
	return a->family == b->family && a->protocol == b->protocol &&
	       a->source_port == b->source_port && a->destination_port == b->destination_port &&
	       memcmp(a->source, b->source, sizeof(a->source)) == 0 &&
	       memcmp(a->destination, b->destination, sizeof(a->destination)) == 0;
}

static uint32_t hash(const struct packet_address *p) {
	uint64_t h =
		(uint64_t)p->protocol << 32 | (uint32_t)p->source_port << 16 | p->destination_port;

	for (int i = 0; i < 16; i += 4)
		h = (h ^ load_be32(p->source + i) ^ (uint64_t)load_be32(p->destination + i) << 32) *
		    0x9e3779b97f4a7c15ull;
	return (uint32_t)(h >> 32);
}

/* Adds the flow unless an equal one exists. Returns whether it was added. */
static bool flows_add(struct spread *s, const struct flow *flow) {
	struct packet_address packet = packet_of(s, flow);
	uint32_t slot = hash(&packet) & (s->slots - 1);

	for (; s->seen[slot] != 0; slot = (slot + 1) & (s->slots - 1)) {
		struct packet_address other = packet_of(s, &s->t->flows[s->seen[slot] - 1]);

		if (is_same_flow(&packet, &other))
			return false;
	}
	s->t->flows[s->t->flow_count++] = *flow;
	s->seen[slot] = s->t->flow_count;
	return true;
}

/* Adds up to `n` flows of a target. Returns the number added. */
static uint32_t target_spread(struct spread *s, uint32_t target, uint32_t n) {
	const struct target_packet *own = &s->packets[target];
	uint64_t *next = &s->tried[target];
	struct flow flow = {.target = target};
	uint32_t in_vain = 0;
	uint32_t done = 0;
	struct variants v;

	/* Twice as many as needed, as other targets may already use some. */
	variants_create(&v, s->sg, &s->sg->modems[s->t->all[target].modem], &own->packet,
			&own->evaluation, *next + 2ull * n);
	while (done < n && *next < v.total && in_vain < TRIES_IN_VAIN) {
		if (variants_get(&v, (*next)++, &flow.variant) && flows_add(s, &flow))
			done++;
		else
			in_vain++;
	}
	return done;
}

/* Adds up to `n` flows of a class, evenly spread over its targets. Returns the number added. */
static uint32_t class_spread(struct spread *s, enum traffic_class class, uint32_t n) {
	uint32_t count = s->count[class];
	uint32_t left = n;
	uint32_t before;

	do {
		before = left;
		for (uint32_t i = 0; i < count && left > 0; i++) {
			uint32_t share = (left + count - i - 1) / (count - i);

			left -= target_spread(s, s->order[class][i], share);
		}
	} while (left > 0 && left < before);
	return n - left;
}

static void swap(uint32_t *a, uint32_t *b) {
	uint32_t other = *a;

	*a = *b;
	*b = other;
}

/* Puts the targets of a class in random order. A small count of flows uses only the first targets,
 * so the first one accepts the smallest frames: the class then has a flow for each size. */
static bool class_order(struct spread *s, enum traffic_class class) {
	const struct target *all = s->t->all;
	uint32_t *order = malloc((s->t->count + 1) * sizeof(*order));
	uint32_t count = 0;

	if (order == NULL)
		return false;
	for (uint32_t i = 0; i < s->t->count; i++) {
		if (all[i].class == class && all[i].min_size <= s->wanted->largest)
			order[count++] = i;
	}
	for (uint32_t i = count; i > 1; i--)
		swap(&order[i - 1], &order[random_below(s->random, i)]);
	for (uint32_t i = 1; i < count; i++) {
		if (all[order[i]].min_size < all[order[0]].min_size)
			swap(&order[i], &order[0]);
	}
	s->order[class] = order;
	s->count[class] = count;
	return true;
}

/*
 * Splits the flows by the shares of packets, at least one flow per class. The share of a class without
 * targets goes to the first class with targets. Returns the number of classes with flows.
 */
static uint32_t shares_split(const struct spread *s, uint32_t flows[CLASS_COUNT]) {
	uint64_t shares[CLASS_COUNT] = {0};
	uint64_t total = 0, so_far = 0;
	uint32_t classes = 0;
	int first = 0, max = 0;

	while (first < CLASS_COUNT - 1 && s->count[first] == 0)
		first++;
	for (int c = 0; c < CLASS_COUNT; c++) {
		shares[s->count[c] > 0 ? c : first] += s->wanted->shares[c];
		total += s->wanted->shares[c];
	}
	for (int c = 0; c < CLASS_COUNT; c++) {
		uint64_t before = so_far * s->wanted->count / total;

		so_far += shares[c];
		flows[c] = (uint32_t)(so_far * s->wanted->count / total - before);
		classes += shares[c] > 0;
		if (shares[c] > shares[max])
			max = c;
	}
	for (int c = 0; c < CLASS_COUNT; c++) {
		if (shares[c] > 0 && flows[c] == 0) {
			flows[c]++;
			flows[max]--;
		}
	}
	return classes;
}

static int flows_refuse(uint32_t found, uint32_t min, uint32_t max) {
	fprintf(stderr,
		"traffic: --flows: found %u, allowed: %u to %u, limited by modems, shares and "
		"rules\n",
		found, min, max);
	return -1;
}

static int flows_spread(struct spread *s) {
	uint32_t wanted = s->wanted->count;
	uint32_t flows[CLASS_COUNT];
	uint32_t targets = 0;
	uint32_t classes;
	uint32_t left;

	for (int c = 0; c < CLASS_COUNT; c++)
		targets += s->count[c];
	if (targets == 0) /* no target accepts the sizes: the generator reports it */
		return 0;
	classes = shares_split(s, flows);
	if (wanted < classes)
		return flows_refuse(wanted, classes, FLOWS_MAX);
	for (int c = 0; c < CLASS_COUNT; c++)
		class_spread(s, (enum traffic_class)c, flows[c]);
	/* Flows that one class has no combinations for go to other classes that send packets. */
	for (int c = 0; c < CLASS_COUNT; c++) {
		left = wanted - s->t->flow_count;
		if (left > 0 && flows[c] > 0)
			class_spread(s, (enum traffic_class)c, left);
	}
	return s->t->flow_count == wanted ? 0 : flows_refuse(wanted, classes, s->t->flow_count);
}

static bool spread_create(struct spread *s) {
	uint32_t wanted = s->wanted->count;

	for (s->slots = 2; s->slots < 2 * wanted; s->slots *= 2)
		;
	s->seen = calloc(s->slots, sizeof(*s->seen));
	s->tried = calloc(s->t->count + 1, sizeof(*s->tried));
	s->t->flows = calloc(wanted, sizeof(*s->t->flows));
	s->t->flow_count = 0;
	for (int c = 0; c < CLASS_COUNT; c++) {
		if (!class_order(s, (enum traffic_class)c))
			return false;
	}
	return s->seen != NULL && s->tried != NULL && s->t->flows != NULL;
}

int flows_create(struct targets *t, const struct service_group *sg,
		 const struct target_packet *packets, const struct flows_wanted *wanted,
		 struct random *random) {
	struct spread s = {
		.t = t, .sg = sg, .packets = packets, .wanted = wanted, .random = random};
	int ret = -1;

	if (spread_create(&s))
		ret = flows_spread(&s);
	else
		fprintf(stderr, "traffic: no memory for %u flows\n", wanted->count);
	for (int c = 0; c < CLASS_COUNT; c++)
		free(s.order[c]);
	free(s.seen);
	free(s.tried);
	return ret;
}
