/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts events of the control socket to changes of the groups. */
#include "follow/follow_events.h"

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "model/live/object_copy.h"
#include "model/live/object_json.h"
#include "model/live/request.h"
#include "model/load/reader.h"
#include "model/tree_json.h"

#define MAX_VALUES 64 /* maximum values in a security association */

struct follow_group *follow_find(struct follow *f, uint32_t id) {
	for (unsigned i = 0; i < f->count; i++) {
		if (f->ids[i] == id)
			return &f->groups[i];
	}
	return NULL;
}

/* Whether the group gets no traffic; its events are ignored. */
static bool is_refused(const struct follow *f, uint32_t id) {
	for (unsigned i = 0; i < f->without_traffic_count; i++) {
		if (f->without_traffic[i] == id)
			return true;
	}
	return false;
}

static bool is_text(const json_t *value, const char *text) {
	return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

static bool kind_find(const json_t *kind, enum live_object *object) {
	static const char *const names[LIVE_OBJECTS] = {
		[LIVE_CHANNEL] = "channel",
		[LIVE_UPSTREAM_CHANNEL] = "upstream_channel",
		[LIVE_BONDING_GROUP] = "bonding_group",
		[LIVE_FILTER_GROUP] = "filter_group",
		[LIVE_MODEM] = "modem",
	};

	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		if (is_text(kind, names[o])) {
			*object = o;
			return true;
		}
	}
	return false;
}

static bool verb_find(const json_t *action, enum live_verb *verb) {
	static const struct {
		const char *action;
		enum live_verb verb;
	} verbs[] = {{"added", LIVE_ADD}, {"changed", LIVE_REPLACE}, {"removed", LIVE_REMOVE}};

	for (size_t i = 0; i < RTE_DIM(verbs); i++) {
		if (is_text(action, verbs[i].action)) {
			*verb = verbs[i].verb;
			return true;
		}
	}
	return false;
}

/* Reads an association by the keys of the configuration file. */
static bool association_read(json_t *value, struct security_association *out) {
	const struct key *entry = object_key(LIVE_MODEM)->item->keys;
	struct errors errors = {.file = ""};
	struct reader reader = {.errors = &errors, .visits = MAX_VALUES, .arena = arena_new()};
	struct tree tree = {0};
	struct modem modem = {0};

	while (entry->name != NULL && strcmp(entry->name, "security") != 0)
		entry++;
	if (reader.arena != NULL && tree_from_json(&tree, value, &errors))
		reader_read_one(&reader, entry, tree.root, &modem, NULL);
	if (tree.arena != NULL)
		tree_free(&tree);
	arena_free(reader.arena);
	for (size_t i = 0; i < errors.shown_count; i++)
		free(errors.shown[i].text);
	*out = modem.security;
	return reader.arena != NULL && errors.total == 0 && modem.security.said != 0;
}

/* Replaces the association of all modems that have its SAID. */
static bool key_change(struct follow_group *g, json_t *value) {
	struct live_changes changes = {0};
	struct security_association sa;

	if (!association_read(value, &sa))
		return false;
	for (uint32_t m = 0; m < g->live.capacity.modems; m++) {
		const struct modem *modem = &g->live.sg.modems[m];
		struct modem *copy;

		if (!modem_exists(modem) || modem->security.said != sa.said)
			continue;
		copy = object_copy(LIVE_MODEM, modem, NULL);
		if (copy != NULL)
			copy->security = sa;
		if (copy == NULL || !live_changes_add(&changes, LIVE_MODEM, m, copy)) {
			live_changes_free(&changes);
			return false;
		}
	}
	follow_group_changes(g, &changes);
	return true;
}

static bool object_change(struct follow_group *g, enum live_verb verb, enum live_object object,
			  json_t *value) {
	struct live_changes changes;
	char why[LIVE_LINE];

	if (!live_request(&g->live, verb, object, value, &changes, why))
		return false;
	follow_group_changes(g, &changes);
	return true;
}

/* Ignores changes of a group's own settings. Returns false for an added group. */
static bool group_change(struct follow_group *g, const json_t *action) {
	if (is_text(action, "removed"))
		return follow_group_differs(g, NULL);
	return !is_text(action, "added");
}

/* Returns false if the event cannot be recorded; the configuration must then be requested. */
static bool object_event(struct follow *f, const json_t *event) {
	uint32_t group = (uint32_t)json_integer_value(json_object_get(event, "group"));
	struct follow_group *g = follow_find(f, group);
	const json_t *kind = json_object_get(event, "kind");
	const json_t *action = json_object_get(event, "action");
	json_t *value = json_object_get(event, "object");
	enum live_object object;
	enum live_verb verb;

	if (g == NULL)
		return is_refused(f, group);
	if (is_text(kind, "group"))
		return group_change(g, action);
	if (is_text(kind, "key"))
		return key_change(g, value);
	if (!kind_find(kind, &object))
		return true; /* the traffic does not depend on other kinds */
	return verb_find(action, &verb) && object_change(g, verb, object, value);
}

static void event_apply(struct follow *f, const json_t *event) {
	const json_t *name = json_object_get(event, "event");
	int64_t sequence = json_integer_value(json_object_get(event, "sequence"));

	if (sequence < f->sequence)
		return; /* the configuration included it */
	if (is_text(name, "missed")) {
		f->sequence = sequence; /* the next event has the same number */
		f->lost = f->change_reported = true;
		f->in_change = false;
		return;
	}
	f->lost = f->lost || sequence > f->sequence;
	f->sequence = sequence + 1;
	if (is_text(name, "prepared")) {
		f->in_change = f->change_reported = true;
	} else if (is_text(name, "applied")) {
		f->in_change = false;
		follow_times_applied(&f->times, rte_rdtsc());
	} else if (is_text(name, "object") && !f->lost) {
		f->lost = !object_event(f, event);
	}
}

void follow_event(struct follow *f, const json_t *message) {
	json_t *method = json_object_get(message, "method");
	json_t *id = json_object_get(message, "id");

	if (is_text(method, "event")) {
		event_apply(f, json_object_get(message, "params"));
	} else if (f->request_id != 0 && (uint64_t)json_integer_value(id) == f->request_id) {
		f->request_id = 0;
		f->complete_until = f->requested_at;
	}
}
