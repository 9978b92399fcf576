/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects values of all groups with their lines, and sorts them once at the end. Only values on
 * one side are compared: groups of one device, VLAN and address. */
#include "model/server/values.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/server/sides.h"
#include "model/units.h"

#define VALUE_SIZE 17 /* an IP address with its family */
#define TEXT_SIZE 64

enum value_kind {
	VALUE_ADDRESS,
	VALUE_MAC,
	VALUE_SESSION, /* downstream */
	VALUE_UPSTREAM_SESSIONS, /* in the order of side_sessions() */
	VALUE_MAP_SESSION = VALUE_UPSTREAM_SESSIONS + SIDE_SESSIONS - 1,
	VALUE_MAP_SESSION_BY_ID, /* the default, which follows from the channel's ID */
	VALUE_KINDS,
};

/* The path of a value in the file: list[i].key, or list[i].key[j] for addresses. */
static const struct {
	const char *list, *key, *what;
} kinds[VALUE_KINDS] = {
	[VALUE_ADDRESS] = {"modems", "addresses", "address"},
	[VALUE_MAC] = {"modems", "mac", "MAC address"},
	[VALUE_SESSION] = {"channels", "session", "session"},
	[VALUE_UPSTREAM_SESSIONS] = {"upstream_channels", "session", "session"},
	[VALUE_UPSTREAM_SESSIONS + 1] = {"upstream_channels", "request_session", "session"},
	[VALUE_UPSTREAM_SESSIONS + 2] = {"upstream_channels", "ranging_session", "session"},
	[VALUE_MAP_SESSION] = {"upstream_channels", "map_session", "session"},
	[VALUE_MAP_SESSION_BY_ID] = {"upstream_channels", "id", "default map_session"},
};

/* Sort key, most significant member first. Sessions of one side share one number range, so they
 * share one kind. */
struct value_key {
	uint8_t side; /* enum side */
	uint8_t group; /* the first group on this side */
	uint8_t kind; /* distinguishes addresses from MAC addresses */
	uint8_t value[VALUE_SIZE];
};

struct value {
	struct value_key key;
	uint8_t kind; /* enum value_kind */
	uint16_t group;
	uint16_t j;
	uint32_t i;
	uint32_t line;
};

struct values {
	const struct service_group *groups;
	bool read[SERVER_MAX_GROUPS]; /* groups that were added */
	struct value *entries;
	size_t count, capacity;
	bool failed; /* no memory */
};

struct values *values_new(const struct service_group *groups) {
	struct values *values = calloc(1, sizeof(*values));

	if (values != NULL)
		values->groups = groups;
	return values;
}

void values_free(struct values *values) {
	if (values != NULL)
		free(values->entries);
	free(values);
}

static void add_value(struct values *values, const struct value *value, const void *bytes,
		      size_t size) {
	if (values->count == values->capacity) {
		size_t capacity = values->capacity > 0 ? 2 * values->capacity : 1024;
		struct value *entries = reallocarray(values->entries, capacity, sizeof(*entries));

		if (entries == NULL) {
			values->failed = true;
			return;
		}
		values->entries = entries;
		values->capacity = capacity;
	}
	values->entries[values->count] = *value;
	memcpy(values->entries[values->count].key.value, bytes, size);
	values->count++;
}

/* The first item of the list `key`; NULL if its lines are unknown. */
static struct node *items_of(const struct node *root, const char *key) {
	const struct node *list = node_field(root, key);

	return list != NULL ? list->first : NULL;
}

static uint32_t line_at(const struct node *node) {
	return node != NULL ? node->line : 0;
}

static void add_modem(struct values *values, struct value value, const struct modem *modem,
		      const struct node *map) {
	struct node *address = items_of(map, "addresses");

	value.kind = VALUE_MAC;
	value.line = line_at(node_present(map, "mac"));
	add_value(values, &value, modem->mac, sizeof(modem->mac));
	value.kind = VALUE_ADDRESS;
	for (; value.j < modem->address_count; value.j++) {
		value.line = line_at(address);
		add_value(values, &value, &modem->addresses[value.j], sizeof(modem->addresses[0]));
		address = address != NULL ? address->next : NULL;
	}
}

static void add_modems(struct values *values, size_t g, struct node *root) {
	const struct service_group *sg = &values->groups[g];
	struct value value = {.key.side = SIDE_NETWORK, .group = (uint16_t)g};
	struct node *item = items_of(root, "modems");

	for (; value.i < sg->modem_count; value.i++) {
		add_modem(values, value, &sg->modems[value.i], node_resolve(item));
		item = item != NULL ? item->next : NULL;
	}
}

/* Adds a session of the channel in `map`; 0 is none. */
static void add_session(struct values *values, struct value *value, enum value_kind kind,
			const struct node *map, uint32_t session) {
	if (session == 0)
		return;
	value->kind = (uint8_t)kind;
	value->line = line_at(node_present(map, kinds[kind].key));
	add_value(values, value, &session, sizeof(session));
}

static void add_upstream_sessions(struct values *values, struct value *value,
				  const struct node *map, const struct upstream_channel *channel) {
	struct side_session all[SIDE_SESSIONS];

	side_sessions(channel, all);
	for (unsigned n = 0; n < SIDE_SESSIONS; n++) {
		unsigned kind = VALUE_UPSTREAM_SESSIONS + n;

		if (kind == VALUE_MAP_SESSION && node_present(map, "map_session") == NULL)
			kind = VALUE_MAP_SESSION_BY_ID;
		value->key.side = (uint8_t)all[n].side;
		add_session(values, value, kind, map, all[n].session);
	}
}

static void add_sessions(struct values *values, size_t g, struct node *root) {
	const struct service_group *sg = &values->groups[g];
	struct node *item = items_of(root, "channels");
	struct value value = {.key.side = SIDE_RPD, .group = (uint16_t)g};

	for (; value.i < sg->channel_count; value.i++) {
		add_session(values, &value, VALUE_SESSION, node_resolve(item),
			    sg->channels[value.i].session);
		item = item != NULL ? item->next : NULL;
	}
	item = items_of(root, "upstream_channels");
	for (value.i = 0; value.i < sg->upstream_channel_count; value.i++) {
		add_upstream_sessions(values, &value, node_resolve(item),
				      &sg->upstream_channels[value.i]);
		item = item != NULL ? item->next : NULL;
	}
}

void values_add(struct values *values, size_t index, struct node *root) {
	values->read[index] = true;
	add_modems(values, index, root);
	add_sessions(values, index, root);
}

/* The first group on the side of group `g`. */
static uint8_t first_on_side(const struct values *values, size_t g, enum side side) {
	const struct service_group *groups = values->groups;

	for (size_t h = 0; h < g; h++) {
		if (values->read[h] && side_same(&groups[h], &groups[g], side))
			return (uint8_t)h;
	}
	return (uint8_t)g;
}

static int compare_values(const void *a, const void *b) {
	const struct value *left = a, *right = b;
	int order = memcmp(&left->key, &right->key, sizeof(left->key));

	if (order == 0)
		order = (left->group > right->group) - (left->group < right->group);
	return order != 0 ? order : (left->line > right->line) - (left->line < right->line);
}

static void format_value(const struct value *value, char text[TEXT_SIZE]) {
	uint32_t session;

	if (value->kind == VALUE_MAC) {
		units_format_mac(value->key.value, text);
	} else if (value->kind == VALUE_ADDRESS) {
		inet_ntop(value->key.value[0] == 4 ? AF_INET : AF_INET6, &value->key.value[1], text,
			  TEXT_SIZE);
	} else {
		memcpy(&session, value->key.value, sizeof(session));
		snprintf(text, TEXT_SIZE, "0x%08" PRIx32, session);
	}
}

static void report_value(const struct values *values, const struct value *value,
			 const struct value *first, struct errors *errors) {
	const struct service_group *groups = values->groups;
	enum side side = value->key.side;
	const char *device = side_device(&groups[value->group], side);
	struct path list = {.key = kinds[value->kind].list};
	struct path item = {.up = &list, .index = value->i};
	struct path key = {.up = &item, .key = kinds[value->kind].key};
	struct path element = {.up = &key, .index = value->j};
	char text[TEXT_SIZE], where[ERRORS_WHERE_SIZE];

	format_value(value, text);
	errors_where(errors, first->line, value->line, where, sizeof(where));
	errors_say(errors, value->line, value->kind == VALUE_ADDRESS ? &element : &key,
		   "duplicate %s %s, first in service group %" PRIu32
		   " %s; on port %.*s, such groups need another %s",
		   kinds[value->kind].what, text, groups[first->group].id, where,
		   (int)strcspn(device, ","), device, side_separating_keys(side));
}

/* Sets the sides in the keys of all values. Removes the values of groups that are alone on their
 * side. */
static void set_sides(struct values *values) {
	uint8_t first[SIDES][SERVER_MAX_GROUPS] = {0}, groups[SIDES][SERVER_MAX_GROUPS] = {0};
	size_t kept = 0;

	for (size_t g = 0; g < SERVER_MAX_GROUPS; g++) {
		for (enum side side = 0; values->read[g] && side < SIDES; side++) {
			first[side][g] = first_on_side(values, g, side);
			groups[side][first[side][g]]++;
		}
	}
	for (size_t k = 0; k < values->count; k++) {
		struct value *value = &values->entries[k];
		enum side side = value->key.side;

		value->key.group = first[side][value->group];
		value->key.kind = value->kind == VALUE_MAC;
		if (groups[side][value->key.group] > 1)
			values->entries[kept++] = *value;
	}
	values->count = kept;
}

void values_check(struct values *values, struct errors *errors) {
	size_t first = 0;

	if (values->failed)
		errors_add_no_memory(errors);
	set_sides(values);
	if (values->count > 0)
		qsort(values->entries, values->count, sizeof(values->entries[0]), compare_values);
	for (size_t k = 1; k < values->count; k++) {
		const struct value *value = &values->entries[k];

		if (memcmp(&value->key, &values->entries[first].key, sizeof(value->key)) != 0)
			first = k;
		else if (value->group != values->entries[first].group)
			report_value(values, value, &values->entries[first], errors);
	}
}
