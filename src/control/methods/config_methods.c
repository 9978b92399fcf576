/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/config_methods.h"

#include <inttypes.h>
#include <stdio.h>

#include "control/methods/methods.h"
#include "model/keys/key_macros.h"
#include "model/live/snapshot.h"
#include "model/live/unsaved.h"
#include "server/save/save.h"

/* One entry per key, laid out as a table. */
/* clang-format off */
static const struct choice unsaved_actions[] = {
	{"added", UNSAVED_ADDED},
	{"changed", UNSAVED_CHANGED},
	{"removed", UNSAVED_REMOVED},
	{NULL, 0},
};
const struct key config_get_params[] = {
	{.name = "keys", BOOL, AT(struct config_get_params, keys), .fallback = "false",
	 HELP("include the traffic encryption keys; without them the result cannot be loaded "
	      "as a file")},
	{.name = "group", INTEGER(1, SUBJECT_MAX_GROUP), AT(struct config_get_params, group.id),
	 .flag = offsetof(struct config_get_params, group.given), .example = "1",
	 HELP("service group (default: all)")},
	{0},
};
const struct key config_get_result[] = {
	{.name = "generation", .required = true, INTEGER(0, INT64_MAX), .example = "0",
	 HELP("number of changes since the server's start")},
	{.name = "sequence", .required = true, INTEGER(1, INT64_MAX), .example = "1",
	 HELP("number of the first event that the result does not include")},
	{.name = "config", .required = true, .kind = KIND_JSON,
	 HELP("the configuration in service, with the keys of a server's file")},
	{0},
};
const struct key config_reload_params[] = {
	{.name = "force", BOOL, AT(struct config_reload_params, force), .fallback = "false",
	 HELP("undo changes that requests made since the file was loaded or saved; otherwise "
	      "the reload is refused if it would undo some")},
	{0},
};
const struct key config_reload_result[] = {
	{.name = "done", .required = true, .kind = KIND_TEXT,
	 .example = "sg.yaml: reloaded: 6 channels changed",
	 HELP("summary of the changes, as vcmtsd logs it")},
	{0},
};
const struct key config_save_params[] = {
	{.name = "file", .kind = KIND_PATH, AT(struct config_save_params, file),
	 .example = "/etc/vcmts/saved.yaml",
	 HELP("a new file to write, on vcmtsd's machine (default: the configuration file)")},
	{0},
};
const struct key config_save_result[] = {
	{.name = "done", .required = true, .kind = KIND_TEXT,
	 .example = "sg.yaml: saved: 1 modem added",
	 HELP("summary of the changes, as vcmtsd logs it")},
	{.name = "comments", .required = true, BOOL, .example = "true",
	 HELP("whether comments were kept: the text was changed in place; otherwise it "
	      "is a new text, and `done` has the reason")},
	{0},
};
static const struct key unsaved_keys[] = {
	{.name = "group", .required = true, INTEGER(1, SUBJECT_MAX_GROUP), .example = "1",
	 HELP("ID of its service group")},
	{.name = "object", .required = true, .kind = KIND_TEXT,
	 .example = "modem 02:01:00:00:00:01", HELP("kind and MAC address or ID")},
	{.name = "action", .required = true, ENUM(unsaved_actions), .example = "added",
	 HELP("compared with the file")},
	{.name = "method", .required = true, .kind = KIND_TEXT, .example = "modem.add",
	 HELP("the last method that changed it")},
	{0},
};
static const struct key unsaved_item = {
	.kind = KIND_MAP, .keys = unsaved_keys, HELP("a changed object"),
};
const struct key config_changes_result[] = {
	{.name = "changes", .required = true, .kind = KIND_LIST, .item = &unsaved_item,
	 HELP("the changed objects")},
	{0},
};
const struct key config_refuse_result[] = {
	{.name = "refused", .required = true, INTEGER(0, INT64_MAX), .example = "1",
	 HELP("number of changes refused since the start, including this one")},
	{0},
};
/* clang-format on */

/* The result is written in parts while other clients are served, from copies that show the
 * configuration at the time of the request. */
static bool reading_end(struct rpc_call *call) {
	struct methods *m = call->service;
	struct snapshot_reading *r = call->state;

	snapshots_unregister(&m->events.snapshots, r);
	return snapshot_free_part(r->snapshot);
}

static bool reading_add(struct rpc_call *call, struct snapshot *s) {
	const struct config_get_params *p = call->params;
	const struct methods *m = call->service;
	const struct served_group *g;
	unsigned slot = 0;

	while ((g = subject_next_group(call, &slot)) != NULL) {
		if (p->group.given && g->sg->id != p->group.id)
			continue;
		if (!snapshot_add(s, &g->live))
			return false;
		/* Without events, a later change does not copy the group first, so copy it now. */
		if (m->events.server == NULL)
			snapshot_copy(s, &g->live);
	}
	return true;
}

static bool reading_begin(struct rpc_call *call) {
	const struct config_get_params *p = call->params;
	struct methods *m = call->service;
	struct snapshot_reading *r = arena_alloc(call->arena, 1, sizeof(*r));
	char head[128];

	if (r == NULL)
		return false;
	r->snapshot = snapshot_create(p->keys);
	if (r->snapshot == NULL)
		return false;
	call->state = r;
	call->end = reading_end;
	snapshots_register(&m->events.snapshots, r);
	snprintf(head, sizeof(head),
		 "{\"generation\":%" PRIu64 ",\"sequence\":%" PRIu64
		 ",\"config\":{\"service_groups\":",
		 m->server->generation,
		 m->events.journal != NULL ? event_journal_next(m->events.journal) : 1);
	answer_text_put(&call->text, head);
	return reading_add(call, r->snapshot);
}

json_t *config_get(struct rpc_call *call) {
	const struct config_get_params *p = call->params;
	struct snapshot_reading *r = call->state;
	uint64_t end = rpc_part_end();
	bool failed = false, more = true;

	if (r == NULL) {
		if (p->group.given && subject_group(call, &p->group) == NULL)
			return NULL;
		if (!reading_begin(call))
			return rpc_refuse(call, RPC_INTERNAL, "no memory left");
		return rpc_more(call);
	}
	while (more && !rpc_part_is_over(end))
		more = snapshot_write(r->snapshot, answer_text_write, &call->text, &failed);
	if (failed)
		return rpc_refuse(call, RPC_INTERNAL, "no memory left");
	if (more)
		return rpc_more(call);
	answer_text_put(&call->text, "}}");
	return NULL;
}

json_t *config_reload(struct rpc_call *call) {
	const struct config_reload_params *p = call->params;
	const struct methods *m = call->service;

	if (!reload_run(m->reload, p->force))
		return rpc_refuse(call, RPC_REFUSED, "%s", m->reload->line);
	call->changed = true;
	return json_pack("{s:o}", "done", rpc_text(m->reload->line));
}

json_t *config_save(struct rpc_call *call) {
	const struct config_save_params *p = call->params;
	const struct methods *m = call->service;
	struct save_result result;

	if (!server_save(m->server, m->reload, p->file, &result))
		return rpc_refuse(call, RPC_REFUSED, "%s", result.line);
	if (p->file == NULL)
		m->reload->refused = false; /* the file was loaded and is in service */
	call->changed = true;
	return json_pack("{s:o, s:b}", "done", rpc_text(result.line), "comments", result.comments);
}

static json_t *unsaved_json(const struct unsaved_object *o) {
	char text[UNSAVED_NAME];

	unsaved_text(o, text, sizeof(text));
	return json_pack("{s:I, s:s, s:s, s:s}", "group", (json_int_t)o->group, "object", text,
			 "action", unsaved_action_name(o->action), "method", o->method);
}

json_t *config_changes(struct rpc_call *call) {
	const struct unsaved *u = &subject_server(call)->unsaved;
	json_t *list = json_array();

	for (size_t i = 0; i < u->count; i++)
		json_array_append_new(list, unsaved_json(&u->list[i]));
	return json_pack("{s:o}", "changes", list);
}

/* A program that generates the configuration file calls it if its source is invalid. */
json_t *config_refuse(struct rpc_call *call) {
	struct server *server = ((const struct methods *)call->service)->server;

	server->refused++;
	call->changed = true;
	return json_pack("{s:I}", "refused", (json_int_t)server->refused);
}
