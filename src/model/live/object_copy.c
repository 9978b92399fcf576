/* SPDX-License-Identifier: BSD-3-Clause */
/* Each block is laid out twice: first to compute its size, then to fill it. */
#include "model/live/object_copy.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "model/live/live_kind.h"

struct block {
	char *bytes; /* NULL: only the size is computed */
	size_t used;
	const struct references *to;
};

/* Copies `count` items to the block. Returns where they are; NULL without items or block. */
static void *lay(struct block *b, const void *from, size_t count, size_t size) {
	size_t bytes = count * size;
	char *copy = b->bytes != NULL && bytes > 0 ? b->bytes + b->used : NULL;

	b->used += (bytes + alignof(uint64_t) - 1) & ~(alignof(uint64_t) - 1);
	if (copy != NULL)
		memcpy(copy, from, bytes);
	return copy;
}

/* Translates a reference of the copy, if the caller gave a function for it. */
static void refer(const struct block *b, enum live_object object, uint32_t *reference) {
	if (b->to != NULL)
		*reference = b->to->translate(b->to->context, object, *reference);
}

static struct sid_cluster *lay_clusters(struct block *b, const struct upstream_service_flow *flow) {
	struct sid_cluster *clusters =
		lay(b, flow->clusters, flow->cluster_count, sizeof(clusters[0]));

	for (size_t c = 0; c < flow->cluster_count; c++) {
		const struct sid_cluster *from = &flow->clusters[c];
		struct upstream_sid *sids =
			lay(b, from->sids, from->sid_count, sizeof(from->sids[0]));

		for (size_t s = 0; sids != NULL && s < from->sid_count; s++)
			refer(b, LIVE_UPSTREAM_CHANNEL, &sids[s].channel);
		if (clusters != NULL)
			clusters[c].sids = sids;
	}
	return clusters;
}

static struct upstream_service_flow *lay_upstream_flows(struct block *b,
							const struct modem *modem) {
	struct upstream_service_flow *flows =
		lay(b, modem->upstream_flows, modem->upstream_flow_count, sizeof(flows[0]));

	for (size_t f = 0; f < modem->upstream_flow_count; f++) {
		struct sid_cluster *clusters = lay_clusters(b, &modem->upstream_flows[f]);

		if (flows != NULL)
			flows[f].clusters = clusters;
	}
	return flows;
}

static void lay_modem(struct block *b, const struct modem *modem) {
	struct modem *copy = lay(b, modem, 1, sizeof(*copy));
	struct modem parts;

	parts.addresses =
		lay(b, modem->addresses, modem->address_count, sizeof(modem->addresses[0]));
	parts.service_flows = lay(b, modem->service_flows, modem->service_flow_count,
				  sizeof(modem->service_flows[0]));
	parts.classifiers =
		lay(b, modem->classifiers, modem->classifier_count, sizeof(modem->classifiers[0]));
	parts.upstream_flows = lay_upstream_flows(b, modem);
	if (copy == NULL)
		return;
	copy->addresses = parts.addresses;
	copy->service_flows = parts.service_flows;
	copy->classifiers = parts.classifiers;
	copy->upstream_flows = parts.upstream_flows;
	refer(b, LIVE_BONDING_GROUP, &copy->bonding_group);
	for (size_t f = 0; f < copy->service_flow_count; f++)
		refer(b, LIVE_BONDING_GROUP, &copy->service_flows[f].bonding_group);
	for (size_t g = 0; g < copy->filter_group_count; g++)
		refer(b, LIVE_FILTER_GROUP, &copy->filter_groups[g]);
}

static void lay_bonding_group(struct block *b, const struct bonding_group *group) {
	struct bonding_group *copy = lay(b, group, 1, sizeof(*copy));
	uint32_t *channels =
		lay(b, group->channels, group->channel_count, sizeof(group->channels[0]));

	if (copy == NULL)
		return;
	copy->channels = channels;
	for (size_t c = 0; c < copy->channel_count; c++)
		refer(b, LIVE_CHANNEL, &channels[c]);
}

static void lay_filter_group(struct block *b, const struct filter_group *group) {
	struct filter_group *copy = lay(b, group, 1, sizeof(*copy));
	struct filter_rule *rules =
		lay(b, group->rules, group->rule_count, sizeof(group->rules[0]));

	if (copy != NULL)
		copy->rules = rules;
}

static void lay_object(struct block *b, enum live_object object, const void *item) {
	switch (object) {
	case LIVE_MODEM: lay_modem(b, item); break;
	case LIVE_BONDING_GROUP: lay_bonding_group(b, item); break;
	case LIVE_FILTER_GROUP: lay_filter_group(b, item); break;
	default: lay(b, item, 1, live_kinds[object].size);
	}
}

void *object_copy(enum live_object object, const void *item, const struct references *to) {
	struct block block = {.to = to};

	lay_object(&block, object, item);
	block.bytes = malloc(block.used);
	block.used = 0;
	if (block.bytes != NULL)
		lay_object(&block, object, item);
	return block.bytes;
}

static bool same_items(const void *a, const void *b, size_t count, size_t size) {
	return count == 0 || memcmp(a, b, count * size) == 0;
}

static bool same_upstream_flow(const struct upstream_service_flow *a,
			       const struct upstream_service_flow *b) {
	if (a->id != b->id || a->segment_header != b->segment_header ||
	    memcmp(&a->grants, &b->grants, sizeof(a->grants)) != 0 ||
	    a->cluster_count != b->cluster_count || a->overwrites_tos != b->overwrites_tos ||
	    memcmp(&a->tos, &b->tos, sizeof(a->tos)) != 0)
		return false;
	for (size_t c = 0; c < a->cluster_count; c++) {
		const struct sid_cluster *x = &a->clusters[c], *y = &b->clusters[c];

		if (x->id != y->id || x->sid_count != y->sid_count ||
		    !same_items(x->sids, y->sids, x->sid_count, sizeof(x->sids[0])))
			return false;
	}
	return true;
}

/* Copies the modem without its pointers, so that all other members are compared, also those added
 * later. */
static void own_values(const struct modem *modem, struct modem *own) {
	memcpy(own, modem, sizeof(*own)); /* includes the padding */
	own->addresses = NULL;
	own->service_flows = NULL;
	own->classifiers = NULL;
	own->upstream_flows = NULL;
}

static bool same_modem(const struct modem *a, const struct modem *b) {
	struct modem x, y;

	own_values(a, &x);
	own_values(b, &y);
	if (memcmp(&x, &y, sizeof(x)) != 0 ||
	    !same_items(a->addresses, b->addresses, a->address_count, sizeof(a->addresses[0])) ||
	    !same_items(a->service_flows, b->service_flows, a->service_flow_count,
			sizeof(a->service_flows[0])) ||
	    !same_items(a->classifiers, b->classifiers, a->classifier_count,
			sizeof(a->classifiers[0])))
		return false;
	for (size_t f = 0; f < a->upstream_flow_count; f++) {
		if (!same_upstream_flow(&a->upstream_flows[f], &b->upstream_flows[f]))
			return false;
	}
	return true;
}

static bool same_bonding_group(const struct bonding_group *a, const struct bonding_group *b) {
	return a->id == b->id && a->channel_count == b->channel_count &&
	       same_items(a->channels, b->channels, a->channel_count, sizeof(a->channels[0]));
}

static bool same_filter_group(const struct filter_group *a, const struct filter_group *b) {
	return a->id == b->id && a->rule_count == b->rule_count &&
	       same_items(a->rules, b->rules, a->rule_count, sizeof(a->rules[0]));
}

bool object_same(enum live_object object, const void *a, const void *b) {
	switch (object) {
	case LIVE_MODEM: return same_modem(a, b);
	case LIVE_BONDING_GROUP: return same_bonding_group(a, b);
	case LIVE_FILTER_GROUP: return same_filter_group(a, b);
	default: return memcmp(a, b, live_kinds[object].size) == 0;
	}
}
