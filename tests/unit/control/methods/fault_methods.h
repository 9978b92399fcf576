/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls control methods of a server of two groups with failing library calls, by fault_runs.h. */
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
static char group_path[64]; /* file of a group to add */
static char served_path[64], other_path[64]; /* two configurations of the server */
static char saved_path[64];

struct request {
	const char *method, *params;
};

/* A request, and one that reverts it. */
struct change {
	struct request run, undo;
};

static inline void write_file(const char *path, const char *text) {
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* The first block of the response, valid until the next call; NULL if there is no memory for the request. */
static inline const char *call_method(const struct request *r) {
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
	rpc_work_set_subscriber(w, &subscriber);
	while (!rpc_continue(w))
		life_kit_run(bench, MS);
	rpc_end(w, &answer);
	(void)answer_text_pieces(&answer, &piece, 1);
	snprintf(text, sizeof(text), "%.*s", (int)piece.iov_len,
		 piece.iov_len > 0 ? (const char *)piece.iov_base : "");
	answer_text_free(&answer);
	return text;
}

static inline enum outcome get_outcome(const struct request *r) {
	const char *answer = call_method(r);
	enum outcome outcome = OUTCOME_REFUSED;

	if (answer != NULL && strstr(answer, "may have been done") != NULL)
		outcome = OUTCOME_UNKNOWN;
	else if (answer != NULL && (strstr(answer, "\"result\"") != NULL ||
				    strstr(answer, "the request was done") != NULL))
		outcome = OUTCOME_DONE;
	return outcome;
}

static inline enum outcome run(void *context) {
	const struct change *c = context;

	return get_outcome(&c->run);
}

/* Asserts that the request succeeds. */
static inline void assert_succeeds(const struct request *r) {
	const char *answer = call_method(r);

	if (answer == NULL || strstr(answer, "\"result\"") == NULL)
		fail_msg("%s: %s", r->method, answer);
}

static inline void undo(void *context) {
	const struct change *c = context;

	assert_succeeds(&c->undo);
}

static inline void check_traffic(void) {
	life_kit_check_traffic(bench);
}

/* Names of the methods that were tested. */
static const char *tested[64];
static unsigned tested_count;

static inline bool is_tested(const char *method) {
	for (unsigned i = 0; i < tested_count; i++) {
		if (strcmp(tested[i], method) == 0)
			return true;
	}
	return false;
}

static inline void test_operation(const struct operation *o) {
	assert_true(tested_count < ARRAY_COUNT(tested));
	if (!is_tested(o->name))
		tested[tested_count++] = o->name;
	assert_true(run_with_each_fault(o, &bench->server) > 2);
}

static inline void test_change(const struct change *c) {
	struct operation o = {c->run.method, run, undo, check_traffic, NULL, false, false};

	o.context = (void *)(uintptr_t)c;
	if (strcmp(c->run.method, "group.drain") == 0 || strcmp(c->run.method, "group.resume") == 0)
		o.check_traffic = NULL;
	assert_succeeds(&c->run); /* without a fault it succeeds */
	undo(o.context);
	test_operation(&o);
}

static inline void no_undo(void *context) {
	(void)context;
}

/* Tests a method that reads: with any fault, nothing changes and no memory is leaked. */
static inline void test_reading(const char *method, const char *params) {
	struct change c = {{method, params}, {NULL, NULL}};
	const struct operation o = {method, run, no_undo, NULL, &c, false, true};

	assert_succeeds(&c.run);
	test_operation(&o);
}

/* The group as a configuration file, without keys of ports and threads that it does not have. */
static inline json_t *group_file_json(const struct live_group *live) {
	json_t *group = group_json(live, true), *ports = json_object_get(group, "ports");

	if (json_object_size(json_object_get(ports, "control")) == 0)
		json_object_del(ports, "control");
	json_object_del(json_object_get(group, "threads"), "main_core");
	return group;
}

/* Writes a file with group 3: adds such a group, reads its configuration, and removes it. */
static inline void write_group_file(void) {
	struct service_group sg;
	char why[LIVE_LINE], *text;
	json_t *json;
	unsigned group;

	life_kit_load(&sg, 3, LIFE_SHARED, 1, 2, 0);
	group = life_kit_add(bench, &sg);
	json = group_file_json(&bench->server.groups[group].live);
	text = json_dumps(json, 0);
	write_file(group_path, text);
	free(text);
	json_decref(json);
	assert_true(server_group_remove(&bench->server, group, 0, why));
	service_group_free(&sg);
}

static inline int start_server(void **state) {
	secret_json_wipe();
	life_kit_open(bench, 2, 5);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		assert_int_equal(worker_reserve(&bench->server.workers[w], 200), 0);
	assert_non_null(mkdtemp(folder));
	snprintf(group_path, sizeof(group_path), "%s/group", folder);
	snprintf(served_path, sizeof(served_path), "%s/served", folder);
	snprintf(other_path, sizeof(other_path), "%s/other", folder);
	snprintf(saved_path, sizeof(saved_path), "%s/saved", folder);
	metrics = (struct metrics_source){.server = &bench->server, .version = "1"};
	metrics_source_start(&metrics);
	methods =
		(struct methods){.server = &bench->server, .reload = &reload, .metrics = &metrics};
	events_open(&methods.events);
	rpc = methods_rpc(&methods);
	write_group_file();
	reload_open(&reload, &bench->server, served_path, &(struct server_devices){0});
	return 0;
}

static inline int stop_server(void **state) {
	server_changes_settle(&bench->server);
	reload_free(&reload);
	event_journal_unsubscribe(methods.events.journal, &subscriber);
	events_close(&methods.events);
	unlink(group_path);
	unlink(served_path);
	unlink(other_path);
	rmdir(folder);
	life_kit_close(bench);
	return fixture_stop(state);
}
