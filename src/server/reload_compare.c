/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/reload_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/errors.h"
#include "model/keys.h"

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

struct comparison {
	char *why;
	size_t size;
};

/* A struct that a list has as its item, or the top, and where in it the keys at hand stand. */
struct place {
	const char *list;
	size_t offset;
	const struct path *path;
};

static size_t compare_print_path(const struct path *path, char *text, size_t size) {
	size_t used = path->up != NULL ? compare_print_path(path->up, text, size) : 0;
	const char *dot = path->up != NULL ? "." : "";

	if (used >= size)
		return size;
	text += used;
	size -= used;
	return used + (size_t)(path->key == NULL ? snprintf(text, size, "[%zu]", path->index)
						 : snprintf(text, size, "%s%s", dot, path->key));
}

static bool compare_refuse(struct comparison *c, const struct path *path, const char *what) {
	size_t used = compare_print_path(path, c->why, c->size);

	if (used < c->size)
		snprintf(c->why + used, c->size - used, ": %s", what);
	return false;
}

static bool may_change(const struct place *place, size_t offset) {
	for (size_t i = 0; i < RTE_DIM(changeable); i++) {
		bool top = changeable[i].list == NULL || place->list == NULL;
		bool there = top ? changeable[i].list == place->list
				 : strcmp(changeable[i].list, place->list) == 0;

		if (there && offset - changeable[i].offset < changeable[i].size)
			return true;
	}
	return false;
}

static bool same_keys(struct comparison *c, const struct key *keys, const struct place *place,
		      const char *a, const char *b);

static bool same_text(const char *a, const char *b) {
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static const char *pointer_at(const char *field) {
	const char *pointer;

	memcpy(&pointer, field, sizeof(const char *));
	return pointer;
}

static bool compare_same_list(struct comparison *c, const struct key *key, const struct path *path,
			      const char *a, const char *b, const size_t counts[2]) {
	struct path item = {.up = path};

	if (counts[0] != counts[1])
		return compare_refuse(c, path, "has another length, which takes a new start");
	if (!key->fixed) {
		a = pointer_at(a);
		b = pointer_at(b);
	}
	for (; item.index < counts[0]; item.index++) {
		size_t offset = item.index * key->size;
		struct place place = {.list = key->name, .path = &item};

		if (key->item->kind == KIND_MAP) {
			if (!same_keys(c, key->item->keys, &place, a + offset, b + offset))
				return false;
		} else if (memcmp(a + offset, b + offset, key->size) != 0) {
			return compare_refuse(c, &item, "differs, which takes a new start");
		}
	}
	return true;
}

/* One key of the structs at `a` and `b`. */
static bool same_key(struct comparison *c, const struct key *key, const struct place *place,
		     const char *a, const char *b) {
	struct path path = {.up = place->path, .key = key->name};
	struct place inner = {place->list, place->offset + key->offset, &path};
	const char *field[2] = {a + key->offset, b + key->offset};
	bool same;

	if (key->kind == KIND_MAP)
		return same_keys(c, key->keys, &inner, field[0], field[1]);
	if (key->kind == KIND_LIST) {
		size_t counts[2];

		memcpy(&counts[0], a + key->count, sizeof(counts[0]));
		memcpy(&counts[1], b + key->count, sizeof(counts[1]));
		return compare_same_list(c, key, &path, field[0], field[1], counts);
	}
	if (key->kind == KIND_NAME || key->kind == KIND_DEVICE) {
		same = same_text(pointer_at(field[0]), pointer_at(field[1]));
	} else {
		same = memcmp(field[0], field[1], key->kind == KIND_TOS ? 2 : key->size) == 0;
	}
	if (key->flag != 0)
		same = same && a[key->flag] == b[key->flag];
	return same || compare_refuse(c, &path, "differs, which takes a new start");
}

static bool same_keys(struct comparison *c, const struct key *keys, const struct place *place,
		      const char *a, const char *b) {
	for (const struct key *key = keys; key->name != NULL; key++) {
		if (!may_change(place, place->offset + key->offset) &&
		    !same_key(c, key, place, a, b))
			return false;
	}
	return true;
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
	struct comparison c = {why, size};
	struct place top = {0};
	size_t count;

	*changes = (struct reload_changes){0};
	if (!same_keys(&c, service_group_keys, &top, (const char *)now, (const char *)next))
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
