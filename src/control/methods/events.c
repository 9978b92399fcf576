/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/events.h"

#include <stdlib.h>

#include "control/rpc.h"
#include "model/live/change_json.h"
#include "model/live/group_json.h"
#include "model/live/live_kind.h"
#include "model/live/object_json.h"

/* State while the events of one change are written. */
struct writer {
	struct event_journal *journal;
	const struct watched_change *w;
	bool plain, keys; /* the kinds of texts that subscribers want */
};

/* Returns false if no subscriber wants the change, whose event number is then used up. */
static bool writer_begin(struct writer *t, struct events *e, const struct watched_change *w) {
	*t = (struct writer){
		.journal = e->journal,
		.w = w,
		.plain = event_journal_wants(e->journal, false),
		.keys = event_journal_wants(e->journal, true),
	};
	if (t->plain || t->keys)
		return true;
	event_journal_skip(e->journal);
	return false;
}

static json_t *ids_json(const struct watched_change *w) {
	json_t *list = json_array();

	for (unsigned i = 0; i < w->count; i++)
		json_array_append_new(list, json_integer(w->ids[i]));
	return list;
}

static void add_of_change(struct event_journal *j, const struct watched_change *w,
			  enum event_position position, json_t *members) {
	const struct event event = {
		.position = position, .groups = w->ids, .group_count = w->count, .plain = members};

	event_journal_add(j, &event);
}

static void write_prepared(const struct writer *t, size_t objects) {
	add_of_change(t->journal, t->w, EVENT_BEGINS,
		      json_pack("{s:s, s:I, s:I, s:o, s:I}", "event", "prepared", "change",
				(json_int_t)t->w->number, "generation",
				(json_int_t)t->w->generation, "groups", ids_json(t->w), "objects",
				(json_int_t)objects));
}

static json_t *object_event(const struct writer *t, uint32_t group, const char *kind,
			    const char *action, json_t *object) {
	return json_pack("{s:s, s:I, s:I, s:s, s:s, s:o}", "event", "object", "change",
			 (json_int_t)t->w->number, "group", (json_int_t)group, "kind", kind,
			 "action", action, "object", object);
}

/* `keys` is NULL if the object has no keys. */
static void write_object(const struct writer *t, uint32_t group, json_t *plain, json_t *keys) {
	const struct event event = {
		.position = EVENT_INSIDE,
		.groups = &group,
		.group_count = 1,
		.plain = plain,
		.keys = keys,
	};

	event_journal_add(t->journal, &event);
}

static bool has_keys(const struct change_walk *w) {
	return w->change->object == LIVE_MODEM && w->action != CHANGE_REMOVED;
}

static json_t *walk_event(const struct writer *t, uint32_t group, const struct change_walk *w,
			  bool secrets) {
	return object_event(t, group, change_walk_kind(w), change_action_name(w->action),
			    change_walk_json(w, secrets));
}

static void write_walk(const struct writer *t, uint32_t group, struct change_walk *w) {
	while (change_walk_next(w)) {
		bool keys = has_keys(w) && t->keys;

		write_object(t, group, t->plain || !keys ? walk_event(t, group, w, false) : NULL,
			     keys ? walk_event(t, group, w, true) : NULL);
	}
}

static void differs(void *arg, const struct watched_change *w,
		    const struct server_difference *list) {
	struct change_walk walks[SERVER_MAX_GROUPS] = {0};
	struct events *e = arg;
	struct writer t;
	size_t objects = 0;

	for (unsigned i = 0; i < w->count; i++)
		snapshots_copy(&e->snapshots, &list[i].group->live);
	if (!writer_begin(&t, e, w))
		return;
	for (unsigned i = 0; i < w->count; i++) {
		if (change_walk_begin(&walks[i], &list[i].group->live, list[i].changes))
			objects += change_walk_count(&walks[i]);
	}
	write_prepared(&t, objects);
	for (unsigned i = 0; i < w->count; i++) {
		if (walks[i].visited != NULL)
			write_walk(&t, w->ids[i], &walks[i]);
		else
			/* without memory, adds a lost event, so that all subscribers miss it */
			write_object(&t, w->ids[i], NULL, NULL);
		change_walk_end(&walks[i]);
	}
	event_journal_flush(e->journal);
}

static size_t objects_of(const struct live_group *l) {
	size_t count = 0;

	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		for (uint32_t slot = 0; slot < live_capacity(&l->capacity, o); slot++)
			count += group_json_slot_is_used(l, o, slot);
	}
	return count;
}

/* Adds the event of an object in an added group. */
static void write_addition(const struct writer *t, const struct live_group *l, enum live_object o,
			   uint32_t slot) {
	bool keys = o == LIVE_MODEM && t->keys;
	json_t *plain = NULL, *secret = NULL;

	if (t->plain || !keys)
		plain = object_event(t, l->sg.id, live_kinds[o].item, "added",
				     object_json(l, o, slot, false));
	if (keys)
		secret = object_event(t, l->sg.id, live_kinds[o].item, "added",
				      object_json(l, o, slot, true));
	write_object(t, l->sg.id, plain, secret);
}

static void write_group_added(const struct writer *t, const struct live_group *l) {
	write_prepared(t, 1 + objects_of(l));
	write_object(t, l->sg.id,
		     object_event(t, l->sg.id, "group", "added", group_single_json(&l->sg)), NULL);
	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		for (uint32_t slot = 0; slot < live_capacity(&l->capacity, o); slot++) {
			if (group_json_slot_is_used(l, o, slot))
				write_addition(t, l, o, slot);
		}
	}
}

static json_t *cores_json(const struct server *s, const struct group_watch *g) {
	const unsigned *cores = s->layout.cores;
	json_t *json = json_pack("{s:i, s:i}", "upper_mac_core", (int)cores[g->at->upper],
				 "lower_mac_core", (int)cores[g->at->lower]);

	if (g->group->upstream != NULL)
		json_object_set_new(json, "upstream_core", json_integer(cores[g->at->upstream]));
	return json;
}

static void write_group(const struct writer *t, const struct server *s,
			const struct group_watch *g) {
	const struct service_group *sg = g->group->sg;
	const char *action = NULL;
	json_t *object = NULL;

	switch (g->what) {
	case WATCH_ADDED: write_group_added(t, &g->group->live); return;
	case WATCH_REMOVED:
		action = "removed";
		object = json_pack("{s:I}", "id", (json_int_t)sg->id);
		break;
	case WATCH_MOVED:
		action = "moved";
		object = cores_json(s, g);
		break;
	case WATCH_PROVIDER:
		action = "changed";
		object = group_crypto_json(sg, g->crypto);
		break;
	}
	write_prepared(t, 1);
	write_object(t, sg->id, object_event(t, sg->id, "group", action, object), NULL);
}

static void notify_group(void *arg, const struct watched_change *w, const struct group_watch *g) {
	struct events *e = arg;
	struct writer t;

	if (g->what != WATCH_ADDED)
		snapshots_copy(&e->snapshots, &g->group->live);
	if (!writer_begin(&t, e, w))
		return;
	write_group(&t, e->server, g);
	event_journal_flush(e->journal);
}

static void applied(void *arg, const struct watched_change *w) {
	struct events *e = arg;

	add_of_change(e->journal, w, EVENT_ENDS,
		      json_pack("{s:s, s:I, s:I}", "event", "applied", "change",
				(json_int_t)w->number, "generation", (json_int_t)w->generation));
	event_journal_flush(e->journal);
}

static void retired(void *arg, const struct watched_change *w) {
	struct events *e = arg;

	add_of_change(e->journal, w, EVENT_ALONE,
		      json_pack("{s:s, s:I}", "event", "retired", "change", (json_int_t)w->number));
	event_journal_flush(e->journal);
}

static void reloaded(void *arg, uint64_t generation, const char *line) {
	struct events *e = arg;
	const struct event event = {
		.position = EVENT_ALONE,
		.plain = json_pack("{s:s, s:I, s:o}", "event", "reload", "generation",
				   (json_int_t)generation, "done", rpc_text(line)),
	};

	event_journal_add(e->journal, &event);
	event_journal_flush(e->journal);
}

void events_open(struct events *e) {
	*e = (struct events){.journal = event_journal_create()};
}

void events_watch(struct events *e, struct server *s) {
	if (e->journal == NULL)
		return;
	e->server = s;
	e->watcher = (struct server_watcher){
		.differs = differs,
		.group = notify_group,
		.applied = applied,
		.retired = retired,
		.reloaded = reloaded,
		.arg = e,
	};
	s->watcher = &e->watcher;
}

void events_close(struct events *e) {
	if (e->server != NULL)
		e->server->watcher = NULL;
	event_journal_free(e->journal);
	*e = (struct events){0};
}
