/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON-RPC 2.0: requests in, answers out, by a table of methods. What a method takes is told by a table of
 * keys as the configuration's are, so that a request is read, checked and described in the same way.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "control/answer_text.h"
#include "control/event_journal.h"
#include "model/arena.h"
#include "model/keys/keys.h"

#define RPC_LINE 512
#define RPC_BATCH_MAX 64 /* requests in one array */
/* Bytes of answers, from which on those requests of an array that want one are not begun but refused. */
#define RPC_ANSWERS_MAX (16u << 20)

enum rpc_code {
	RPC_OK = 0,
	RPC_NO_JSON = -32700,
	RPC_NO_REQUEST = -32600,
	RPC_NO_METHOD = -32601,
	RPC_WRONG_PARAMS = -32602,
	RPC_INTERNAL =
		-32603, /* no memory: nothing was changed, where the message does not say otherwise */
	RPC_REFUSED = -32000, /* what was asked for cannot be done: nothing was changed */
};

struct rpc_error {
	enum rpc_code code; /* RPC_OK: there is none */
	char message[RPC_LINE];
};

/* What a call has: `params` is the struct that the method's keys describe, in `arena`, which ends with it. */
struct rpc_call {
	void *service;
	const struct rpc_method *method; /* its row */
	const void *params;
	json_t *given; /* the same as it came; NULL: nothing did. It ends with the request */
	struct arena *arena;
	struct rpc_error error;
	void *state; /* of a method that waits: NULL at first; in `arena`, or of the service */
	bool waits, goes_on;
	/* Where set, frees what `state` has, at the end of the call, however that came. Returns false where something is
	 * left: it frees no more at a time than takes a few ms, and is called again. */
	bool (*end)(struct rpc_call *call);
	struct answer_text text; /* the result as JSON, in place of a returned one */
	struct event_subscriber *subscriber; /* of the connection; NULL: there is none */
	/* Set by a method as soon as it has changed something: where no memory is left for the result, the client is
	 * told that it was done. */
	bool changed;
};

struct rpc_method {
	const char *name;
	const char *about; /* one line */
	const struct key *params; /* NULL: none */
	size_t params_size; /* bytes of their struct */
	const struct key *result; /* members of what it returns, at least these */
	/* Returns the result, or NULL with it in `text`, or after rpc_refuse(), rpc_wait() or rpc_more(). */
	json_t *(*run)(struct rpc_call *call);
	const char *refused; /* what is answered by RPC_REFUSED, for people; NULL: nothing */
	bool reads; /* it changes nothing and may compute for long: others go first */
	/* The keys of an object that the result has besides those of `result`, as keys_told() makes one table of both; NULL: none. */
	const struct key *told;
	/* For a `run` that several methods share: what it is done to, and what is done, in numbers of the service. */
	unsigned object, verb;
};

struct rpc {
	const struct rpc_method *methods;
	size_t method_count;
	void *service;
	struct event_journal *events; /* NULL: there are none */
};

/* Requests at work: one, or an array of them, each after the one before it. */
struct rpc_work;

/* Takes a text of `size` bytes, which is not needed any longer. NULL: no memory. `rpc` must live on. */
struct rpc_work *rpc_begin(const struct rpc *rpc, const char *text, size_t size);

/* The connection that asks; without one, nothing can be subscribed. */
void rpc_work_of(struct rpc_work *w, struct event_subscriber *subscriber);

/* Goes on, by one call at most. Returns false while something is left: then this is to be called again, where a call
 * waits after a while. */
bool rpc_go_on(struct rpc_work *w);

/* Whether the last call waits for something. */
bool rpc_waits(const struct rpc_work *w);

/* Whether the call that comes next only reads. */
bool rpc_reads(const struct rpc_work *w);

/* Frees the work and moves its answer behind the end of `to`; there may be none. Of work that is not done there is no
 * answer, and what a call has begun goes on without it. */
void rpc_end(struct rpc_work *w, struct answer_text *to);

/* Frees a part of the work, done or not, whose client has gone. Returns whether it is freed; until then, this is to be called
 * again, and nothing else. */
bool rpc_abandon(struct rpc_work *w);

/* Abandoned work is kept in a list by its owner: the next one, which the owner sets. */
struct rpc_work **rpc_work_next(struct rpc_work *w);

/* Appends what is said to a client whose bytes are no request. Where there is no memory, `to` is lost. */
void rpc_complain(struct answer_text *to, enum rpc_code code, const char *message);

/* Notes why a call is refused, in one line. Returns NULL. */
json_t *rpc_refuse(struct rpc_call *call, enum rpc_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A text that may be of any bytes, such as the name of a file: where it is no UTF-8, all but ASCII is shown
 * as ?. NULL: no memory. */
json_t *rpc_text(const char *text);

/*
 * What was begun takes time, and others are served meanwhile: the method is called again, with the same
 * `state`, which it has set. It is called no more when the client goes. Returns NULL.
 */
json_t *rpc_wait(struct rpc_call *call);

/*
 * A part of the result is made, and the method is to be called again for the next one, as after rpc_wait(). In between
 * other clients are served. Returns NULL.
 */
json_t *rpc_more(struct rpc_call *call);

/* When a part that begins now is to end, so that others are served soon enough; and whether that is over. */
#define RPC_PART_US 1000
uint64_t rpc_part_end(void);
bool rpc_part_is_over(uint64_t end);

/* All methods as an OpenRPC document, which the method rpc.discover returns. The caller owns it. */
json_t *rpc_describe(const struct rpc *rpc);
