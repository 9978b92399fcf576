/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/reload_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/keys.h"
#include "model/live/keys_same.h"

#define PART(type, member) offsetof(type, member), sizeof(((type *)0)->member)

/* Fields that may change while traffic runs, and the list whose items have them (NULL: the top). */
static const struct {
	const char *list;
	size_t offset, size;
} changeable[] = {
	{NULL, PART(struct service_group, rate_limit)},
	{"channels", PART(struct channel, rate)},
	{"bonding_groups", PART(struct bonding_group, channels)},
	/* of its flows where they name none: their own tells */
	{"modems", PART(struct modem, bonding_group)},
	{"modems", PART(struct modem, aggregate_rate)},
	{"modems", PART(struct modem, aggregate_burst)},
	/* all but the identity: SFID, state and DSID */
	{"service_flows", PART(struct service_flow, bonding_group)},
	{"service_flows", offsetof(struct service_flow, priority),
	 sizeof(struct service_flow) - offsetof(struct service_flow, priority)},
};

static bool may_change(const char *list, size_t offset) {
	for (size_t i = 0; i < RTE_DIM(changeable); i++) {
		bool top = changeable[i].list == NULL || list == NULL;
		bool there = top ? changeable[i].list == list
				 : strcmp(changeable[i].list, list) == 0;

		if (there && offset - changeable[i].offset < changeable[i].size)
			return true;
	}
	return false;
}

static void note(struct reload_changes *changes, enum qos_object object, size_t index) {
	if (changes->list != NULL)
		changes->list[changes->count] =
			(struct qos_change){.object = object, .index = (uint32_t)index};
	changes->count++;
	changes->by_object[object]++;
}

static bool group_differs(const struct bonding_group *a, const struct bonding_group *b) {
	return a->channel_count != b->channel_count ||
	       memcmp(a->channels, b->channels, a->channel_count * sizeof(*a->channels)) != 0;
}

/* Padding is zero in both, as the loader's memory is. */
static bool flow_differs(const struct service_flow *a, const struct service_flow *b) {
	size_t from = offsetof(struct service_flow, priority);

	return a->bonding_group != b->bonding_group ||
	       memcmp((const char *)a + from, (const char *)b + from, sizeof(*a) - from) != 0;
}

static void note_modem(struct reload_changes *changes, const struct modem *a, const struct modem *b,
		       size_t modem, size_t first_flow) {
	if (a->aggregate_rate != b->aggregate_rate || a->aggregate_burst != b->aggregate_burst)
		note(changes, QOS_MODEM, modem);
	for (size_t f = 0; f < a->service_flow_count; f++) {
		if (!flow_differs(&a->service_flows[f], &b->service_flows[f]))
			continue;
		note(changes, QOS_FLOW, first_flow + f);
		if (changes->list != NULL) {
			changes->list[changes->count - 1].modem = (uint32_t)modem;
			changes->list[changes->count - 1].flow = (uint32_t)f;
		}
	}
}

/* Fills `list`, or where it is NULL counts only. */
static void note_all(const struct service_group *a, const struct service_group *b,
		     struct reload_changes *changes) {
	size_t flow = 0;

	if (a->rate_limit != b->rate_limit)
		note(changes, QOS_RATE_LIMIT, 0);
	for (size_t c = 0; c < a->channel_count; c++) {
		if (a->channels[c].rate != b->channels[c].rate)
			note(changes, QOS_CHANNEL, c);
	}
	for (size_t g = 0; g < a->bonding_group_count; g++) {
		if (group_differs(&a->bonding_groups[g], &b->bonding_groups[g]))
			note(changes, QOS_GROUP, g);
	}
	for (size_t m = 0; m < a->modem_count; flow += a->modems[m].service_flow_count, m++)
		note_modem(changes, &a->modems[m], &b->modems[m], m, flow);
}

bool reload_compare(const struct service_group *now, const struct service_group *next,
		    struct reload_changes *changes, char *why, size_t size) {
	size_t count;

	*changes = (struct reload_changes){0};
	if (!keys_same(service_group_keys, now, next, may_change, why, size))
		return false;
	note_all(now, next, changes);
	count = changes->count;
	*changes = (struct reload_changes){.list = calloc(count + 1, sizeof(*changes->list))};
	if (changes->list == NULL) {
		snprintf(why, size, "no memory left for %zu changes", count);
		return false;
	}
	note_all(now, next, changes);
	return true;
}
