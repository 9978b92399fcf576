/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of a server of two groups, whose requests are repeated with one call failing each time. */
#pragma once

#include "test.h"

#include <unistd.h>

#include <jansson.h>

#include "control/methods/methods.h"
#include "model/live/group_json.h"
#include "model/load/loader.h"
#include "platform/secret/secret_memory.h"
#include "server/changes.h"

#include "fault_runs.h"
#include "fixture.h"
#include "short_json.h"

#define MS 1000000ull

static struct life_kit storage, *const bench = &storage;
static struct reload reload;
static struct methods methods;
static struct rpc rpc;
static struct event_subscriber subscriber;
static struct metrics_source metrics;
static char folder[] = "/tmp/faults-XXXXXX";
static char group_path[64], served_path[64], other_path[64]; /* a group, and files of the server */

struct request {
	const char *method, *params;
};

struct change {
	struct request run, undo;
};

static inline void file_write(const char *path, const char *text) {
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* The beginning of the answer, until the next one; NULL: the client is told that there is no memory for its request. */
static inline const char *answer_to(const struct request *r) {
	static char text[16384], params[16000];
	struct answer_text answer = {0};
	struct iovec piece = {NULL, 0};
	struct rpc_work *w;

	json_expand(r->params, params, sizeof(params));
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":%s,\"id\":1}", r->method,
		 params);
	w = rpc_begin(&rpc, text, strlen(text));
	if (w == NULL)
		return NULL;
	rpc_work_of(w, &subscriber);
	while (!rpc_continue(w))
		life_kit_pass(bench, MS);
	rpc_end(w, &answer);
	(void)answer_text_pieces(&answer, &piece, 1);
	snprintf(text, sizeof(text), "%.*s", (int)piece.iov_len,
		 piece.iov_len > 0 ? (const char *)piece.iov_base : "");
	answer_text_free(&answer);
	return text;
}

static inline enum outcome outcome_of(const struct request *r) {
	const char *answer = answer_to(r);
	enum outcome outcome = OUTCOME_REFUSED;

	if (answer != NULL && strstr(answer, "may have been done") != NULL)
		outcome = OUTCOME_UNKNOWN;
	else if (answer != NULL &&
		 (strstr(answer, "\"result\"") != NULL || strstr(answer, "it was done") != NULL))
		outcome = OUTCOME_DONE;
	return outcome;
}

static inline enum outcome run(void *context) {
	const struct change *c = context;

	return outcome_of(&c->run);
}

static inline void must(const struct request *r) {
	const char *answer = answer_to(r);

	if (answer == NULL || strstr(answer, "\"result\"") == NULL)
		fail_msg("%s: %s", r->method, answer);
}

static inline void undo(void *context) {
	const struct change *c = context;

	must(&c->undo);
}

/* Without the answer to the one in whose middle it failed. */
static inline void serves(void) {
	life_kit_serves(bench);
}

/* Methods in which calls failed. */
static const char *tried[64];
static unsigned tried_count;

static inline bool is_tried(const char *method) {
	for (unsigned i = 0; i < tried_count; i++) {
		if (strcmp(tried[i], method) == 0)
			return true;
	}
	return false;
}

static inline void try_operation(const struct operation *o) {
	assert_true(tried_count < ARRAY_COUNT(tried));
	if (!is_tried(o->name))
		tried[tried_count++] = o->name;
	assert_true(every_fault(o, &bench->server) > 2);
}

static inline void try
	(const struct change *c) {
		struct operation o = {c->run.method, run, undo, serves, NULL, false, false};

		o.context = (void *)(uintptr_t)c;
		if (strcmp(c->run.method, "group.drain") == 0 ||
		    strcmp(c->run.method, "group.resume") == 0)
			o.serves = NULL;
		must(&c->run); /* whether it can be done at all */
		undo(o.context);
		try_operation(&o);
	}

static inline void nothing_to_undo(void *context) {
	(void)context;
}

/* A method that reads: nothing changes, whatever fails, and the memory is given back in every case. */
static inline void try_reading(const char *method, const char *params) {
	struct change c = {{method, params}, {NULL, NULL}};
	const struct operation o = {method, run, nothing_to_undo, NULL, &c, false, true};

	must(&c.run);
	try_operation(&o);
}

/* A file does not have what the group has not. */
static inline json_t *group_of(const struct live_group *live) {
	json_t *group = group_json(live, true), *ports = json_object_get(group, "ports");

	if (json_object_size(json_object_get(ports, "control")) == 0)
		json_object_del(ports, "control");
	json_object_del(json_object_get(group, "threads"), "main_core");
	return group;
}

/* A group that is added, as a file. */
static inline void group_file_make(void) {
	struct service_group sg;
	char why[LIVE_LINE], *text;
	json_t *json;
	unsigned group;

	life_kit_load(&sg, 3, LIFE_SHARED, 1, 2, 0);
	group = life_kit_add(bench, &sg);
	json = group_of(&bench->server.groups[group].live);
	text = json_dumps(json, 0);
	file_write(group_path, text);
	free(text);
	json_decref(json);
	assert_true(server_group_remove(&bench->server, group, 0, why));
	service_group_free(&sg);
}

static inline int begin(void **state) {
	secret_json_wipe();
	life_kit_open(bench, 2, 5);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		assert_int_equal(worker_reserve(&bench->server.workers[w], 200), 0);
	assert_non_null(mkdtemp(folder));
	snprintf(group_path, sizeof(group_path), "%s/group", folder);
	snprintf(served_path, sizeof(served_path), "%s/served", folder);
	snprintf(other_path, sizeof(other_path), "%s/other", folder);
	metrics = (struct metrics_source){.server = &bench->server, .version = "1"};
	metrics_source_start(&metrics);
	methods =
		(struct methods){.server = &bench->server, .reload = &reload, .metrics = &metrics};
	events_open(&methods.events);
	rpc = methods_rpc(&methods);
	group_file_make();
	reload_open(&reload, &bench->server, served_path, &(struct server_devices){0});
	return 0;
}

static inline int end(void **state) {
	server_changes_settle(&bench->server);
	reload_free(&reload);
	event_journal_leave(methods.events.journal, &subscriber);
	events_close(&methods.events);
	unlink(group_path);
	unlink(served_path);
	unlink(other_path);
	rmdir(folder);
	life_kit_close(bench);
	return fixture_stop(state);
}
