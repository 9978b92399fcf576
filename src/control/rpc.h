/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON-RPC 2.0 with a table of methods. A table of keys, like those of the configuration, describes
 * the parameters of a method, so that they are read, checked and documented in the same way. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "control/answer_text.h"
#include "control/event_journal.h"
#include "model/arena.h"
#include "model/keys/keys.h"

#define RPC_LINE 2048
#define RPC_BATCH_MAX 64 /* requests in one array */
/* Limit of bytes of responses to an array. Above it, further requests with an ID are refused. */
#define RPC_ANSWERS_MAX (16u << 20)

enum rpc_code {
	RPC_OK = 0,
	RPC_NO_JSON = -32700,
	RPC_NO_REQUEST = -32600,
	RPC_NO_METHOD = -32601,
	RPC_WRONG_PARAMS = -32602,
	RPC_INTERNAL = -32603, /* no memory: nothing was changed, unless the message says so */
	RPC_REFUSED = -32000, /* the request is not possible: nothing was changed */
};

struct rpc_error {
	enum rpc_code code; /* RPC_OK: none */
	char message[RPC_LINE];
};

/* A call in progress. `params` is the struct that the method's keys describe; it is in `arena`,
 * which is freed with the call. */
struct rpc_call {
	void *service;
	const struct rpc_method *method; /* its table entry */
	const void *params;
	json_t *given; /* parameters as received; NULL: none. Owned by the request */
	struct arena *arena;
	struct rpc_error error;
	/* for a method that runs repeatedly: NULL in the first run; in `arena`, or owned by the
	 * service */
	void *state;
	bool waits, continues;
	/* If set, frees `state` at the end of the call, in parts of a few ms. Returns false if it
	 * must be called again. */
	bool (*end)(struct rpc_call *call);
	struct answer_text text; /* the result as JSON text, if the method returns none */
	struct event_subscriber *subscriber; /* of the connection; NULL: none */
	/* A method sets it once it has changed something. If there is no memory for the result, the
	 * error message states that the request was done. */
	bool changed;
};

struct rpc_method {
	const char *name;
	const char *about; /* one line */
	const struct key *params; /* NULL: none */
	size_t params_size; /* bytes of their struct */
	const struct key *result; /* known members of the result; it may have more */
	/* Returns the result. Returns NULL if the result is in `text`, or after rpc_refuse(),
	 * rpc_wait() or rpc_more(). */
	json_t *(*run)(struct rpc_call *call);
	const char *refused; /* reasons for RPC_REFUSED, for documentation; NULL: none */
	bool reads; /* changes nothing and may take long, so other requests run first */
	/* Keys of an object that the result has in addition to `result`; reported_keys() joins both
	 * tables. NULL: none. */
	const struct key *reported;
	/* For a `run` that several methods share: their object and verb, as numbers that the
	 * service defines. */
	unsigned object, verb;
};

struct rpc {
	const struct rpc_method *methods;
	size_t method_count;
	void *service;
	struct event_journal *events; /* NULL: none */
};

/* A request in progress, or an array of requests, which run one after the other. */
struct rpc_work;

/* Begins the requests in `text`, which is copied. Returns NULL without memory. `rpc` must outlive the work. */
struct rpc_work *rpc_begin(const struct rpc *rpc, const char *text, size_t size);

/* Sets the subscriber of the connection; without one, subscriptions are refused. */
void rpc_work_set_subscriber(struct rpc_work *w, struct event_subscriber *subscriber);

/* Runs at most one call. Returns false while the work is incomplete: call it again, after a pause
 * if a call waits. */
bool rpc_continue(struct rpc_work *w);

/* Whether the last call waits for something. */
bool rpc_waits(const struct rpc_work *w);

/* Whether the next call only reads. */
bool rpc_reads(const struct rpc_work *w);

/* Frees the work and moves its response to the end of `to`; notifications have none. Incomplete
 * work has no response, and changes that a call has begun continue. */
void rpc_end(struct rpc_work *w, struct answer_text *to);

/* Frees a part of the work of a disconnected client, complete or not. Returns whether all of it is
 * freed; until then, call only this function. */
bool rpc_abandon(struct rpc_work *w);

/* The link of the owner's list of abandoned work. */
struct rpc_work **rpc_work_next(struct rpc_work *w);

/* Appends the error response for input that is no request. Without memory, `lost` of `to` is
 * set. */
void rpc_write_error(struct answer_text *to, enum rpc_code code, const char *message);

/* Sets the error of a call, in one line. Returns NULL. */
json_t *rpc_refuse(struct rpc_call *call, enum rpc_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A JSON string of a text that may not be UTF-8, such as a file name. If it is not, each non-ASCII
 * byte becomes '?'. Returns NULL without memory. */
json_t *rpc_text(const char *text);

/* Marks the call as waiting. Other clients are served, then the method runs again with the same
 * `state`, unless the client disconnects. Returns NULL. */
json_t *rpc_wait(struct rpc_call *call);

/* Marks a part of the result as complete. Other clients are served, then the method runs again for
 * the next part. Returns NULL. */
json_t *rpc_more(struct rpc_call *call);

/* The time limit of a part of a call, in us, so that other clients are served soon; and whether it has passed. */
#define RPC_PART_US 1000
uint64_t rpc_part_end(void);
bool rpc_part_is_over(uint64_t end);

/* All methods as an OpenRPC document, the result of rpc.discover. The caller owns it. */
json_t *rpc_describe(const struct rpc *rpc);
