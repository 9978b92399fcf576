/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/conflicts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/check/check.h"
#include "model/live/live_capacity.h"
#include "model/live/live_index.h"
#include "model/live/live_kind.h"
#include "model/units.h"

#define NAME_SIZE 64
#define PATH_SIZE 96

struct object_check {
	const struct live_group *l;
	enum live_object object;
	const void *item;
	uint32_t slot;
	char *why;
};

static bool refuse_duplicate(const struct object_check *h, const struct identity *identity,
			     enum live_object owner, uint32_t other) {
	char path[PATH_SIZE], value[NAME_SIZE], name[NAME_SIZE];

	snprintf(path, sizeof(path), identity->format, identity->index[0], identity->index[1],
		 identity->index[2]);
	identity_text(identity, value, sizeof(value));
	live_name(owner, h->l->blocks[owner][other], name, sizeof(name));
	if (owner == h->object && (strcmp(path, "mac") == 0 || strcmp(path, "id") == 0))
		snprintf(h->why, LIVE_LINE, "%s: exists already; %s.set changes it",
			 live_kinds[owner].item, live_kinds[owner].item);
	else
		snprintf(h->why, LIVE_LINE, "%s.%s: %s has %s already", live_kinds[h->object].item,
			 path, name, value);
	return false;
}

static bool is_unique(void *context, const struct identity *identity) {
	const struct object_check *h = context;
	uint32_t other = live_index_find(h->l->index, identity);
	struct identity counterpart;
	enum live_object owner;

	if (other != IDENTITY_NONE && other != h->slot)
		return refuse_duplicate(h, identity, h->object, other);
	if (!identity_counterpart(identity, &counterpart, &owner))
		return true;
	other = live_index_find(h->l->index, &counterpart);
	return other == IDENTITY_NONE || refuse_duplicate(h, identity, owner, other);
}

/* All modems of one SAID have one set of values, as in a file. */
static bool shares_said(const struct object_check *h, const struct modem *modem) {
	const struct identity said = identity_of_said(modem->security.said);
	uint32_t other = live_index_find(h->l->index, &said);
	char name[NAME_SIZE];

	if (other != IDENTITY_NONE && other == h->slot)
		other = h->l->index->said_next[other];
	if (other == IDENTITY_NONE ||
	    check_same_association(&h->l->sg.modems[other].security, &modem->security))
		return true;
	live_name(LIVE_MODEM, &h->l->sg.modems[other], name, sizeof(name));
	snprintf(h->why, LIVE_LINE,
		 "modem.security.said: %s also has %u, and modems of one said have the same keys, "
		 "ivs, cipher and key_sequence",
		 name, modem->security.said);
	return false;
}

/* Sum of the reserved rates of the modem's active flows on the bonding group. */
static uint64_t reserved_on(const struct modem *modem, uint32_t group) {
	uint64_t reserved = 0;

	for (size_t f = 0; modem != NULL && f < modem->service_flow_count; f++) {
		const struct service_flow *flow = &modem->service_flows[f];

		if (flow->active && flow->bonding_group == group)
			reserved += flow->reserved_rate;
	}
	return reserved;
}

/* Whether the channels of the modem's bonding groups carry the reserved rates of its flows and of
 * all other modems. */
static bool is_carried(const struct object_check *h, const struct modem *modem) {
	const struct service_group *sg = &h->l->sg;
	const struct modem *now = h->slot != IDENTITY_NONE ? &sg->modems[h->slot] : NULL;
	char found[UNITS_TEXT_SIZE], allowed[UNITS_TEXT_SIZE];

	for (size_t f = 0; f < modem->service_flow_count; f++) {
		uint32_t slot = modem->service_flows[f].bonding_group;
		const struct bonding_group *group = &sg->bonding_groups[slot];
		uint64_t reserved = reserved_on(modem, slot);
		uint64_t others = h->l->index->reserved[slot] - reserved_on(now, slot);
		uint64_t capacity = check_capacity(sg, group);

		if (modem->service_flows[f].reserved_rate == 0 || others + reserved <= capacity)
			continue;
		units_format_rate(reserved, found);
		units_format_rate(capacity > others ? capacity - others : 0, allowed);
		snprintf(h->why, LIVE_LINE,
			 "modem.service_flows[%zu].min_reserved_rate: the modem's flows reserve %s "
			 "on bonding group %" PRIu32 ", whose channels have %s left",
			 f, found, group->id, allowed);
		return false;
	}
	return true;
}

/* Whether the channels still carry the reserved rates of the flows on them. */
static bool carries(const struct object_check *h, const struct service_group *sg,
		    const struct bonding_group *group, uint32_t slot, const char *path) {
	uint64_t reserved = h->l->index->reserved[slot], capacity = check_capacity(sg, group);
	char found[UNITS_TEXT_SIZE], allowed[UNITS_TEXT_SIZE];

	if (reserved <= capacity)
		return true;
	units_format_rate(capacity, found);
	units_format_rate(reserved, allowed);
	snprintf(h->why, LIVE_LINE,
		 "%s: bonding group %" PRIu32 " would have channels of %s, and its flows reserve "
		 "%s (min_reserved_rate)",
		 path, group->id, found, allowed);
	return false;
}

static bool suits_flows(const struct object_check *h, const struct bonding_group *group) {
	uint32_t without;

	if (h->slot == IDENTITY_NONE)
		return true;
	without = h->l->index->without_dsid[h->slot];
	if (group->channel_count >= 2 && without > 0) {
		snprintf(h->why, LIVE_LINE,
			 "bonding_group.channels: %zu channels need DSIDs, and %" PRIu32
			 " of the flows on them have none",
			 group->channel_count, without);
		return false;
	}
	return carries(h, &h->l->sg, group, h->slot, "bonding_group.channels");
}

/* Checks the bonding groups that have the channel, with its new rate. */
static bool suits_bonding_groups(const struct object_check *h, const struct channel *channel) {
	struct service_group sg = h->l->sg;
	struct channel channels[SG_MAX_CHANNELS];
	bool good = true;

	if (h->slot == IDENTITY_NONE || channel->rate >= sg.channels[h->slot].rate)
		return true;
	memcpy(channels, sg.channels, sg.channel_count * sizeof(channels[0]));
	channels[h->slot] = *channel;
	sg.channels = channels;
	for (uint32_t g = 0; good && g < sg.bonding_group_count; g++) {
		if (h->l->index->reserved[g] > 0)
			good = carries(h, &sg, &sg.bonding_groups[g], g, "channel.rate");
	}
	return good;
}

static bool fits_capacity(const struct object_check *h) {
	struct group_capacity used = h->l->index->used;

	if (h->slot != IDENTITY_NONE)
		live_index_count(&used, h->object, h->l->blocks[h->object][h->slot], -1);
	live_index_count(&used, h->object, h->item, 1);
	return live_capacity_suffices(&h->l->capacity, &used, h->why);
}

bool conflicts_none(const struct live_group *l, enum live_object object, const void *item,
		    uint32_t slot, char why[LIVE_LINE]) {
	struct object_check h = {l, object, item, slot, why};

	if (!identity_each(object, item, is_unique, &h))
		return false;
	if (object == LIVE_MODEM && (!shares_said(&h, item) || !is_carried(&h, item)))
		return false;
	if (object == LIVE_BONDING_GROUP && !suits_flows(&h, item))
		return false;
	if (object == LIVE_CHANNEL && !suits_bonding_groups(&h, item))
		return false;
	return fits_capacity(&h);
}

static bool modem_refers(const struct modem *modem, enum live_object object, uint32_t slot) {
	if (object == LIVE_BONDING_GROUP && modem->bonding_group == slot)
		return true;
	for (size_t f = 0; object == LIVE_BONDING_GROUP && f < modem->service_flow_count; f++) {
		if (modem->service_flows[f].bonding_group == slot)
			return true;
	}
	for (size_t g = 0; object == LIVE_FILTER_GROUP && g < modem->filter_group_count; g++) {
		if (modem->filter_groups[g] == slot)
			return true;
	}
	for (size_t f = 0; object == LIVE_UPSTREAM_CHANNEL && f < modem->upstream_flow_count; f++) {
		const struct upstream_service_flow *flow = &modem->upstream_flows[f];

		for (size_t c = 0; c < flow->cluster_count; c++) {
			for (size_t s = 0; s < flow->clusters[c].sid_count; s++) {
				if (flow->clusters[c].sids[s].channel == slot)
					return true;
			}
		}
	}
	return false;
}

static bool group_refers(const struct bonding_group *group, uint32_t slot) {
	for (size_t c = 0; c < group->channel_count; c++) {
		if (group->channels[c] == slot)
			return true;
	}
	return false;
}

/* Writes the name of an object that refers to the one in the slot; such an object exists. */
static void name_user(const struct live_group *l, enum live_object object, uint32_t slot,
		      char *name, size_t size) {
	const struct service_group *sg = &l->sg;
	uint32_t i = 0;

	if (object == LIVE_CHANNEL) {
		while (!group_refers(&sg->bonding_groups[i], slot))
			i++;
		live_name(LIVE_BONDING_GROUP, &sg->bonding_groups[i], name, size);
		return;
	}
	while (!modem_exists(&sg->modems[i]) || !modem_refers(&sg->modems[i], object, slot))
		i++;
	live_name(LIVE_MODEM, &sg->modems[i], name, size);
}

bool conflicts_no_users(const struct live_group *l, enum live_object object, uint32_t slot,
			char why[LIVE_LINE]) {
	const uint32_t *users = l->index->users[object];
	char name[NAME_SIZE], user[NAME_SIZE];

	if (users == NULL || users[slot] == 0)
		return true;
	live_name(object, l->blocks[object][slot], name, sizeof(name));
	name_user(l, object, slot, user, sizeof(user));
	snprintf(why, LIVE_LINE, "%s is in use by %s; change or remove that first", name, user);
	return false;
}
