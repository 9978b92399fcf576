/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/rpc_call.h"
#include "model/errors.h"
#include "secret/json_fault.h"
#include "secret/secret_memory.h"

#define ANSWERS_FIRST 4096 /* bytes */
#define TEXT_FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII)

/* As text, as values take several times as much. */
struct answers {
	char *text;
	size_t size, room; /* bytes */
	bool lost; /* there was no memory for one */
};

/* A call is open while `method` is there. */
struct rpc_work {
	const struct rpc *rpc;
	json_t *asked; /* a request, or an array of them; NULL: it was answered at once */
	size_t next; /* of the array */
	struct answers answers; /* to the array */
	json_t *answer; /* to a request, or at once */
	const struct rpc_method *method;
	struct rpc_call call;
};

static json_t *error_json(enum rpc_code code, const char *message) {
	return json_pack("{s:i, s:o}", "code", (int)code, "message", rpc_text(message));
}

static json_t *envelope(const char *key, json_t *value, json_t *id) {
	json_t *answer = json_pack("{s:s, s:o}", "jsonrpc", "2.0", key, value);

	if (answer != NULL)
		json_object_set_new(answer, "id", id != NULL ? json_incref(id) : json_null());
	return answer;
}

static json_t *complaint(enum rpc_code code, const char *message) {
	return envelope("error", error_json(code, message), NULL);
}

static char *text_of(json_t *answer) {
	char *text = answer != NULL ? json_dumps(answer, TEXT_FLAGS) : NULL;

	json_decref(answer);
	return text;
}

char *rpc_complain(enum rpc_code code, const char *message) {
	return text_of(complaint(code, message));
}

static const struct rpc_method *method_find(const struct rpc *rpc, const char *name) {
	for (size_t m = 0; m < rpc->method_count; m++) {
		if (strcmp(rpc->methods[m].name, name) == 0)
			return &rpc->methods[m];
	}
	return NULL;
}

/* A json_dump_callback_t. A stream of the C library would leave keys in buffers that it frees. */
static int answers_write(const char *bytes, size_t size, void *answers) {
	struct answers *a = answers;

	if (a->size + size >= a->room) {
		size_t room = 2 * (a->size + size) + ANSWERS_FIRST;
		char *larger = secret_realloc(a->text, room);

		a->lost |= larger == NULL;
		if (larger == NULL)
			return -1;
		a->text = larger;
		a->room = room;
	}
	memcpy(a->text + a->size, bytes, size);
	a->size += size;
	a->text[a->size] = '\0';
	return 0;
}

static void answers_add(struct answers *a, json_t *answer) {
	if (!a->lost && answer != NULL && answers_write(a->size == 0 ? "[" : ",", 1, a) == 0)
		a->lost |= json_dump_callback(answer, answers_write, a, TEXT_FLAGS) != 0;
	json_decref(answer);
}

/* Returns the array, which the caller frees; NULL: it is empty, or there was no memory. */
static char *answers_close(struct answers *a) {
	if (a->size > 0 && !a->lost && answers_write("]", 1, a) == 0)
		return a->text;
	secret_free(a->text);
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

/* Returns the result where it is there at once: then, and after a refusal, no call is open. */
static json_t *call_open(struct rpc_work *w, const json_t *request) {
	const char *name = json_string_value(json_object_get(request, "method"));
	const struct rpc_method *method = method_find(w->rpc, name);
	char quoted[128];

	w->call = (struct rpc_call){.service = w->rpc->service};
	if (w->answers.size >= RPC_ANSWERS_MAX && json_object_get(request, "id") != NULL)
		return rpc_refuse(&w->call, RPC_REFUSED,
				  "found %zu bytes of answers to those before it in the array, "
				  "allowed: less than %u",
				  w->answers.size, RPC_ANSWERS_MAX);
	if (strcmp(name, RPC_DISCOVER) == 0)
		return rpc_describe(w->rpc);
	if (method == NULL) {
		errors_quote(name, strlen(name), quoted, sizeof(quoted));
		return rpc_refuse(&w->call, RPC_NO_METHOD,
				  "found method %s, allowed: those that rpc.discover tells",
				  quoted);
	}
	w->method = method;
	rpc_call_open(&w->call, method, json_object_get(request, "params"));
	return NULL;
}

static json_t *answer_to(struct rpc_work *w, const json_t *request, json_t *result) {
	json_t *id = json_object_get(request, "id");

	if (id == NULL) {
		json_decref(result);
		return NULL;
	}
	if (result != NULL)
		return envelope("result", result, id);
	if (w->call.error.code == RPC_OK)
		rpc_refuse(&w->call, RPC_INTERNAL, "no memory left");
	return envelope("error", error_json(w->call.error.code, w->call.error.message), id);
}

static void call_close(struct rpc_work *w) {
	rpc_call_close(&w->call);
	w->method = NULL;
}

/* Returns false while the call waits, else true with the answer, NULL where none is wanted. */
static bool request_go_on(struct rpc_work *w, const json_t *request, json_t **answer) {
	json_t *result = NULL;

	if (w->method == NULL) {
		const char *fault = request_fault(request);

		if (fault != NULL) {
			*answer = complaint(RPC_NO_REQUEST, fault);
			return true;
		}
		result = call_open(w, request);
	}
	if (w->method != NULL && w->call.error.code == RPC_OK) {
		w->call.waits = false;
		result = w->method->run(&w->call);
		if (result == NULL && w->call.waits)
			return false;
	}
	*answer = answer_to(w, request, result);
	call_close(w);
	return true;
}

static bool array_go_on(struct rpc_work *w) {
	for (; w->next < json_array_size(w->asked); w->next++) {
		json_t *answer;

		if (!request_go_on(w, json_array_get(w->asked, w->next), &answer))
			return false;
		answers_add(&w->answers, answer);
	}
	return true;
}

/* What is answered at once, as nothing can be begun. */
static json_t *first_complaint(const struct rpc_work *w, const json_error_t *error) {
	char fault[JSON_FAULT_LINE], message[RPC_LINE];

	if (w->asked == NULL) {
		snprintf(message, sizeof(message), "found no JSON: %s", json_fault(error, fault));
		return complaint(RPC_NO_JSON, message);
	}
	if (json_is_array(w->asked) &&
	    (json_array_size(w->asked) == 0 || json_array_size(w->asked) > RPC_BATCH_MAX))
		return complaint(RPC_NO_REQUEST, "found an array without requests, or of too many, "
						 "allowed: 1 to 64");
	return NULL;
}

struct rpc_work *rpc_begin(const struct rpc *rpc, const char *text, size_t size) {
	struct rpc_work *w = calloc(1, sizeof(*w));
	json_error_t error;

	if (w == NULL)
		return NULL;
	w->rpc = rpc;
	w->asked = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	w->answer = first_complaint(w, &error);
	return w;
}

bool rpc_go_on(struct rpc_work *w) {
	if (w->answer != NULL || w->asked == NULL)
		return true;
	if (json_is_array(w->asked))
		return array_go_on(w);
	return request_go_on(w, w->asked, &w->answer);
}

char *rpc_end(struct rpc_work *w) {
	bool done = w->next == json_array_size(w->asked); /* of what is no array: 0 */
	char *answer = text_of(w->answer), *answers = answers_close(&w->answers);

	if (w->method != NULL)
		call_close(w);
	json_decref(w->asked);
	free(w);
	if (answer == NULL && done)
		return answers;
	secret_free(answers);
	return answer;
}
