/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/rpc_call.h"
#include "model/errors.h"
#include "platform/secret/json_fault.h"
#include "platform/secret/secret_json.h"
#include "platform/secret/secret_memory.h"

/* Allocated in advance, for responses without memory. */
#define ANSWER_LOST                                                                             \
	"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32603,\"message\":\"no memory left for the " \
	"answer; what was asked for may have been done\"},\"id\":null}"

/* A call is in progress while `method` is set. */
struct rpc_work {
	const struct rpc *rpc;
	struct event_subscriber *subscriber;
	json_t *requests; /* a request, or an array of them; NULL: the response is complete */
	size_t next; /* index in the array */
	bool done;
	/* kept as text, as JSON values take several times as much memory */
	struct answer_text answers;
	struct answer_text spare; /* ANSWER_LOST */
	const struct rpc_method *method;
	struct rpc_call call;
	struct rpc_work *next_abandoned;
};

static json_t *error_json(enum rpc_code code, const char *message) {
	return json_pack("{s:i, s:o}", "code", (int)code, "message", rpc_text(message));
}

/* A response with `value` under `key`, `result` or `error`. */
static json_t *envelope(const char *key, json_t *value, json_t *id) {
	json_t *answer = json_pack("{s:s, s:o}", "jsonrpc", "2.0", key, value);

	if (answer != NULL)
		json_object_set_new(answer, "id", id != NULL ? json_incref(id) : json_null());
	return answer;
}

/* The error response to input that has no ID. */
static json_t *complaint(enum rpc_code code, const char *message) {
	return envelope("error", error_json(code, message), NULL);
}

void rpc_write_error(struct answer_text *to, enum rpc_code code, const char *message) {
	json_t *answer = complaint(code, message);

	if (answer != NULL)
		answer_text_json(to, answer);
	else
		to->lost = true;
	json_decref(answer);
}

static const struct rpc_method *method_find(const struct rpc *rpc, const char *name) {
	for (size_t m = 0; m < rpc->method_count; m++) {
		if (strcmp(rpc->methods[m].name, name) == 0)
			return &rpc->methods[m];
	}
	return NULL;
}

/* Separates the responses of an array. */
static void answers_separate(struct answer_text *a, bool array) {
	if (array)
		answer_text_put(a, a->size == 0 ? "[" : ",");
}

/* `answer` is NULL without memory. */
static void answers_add(struct answer_text *a, json_t *answer, bool array) {
	if (answer == NULL) {
		a->lost = true;
	} else {
		answers_separate(a, array);
		answer_text_json(a, answer);
	}
	json_decref(answer);
}

/* Adds a response whose result is `text`, which becomes empty. */
static void answers_add_text(struct answer_text *a, struct answer_text *text, const json_t *id,
			     bool array) {
	answers_separate(a, array);
	answer_text_put(a, "{\"jsonrpc\":\"2.0\",\"result\":");
	answer_text_move(a, text);
	answer_text_put(a, ",\"id\":");
	answer_text_json(a, id);
	answer_text_put(a, "}");
}

/* The error of an invalid request object; NULL: it is valid. */
static const char *request_fault(const json_t *request) {
	const json_t *version = json_object_get(request, "jsonrpc");
	const json_t *params = json_object_get(request, "params");
	const json_t *id = json_object_get(request, "id");

	if (!json_is_object(request))
		return "found no object, allowed: a request object, or an array of them";
	if (!json_is_string(version) || strcmp(json_string_value(version), "2.0") != 0)
		return "jsonrpc: must be \"2.0\"";
	if (!json_is_string(json_object_get(request, "method")))
		return "method: found no text, allowed: the name of a method";
	if (id != NULL && !json_is_string(id) && !json_is_number(id) && !json_is_null(id))
		return "id: found a value of another kind, allowed: a text, a number or null";
	if (params != NULL && !json_is_object(params))
		return "params: found no object, allowed: parameters by name";
	return NULL;
}

/* Starts a call. Returns the result if it is available without a method. After a result or a
 * refusal, no call is in progress. */
static json_t *call_open(struct rpc_work *w, const json_t *request) {
	const char *name = json_string_value(json_object_get(request, "method"));
	const struct rpc_method *method = method_find(w->rpc, name);
	char quoted[128];

	w->call = (struct rpc_call){.service = w->rpc->service, .subscriber = w->subscriber};
	if (w->answers.size >= RPC_ANSWERS_MAX && json_object_get(request, "id") != NULL)
		return rpc_refuse(&w->call, RPC_REFUSED,
				  "found %zu bytes of responses to earlier requests of the "
				  "array, allowed: less than %u",
				  w->answers.size, RPC_ANSWERS_MAX);
	if (strcmp(name, RPC_DISCOVER) == 0)
		return rpc_describe(w->rpc);
	if (method == NULL) {
		errors_quote(name, strlen(name), quoted, sizeof(quoted));
		return rpc_refuse(
			&w->call, RPC_NO_METHOD,
			"no method %s; `./vcmts control` and rpc.discover list the methods",
			quoted);
	}
	w->method = method;
	rpc_call_open(&w->call, method, json_object_get(request, "params"));
	return NULL;
}

static bool is_array(const struct rpc_work *w) {
	return json_is_array(w->requests);
}

/* Adds the response, unless the request is a notification. */
static void answer_add(struct rpc_work *w, const json_t *request, json_t *result) {
	json_t *id = json_object_get(request, "id");

	if (id == NULL) {
		json_decref(result);
	} else if (result != NULL) {
		answers_add(&w->answers, envelope("result", result, id), is_array(w));
	} else if (w->call.error.code == RPC_OK && w->call.text.size > 0 && !w->call.text.lost) {
		answers_add_text(&w->answers, &w->call.text, id, is_array(w));
	} else {
		if (w->call.error.code == RPC_OK)
			rpc_refuse(&w->call, RPC_INTERNAL,
				   w->call.changed
					   ? "the request was done, but no memory is left for "
					     "the result"
					   : "no memory left");
		answers_add(&w->answers,
			    envelope("error", error_json(w->call.error.code, w->call.error.message),
				     id),
			    is_array(w));
	}
}

static void call_close(struct rpc_work *w) {
	rpc_call_close(&w->call);
	w->method = NULL;
}

/* Returns false while the call is incomplete. */
static bool request_continue(struct rpc_work *w, const json_t *request) {
	json_t *result = NULL;

	if (w->method == NULL) {
		const char *fault = request_fault(request);

		if (fault != NULL) {
			answers_add(&w->answers, complaint(RPC_NO_REQUEST, fault), is_array(w));
			return true;
		}
		result = call_open(w, request);
	}
	if (w->method != NULL && w->call.error.code == RPC_OK) {
		w->call.waits = w->call.continues = false;
		result = w->method->run(&w->call);
		if (result == NULL && (w->call.waits || w->call.continues))
			return false;
	}
	answer_add(w, request, result);
	call_close(w);
	return true;
}

static const json_t *request_at(const struct rpc_work *w) {
	return is_array(w) ? json_array_get(w->requests, w->next) : w->requests;
}

/* The error response for input that contains no request; NULL: none. */
static json_t *first_complaint(const struct rpc_work *w, const json_error_t *error) {
	char fault[JSON_FAULT_LINE], message[RPC_LINE];

	if (w->requests == NULL && json_error_code(error) == json_error_out_of_memory)
		return complaint(RPC_INTERNAL, "no memory left");
	if (w->requests == NULL) {
		snprintf(message, sizeof(message), "found no JSON: %s", json_fault(error, fault));
		return complaint(RPC_NO_JSON, message);
	}
	if (json_is_array(w->requests) &&
	    (json_array_size(w->requests) == 0 || json_array_size(w->requests) > RPC_BATCH_MAX))
		return complaint(RPC_NO_REQUEST, "found an array of 0 or more than 64 "
						 "requests, allowed: 1 to 64");
	return NULL;
}

struct rpc_work *rpc_begin(const struct rpc *rpc, const char *text, size_t size) {
	struct rpc_work *w = calloc(1, sizeof(*w));
	json_error_t error;
	json_t *answer;

	if (w != NULL)
		answer_text_put(&w->spare, ANSWER_LOST);
	if (w == NULL || w->spare.lost) {
		free(w);
		return NULL;
	}
	w->rpc = rpc;
	w->requests = secret_json_load(text, size, JSON_REJECT_DUPLICATES, &error);
	answer = first_complaint(w, &error);
	w->done = answer != NULL || w->requests == NULL;
	if (w->done)
		answers_add(&w->answers, answer, false);
	return w;
}

void rpc_work_set_subscriber(struct rpc_work *w, struct event_subscriber *subscriber) {
	w->subscriber = subscriber;
}

bool rpc_continue(struct rpc_work *w) {
	if (!w->done && request_continue(w, request_at(w)))
		w->done = !is_array(w) || ++w->next == json_array_size(w->requests);
	return w->done;
}

bool rpc_waits(const struct rpc_work *w) {
	return w->method != NULL && w->call.waits;
}

bool rpc_reads(const struct rpc_work *w) {
	const char *name = json_string_value(json_object_get(request_at(w), "method"));
	const struct rpc_method *method = w->method;

	if (w->done)
		return false;
	if (method == NULL && name != NULL)
		method = method_find(w->rpc, name);
	if (method == NULL)
		return name != NULL && strcmp(name, RPC_DISCOVER) == 0;
	return method->reads;
}

static void work_free(struct rpc_work *w) {
	json_decref(w->requests);
	answer_text_free(&w->spare);
	free(w);
}

bool rpc_abandon(struct rpc_work *w) {
	if (!answer_text_free_part(&w->answers))
		return false;
	if (w->method != NULL && !rpc_call_close_part(&w->call))
		return false;
	work_free(w);
	return true;
}

void rpc_end(struct rpc_work *w, struct answer_text *to) {
	if (is_array(w) && w->next > 0 && w->answers.size > 0)
		answer_text_put(&w->answers, "]");
	if (w->done)
		answer_text_move(to, w->answers.lost ? &w->spare : &w->answers);
	while (!rpc_abandon(w))
		;
}

struct rpc_work **rpc_work_next(struct rpc_work *w) {
	return &w->next_abandoned;
}
