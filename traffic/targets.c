/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the templates and the order in which they are used. */
#include "targets.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mix.h"

#define SIZE_TRIES 16

static const uint8_t source_mac[6] = {0x02, 0x00, 0x00, 0x00, 0xff, 0x01};

struct builder {
	struct targets *t;
	const struct service_group *sg;
	uint32_t room;
	struct random random;
};

static bool add(struct builder *b, uint32_t modem, enum traffic_class class, uint32_t flow,
		const struct packet_address *packet) {
	struct targets *t = b->t;
	struct target *target;

	if (t->count == b->room) {
		uint32_t room = b->room == 0 ? 1024 : 2 * b->room;
		struct target *all = aligned_alloc(RTE_CACHE_LINE_SIZE, room * sizeof(*all));

		if (all == NULL)
			return false;
		if (t->count != 0)
			memcpy(all, t->all, t->count * sizeof(*all));
		free(t->all);
		t->all = all;
		b->room = room;
	}
	target = &t->all[t->count++];
	memset(target, 0, sizeof(*target));
	packet_template_create(&target->template, packet, source_mac, b->sg->rphy.core_mac);
	target->modem = modem;
	target->stream = t->first_stream[modem] + flow;
	target->min_size = (uint16_t)(target->template.size + PACKET_TAG_SIZE);
	target->class = (uint8_t)class;
	return true;
}

static bool find(struct builder *b, uint32_t modem, const struct ip_address *address,
		 enum traffic_class class, uint32_t flow) {
	struct candidate_search search = {
		.sg = b->sg,
		.modem = &b->sg->modems[modem],
		.address = address,
		.random = {random_next(&b->random)},
	};
	struct packet_address packet;
	struct evaluation e;

	if (!candidate_find(&search, class, flow, &packet, &e))
		return true;
	return add(b, modem, class, e.flow, &packet);
}

static bool is_classified_to(const struct modem *m, uint32_t flow) {
	for (size_t c = 0; c < m->classifier_count; c++) {
		if (m->classifiers[c].flow == flow)
			return true;
	}
	return false;
}

static bool modem_add(struct builder *b, uint32_t modem) {
	const struct modem *m = &b->sg->modems[modem];
	size_t addresses = m->address_count < m->cpe_limit ? m->address_count : m->cpe_limit;

	for (size_t a = 0; a < addresses; a++) {
		if (!find(b, modem, &m->addresses[a], CLASS_UNMATCHED, 0) ||
		    !find(b, modem, &m->addresses[a], CLASS_PERMIT, 0))
			return false;
		for (uint32_t flow = 0; flow < m->service_flow_count; flow++) {
			if (is_classified_to(m, flow) &&
			    !find(b, modem, &m->addresses[a], CLASS_CLASSIFIED, flow))
				return false;
		}
	}
	return true;
}

static void shuffle(struct target_list *l, struct random *random) {
	for (uint32_t i = l->count; i > 1; i--) {
		uint32_t pick = random_below(random, i);
		uint32_t other = l->targets[i - 1];

		l->targets[i - 1] = l->targets[pick];
		l->targets[pick] = other;
	}
}

static bool list_create(struct targets *t, struct target_list *l, enum traffic_class class,
			uint32_t max_min_size, struct random *random) {
	l->targets = calloc(t->count + 1, sizeof(*l->targets));
	if (l->targets == NULL)
		return false;
	for (uint32_t i = 0; i < t->count; i++) {
		if (t->all[i].class == class && t->all[i].min_size <= max_min_size)
			l->targets[l->count++] = i;
	}
	shuffle(l, random);
	return true;
}

int targets_create(struct targets *t, const struct service_group *sg, uint64_t seed) {
	struct builder b = {.t = t, .sg = sg, .random = {seed}};
	bool good = true;

	memset(t, 0, sizeof(*t));
	t->first_stream = calloc(sg->modem_count + 1, sizeof(*t->first_stream));
	if (t->first_stream == NULL)
		return -1;
	for (uint32_t m = 0; m < sg->modem_count && good; m++) {
		t->first_stream[m] = t->stream_count;
		t->stream_count += (uint32_t)sg->modems[m].service_flow_count;
		good = modem_add(&b, m);
	}
	for (int c = 0; c < CLASS_COUNT && good; c++)
		good = list_create(t, &t->any[c], (enum traffic_class)c, UINT16_MAX, &b.random) &&
		       list_create(t, &t->small[c], (enum traffic_class)c, MIX_MIN_SIZE, &b.random);
	if (!good)
		targets_free(t);
	return good ? 0 : -1;
}

void targets_free(struct targets *t) {
	for (int c = 0; c < CLASS_COUNT; c++) {
		free(t->any[c].targets);
		free(t->small[c].targets);
	}
	free(t->first_stream);
	free(t->all);
	memset(t, 0, sizeof(*t));
}

static const struct target *list_next(struct targets *t, struct target_list *l, uint32_t size) {
	uint32_t tries = l->count < SIZE_TRIES ? l->count : SIZE_TRIES;

	for (; tries > 0; tries--) {
		const struct target *target = &t->all[l->targets[l->next]];

		l->next = l->next + 1 == l->count ? 0 : l->next + 1;
		if (target->min_size <= size)
			return target;
	}
	return NULL;
}

static const struct target *class_next(struct targets *t, enum traffic_class class, uint32_t size) {
	const struct target *target = list_next(t, &t->any[class], size);

	return target != NULL ? target : list_next(t, &t->small[class], size);
}

const struct target *targets_next(struct targets *t, enum traffic_class class, uint32_t size) {
	const struct target *target = class_next(t, class, size);

	for (int c = 0; target == NULL && c < CLASS_COUNT; c++)
		target = class_next(t, (enum traffic_class)c, size);
	return target;
}
