/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/rpc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/errors.h"
#include "model/reader.h"
#include "model/schema.h"
#include "model/tree_json.h"

#define MAX_VALUES 1000000 /* of one request */

json_t *rpc_refuse(struct rpc_call *call, enum rpc_code code, const char *format, ...) {
	va_list list;

	call->error.code = code;
	va_start(list, format);
	vsnprintf(call->error.message, sizeof(call->error.message), format, list);
	va_end(list);
	return NULL;
}

static json_t *error_json(enum rpc_code code, const char *message) {
	/* texts are the tables' and quoted input: printable ASCII */
	return json_pack("{s:i, s:s}", "code", (int)code, "message", message);
}

static json_t *envelope(const char *key, json_t *value, json_t *id) {
	json_t *answer = json_pack("{s:s, s:o}", "jsonrpc", "2.0", key, value);

	if (answer != NULL)
		json_object_set_new(answer, "id", id != NULL ? json_incref(id) : json_null());
	return answer;
}

static const struct rpc_method *method_find(const struct rpc *rpc, const char *name) {
	for (size_t m = 0; m < rpc->method_count; m++) {
		if (strcmp(rpc->methods[m].name, name) == 0)
			return &rpc->methods[m];
	}
	return NULL;
}

/* The first mistake, without the place of a file before it. */
static void tell_mistakes(struct rpc_call *call, struct errors *errors) {
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

/* The params as the struct of the method. Returns false after a refusal. */
static bool params_read(struct rpc_call *call, const struct rpc_method *method, json_t *given) {
	static const struct key no_keys[] = {{0}};
	struct errors errors = {.file = method->name};
	json_t *empty = given == NULL ? json_object() : NULL;
	struct tree tree;
	void *params = arena_alloc(call->arena, 1, method->params_size);

	if (tree_from_json(&tree, given != NULL ? given : empty, &errors) && params != NULL) {
		struct reader reader = {
			.arena = call->arena, .errors = &errors, .visits = MAX_VALUES};

		reader_read(&reader, method->params != NULL ? method->params : no_keys, tree.root,
			    params);
	}
	if (tree.arena != NULL)
		tree_free(&tree);
	json_decref(empty);
	call->params = params;
	if (params == NULL)
		rpc_refuse(call, RPC_INTERNAL, "no memory left");
	else if (errors.total > 0)
		tell_mistakes(call, &errors);
	return call->error.code == RPC_OK;
}

static json_t *method_run(const struct rpc *rpc, const struct rpc_method *method, json_t *params,
			  struct rpc_error *error) {
	struct rpc_call call = {.service = rpc->service, .arena = arena_new()};
	json_t *result = NULL;

	if (call.arena == NULL)
		rpc_refuse(&call, RPC_INTERNAL, "no memory left");
	else if (params_read(&call, method, params))
		result = method->run(&call);
	if (result == NULL && call.error.code == RPC_OK)
		rpc_refuse(&call, RPC_INTERNAL, "no memory left");
	arena_free(call.arena);
	*error = call.error;
	return result;
}

static json_t *dispatch(const struct rpc *rpc, const char *name, json_t *params,
			struct rpc_error *error) {
	const struct rpc_method *method = method_find(rpc, name);
	char quoted[128];

	if (strcmp(name, "rpc.discover") == 0)
		return rpc_describe(rpc);
	if (method != NULL)
		return method_run(rpc, method, params, error);
	error->code = RPC_NO_METHOD;
	errors_quote(name, strlen(name), quoted, sizeof(quoted));
	snprintf(error->message, sizeof(error->message),
		 "found method %s, allowed: those that rpc.discover tells", quoted);
	return NULL;
}

/* What is wrong with a request as such; NULL: nothing. */
static const char *request_fault(const json_t *request) {
	const json_t *version = json_object_get(request, "jsonrpc");
	const json_t *params = json_object_get(request, "params");
	const json_t *id = json_object_get(request, "id");

	if (!json_is_object(request))
		return "found no object, allowed: a request object, or an array of them";
	if (!json_is_string(version) || strcmp(json_string_value(version), "2.0") != 0)
		return "jsonrpc: found something else, allowed: \"2.0\"";
	if (!json_is_string(json_object_get(request, "method")))
		return "method: found no text, allowed: the name of a method";
	if (id != NULL && !json_is_string(id) && !json_is_number(id) && !json_is_null(id))
		return "id: found a value of another kind, allowed: a text, a number or null";
	if (params != NULL && !json_is_object(params))
		return "params: found no object, allowed: parameters by name";
	return NULL;
}

/* The answer to one request; NULL where none is wanted. */
static json_t *request_answer(const struct rpc *rpc, const json_t *request) {
	const char *fault = request_fault(request);
	json_t *id = json_object_get(request, "id");
	struct rpc_error error = {0};
	json_t *result;

	if (fault != NULL)
		return envelope("error", error_json(RPC_NO_REQUEST, fault), NULL);
	result = dispatch(rpc, json_string_value(json_object_get(request, "method")),
			  json_object_get(request, "params"), &error);
	if (id == NULL) {
		json_decref(result);
		return NULL;
	}
	return result != NULL ? envelope("result", result, id)
			      : envelope("error", error_json(error.code, error.message), id);
}

static json_t *batch_answer(const struct rpc *rpc, const json_t *requests) {
	json_t *answers;

	if (json_array_size(requests) == 0 || json_array_size(requests) > RPC_BATCH_MAX)
		return envelope("error",
				error_json(RPC_NO_REQUEST, "found an array without requests, or of "
							   "too many, allowed: 1 to 64"),
				NULL);
	answers = json_array();
	for (size_t i = 0; i < json_array_size(requests); i++) {
		json_t *answer = request_answer(rpc, json_array_get(requests, i));

		if (answer != NULL)
			json_array_append_new(answers, answer);
	}
	if (json_array_size(answers) > 0)
		return answers;
	json_decref(answers);
	return NULL;
}

static char *text_of(json_t *answer) {
	char *text = answer != NULL ? json_dumps(answer, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	json_decref(answer);
	return text;
}

char *rpc_complain(enum rpc_code code, const char *message) {
	return text_of(envelope("error", error_json(code, message), NULL));
}

char *rpc_answer(const struct rpc *rpc, const char *text, size_t size) {
	json_error_t error;
	json_t *request = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	json_t *answer;
	char message[RPC_LINE];

	if (request == NULL) {
		char quoted[256];

		errors_quote(error.text, strlen(error.text), quoted, sizeof(quoted));
		snprintf(message, sizeof(message), "found no JSON: %s", quoted);
		return rpc_complain(RPC_NO_JSON, message);
	}
	answer = json_is_array(request) ? batch_answer(rpc, request) : request_answer(rpc, request);
	json_decref(request);
	return text_of(answer);
}

static json_t *params_describe(const struct key *keys) {
	json_t *params = json_array();

	for (const struct key *key = keys; key != NULL && key->name != NULL; key++)
		json_array_append_new(params,
				      json_pack("{s:s, s:b, s:o}", "name", key->name, "required",
						key->required, "schema", schema_of_key(key)));
	return params;
}

static json_t *method_describe(const struct rpc_method *m) {
	return json_pack("{s:s, s:s, s:s, s:o, s:{s:s, s:o}}", "name", m->name, "summary", m->about,
			 "paramStructure", "by-name", "params", params_describe(m->params),
			 "result", "name", "result", "schema", schema_of_keys(m->result, true));
}

json_t *rpc_describe(const struct rpc *rpc) {
	json_t *methods = json_array();

	for (size_t m = 0; m < rpc->method_count; m++)
		json_array_append_new(methods, method_describe(&rpc->methods[m]));
	return json_pack("{s:s, s:{s:s, s:s}, s:o}", "openrpc", "1.3.2", "info", "title",
			 "OpenVCMTS control", "version", "1", "methods", methods);
}
