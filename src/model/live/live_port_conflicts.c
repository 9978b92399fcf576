/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/live_port_conflicts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/live/live_index.h"
#include "model/live/live_kind.h"
#include "model/server/sides.h"
#include "model/server_config.h"

struct side_check {
	const struct live_group *const *groups;
	const struct service_group *own;
	enum live_object object;
	/* Indices of the other groups on each side. */
	uint8_t others[SIDES][SERVER_MAX_GROUPS];
	size_t other_count[SIDES];
	char *why;
};

/* The side on which the value must be unique; SIDES: none. */
static enum side side_of(const struct identity *identity) {
	switch (identity->kind) {
	case IDENTITY_MAC:
	case IDENTITY_ADDRESS: return SIDE_NETWORK;
	case IDENTITY_SESSION:
	case IDENTITY_MAP_SESSION: return SIDE_RPD;
	case IDENTITY_UPSTREAM_SESSION: return SIDE_CORE;
	default: return SIDES;
	}
}

static bool refuse_other(const struct side_check *j, const struct identity *identity,
			 enum side side, const struct live_group *other, enum live_object owner,
			 uint32_t slot) {
	const char *device = side_device(j->own, side);
	char path[32], value[64], name[64];

	snprintf(path, sizeof(path), identity->format, identity->index[0]);
	identity_text(identity, value, sizeof(value));
	live_name(owner, other->blocks[owner][slot], name, sizeof(name));
	snprintf(j->why, LIVE_LINE,
		 "%s.%s: duplicate %s, %s of service group %" PRIu32
		 " has it; on port %.*s, such groups need another %s",
		 live_kinds[j->object].item, path, value, name, other->sg.id,
		 (int)strcspn(device, ","), device, side_separating_keys(side));
	return false;
}

static bool is_distinct(void *context, const struct identity *identity) {
	const struct side_check *j = context;
	enum side side = side_of(identity);
	enum live_object owner;
	struct identity counterpart;
	bool two = identity_counterpart(identity, &counterpart, &owner);

	for (size_t i = 0; side < SIDES && i < j->other_count[side]; i++) {
		const struct live_group *other = j->groups[j->others[side][i]];
		uint32_t slot = live_index_find(other->index, identity);

		if (slot != IDENTITY_NONE)
			return refuse_other(j, identity, side, other, j->object, slot);
		slot = two ? live_index_find(other->index, &counterpart) : IDENTITY_NONE;
		if (slot != IDENTITY_NONE)
			return refuse_other(j, identity, side, other, owner, slot);
	}
	return true;
}

/* Finds the other groups on each side of the group; `own` may be one of `groups`. */
static void find_others(struct side_check *j, size_t count, const struct service_group *own) {
	for (size_t g = 0; g < count && g < SERVER_MAX_GROUPS; g++) {
		for (enum side side = 0; &j->groups[g]->sg != own && side < SIDES; side++) {
			if (side_same(&j->groups[g]->sg, own, side))
				j->others[side][j->other_count[side]++] = (uint8_t)g;
		}
	}
}

bool live_port_conflicts(const struct live_group *const *groups, size_t count, size_t changed,
			 const struct live_changes *changes, char why[LIVE_LINE]) {
	struct side_check j = {.groups = groups, .own = &groups[changed]->sg, .why = why};
	bool good = true;

	find_others(&j, count, j.own);
	for (size_t i = 0; good && i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];

		j.object = c->object;
		if (c->object != LIVE_GROUP && c->next != NULL)
			good = identity_each(c->object, c->next, is_distinct, &j);
	}
	return good;
}

bool live_port_conflicts_new(const struct live_group *const *groups, size_t count,
			     const struct service_group *sg, char why[LIVE_LINE]) {
	struct side_check j = {.groups = groups, .own = sg, .why = why};
	bool good = true;

	find_others(&j, count, sg);
	for (j.object = LIVE_CHANNEL; good && j.object < LIVE_OBJECTS; j.object++) {
		for (size_t i = 0; good && i < live_count(sg, j.object); i++)
			good = identity_each(j.object, live_item(sg, j.object, i), is_distinct, &j);
	}
	return good;
}
