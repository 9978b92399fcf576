/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/rpc_call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/errors.h"
#include "model/load/reader.h"
#include "model/tree_json.h"

#define MAX_VALUES 1000000 /* values of one request */

json_t *rpc_refuse(struct rpc_call *call, enum rpc_code code, const char *format, ...) {
	va_list list;

	call->error.code = code;
	va_start(list, format);
	vsnprintf(call->error.message, sizeof(call->error.message), format, list);
	va_end(list);
	return NULL;
}

json_t *rpc_text(const char *text) {
	json_t *json = json_string(text);
	char *plain = json == NULL ? strdup(text) : NULL;

	if (plain == NULL)
		return json;
	for (char *c = plain; *c != '\0'; c++) {
		if (((unsigned char)*c & 0x80) != 0)
			*c = '?';
	}
	json = json_string(plain);
	free(plain);
	return json;
}

json_t *rpc_wait(struct rpc_call *call) {
	call->waits = true;
	return NULL;
}

json_t *rpc_more(struct rpc_call *call) {
	call->continues = true;
	return NULL;
}

static uint64_t now_us(void) {
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t rpc_part_end(void) {
	return now_us() + RPC_PART_US;
}

bool rpc_part_is_over(uint64_t end) {
	return now_us() >= end;
}

/* Refuses the call with the first mistake, without the file name. */
static void report_mistakes(struct rpc_call *call, struct errors *errors) {
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int count = out != NULL ? errors_print(errors, out) : 1;

	if (out != NULL)
		fclose(out);
	rpc_refuse(call, RPC_WRONG_PARAMS, "%.*s%s", text != NULL ? (int)strcspn(text, "\n") : 0,
		   text != NULL ? text : "", count > 1 ? " (and more)" : "");
	free(text);
}

static void params_read(struct rpc_call *call, const struct rpc_method *method, json_t *given,
			void *params, struct errors *errors) {
	static const struct key no_keys[] = {{0}};
	json_t *empty = given == NULL ? json_object() : NULL;
	struct tree tree;

	if (tree_from_json(&tree, given != NULL ? given : empty, errors)) {
		struct reader reader = {
			.arena = call->arena, .errors = errors, .visits = MAX_VALUES};

		reader_read(&reader, method->params != NULL ? method->params : no_keys, tree.root,
			    params);
	}
	if (tree.arena != NULL)
		tree_free(&tree);
	json_decref(empty);
}

void rpc_call_open(struct rpc_call *call, const struct rpc_method *method, json_t *given) {
	struct errors errors = {.file = method->name};
	void *params;

	call->method = method;
	call->given = given;
	call->arena = arena_new();
	params = call->arena != NULL ? arena_alloc(call->arena, 1, method->params_size) : NULL;
	if (params == NULL) {
		rpc_refuse(call, RPC_INTERNAL, "no memory left");
		return;
	}
	params_read(call, method, given, params, &errors);
	call->params = params;
	if (errors.total > 0)
		report_mistakes(call, &errors);
}

bool rpc_call_close_part(struct rpc_call *call) {
	if (call->end != NULL && !call->end(call))
		return false;
	call->end = NULL;
	if (!answer_text_free_part(&call->text))
		return false;
	arena_free(call->arena);
	call->arena = NULL;
	return true;
}

void rpc_call_close(struct rpc_call *call) {
	while (!rpc_call_close_part(call))
		;
}
