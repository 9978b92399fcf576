/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole server under changes of all kinds, and what its configuration must be afterwards. Clients send JSON-RPC
 * requests and batches; the control thread serves them in any order. Where the control thread would sleep, the
 * workers make some of their rounds by hand, in any order, with packets between them (or they are threads). All of it
 * follows from the seed.
 */
#pragma once

#include <jansson.h>

#include "control/methods/methods.h"

#include "life_kit.h"
#include "random.h"

#define WORLD_GROUPS 5 /* that there may be; the ids are 1, 2, .. */
#define WORLD_STAY 2 /* the first ones are there all the time */
#define WORLD_MODEMS 64 /* of a group, at most */
#define WORLD_CLIENTS 4
#define WORLD_BATCH 40 /* requests, at most */

enum op_kind {
	OP_ADD,
	OP_REPLACE,
	OP_SET,
	OP_REMOVE,
	OP_KEY_INSTALL,
	OP_KEY_USE,
	OP_KEY_REMOVE,
	OP_GROUP_SET,
	OP_GROUP_ADD,
	OP_GROUP_REMOVE,
	OP_RELOAD,
	OP_WORKER_DRAIN,
	OP_WORKER_RESUME,
	OP_KINDS
};

/* A request, and what it makes of the model once it is done. */
struct op {
	enum op_kind kind;
	enum live_object object;
	unsigned group; /* id */
	json_t *item; /* as in the file; of a reload: the list of all groups */
	uint16_t said;
	uint64_t generation; /* of the server, with it */
	unsigned answer; /* by the number of answers: where generations are the same */
};

/* What a client waits for. */
struct client {
	struct rpc_work *work; /* NULL: nothing */
	struct op ops[WORLD_BATCH];
	unsigned count;
};

struct world {
	struct life_kit bench;
	struct reload reload;
	struct metrics_source metrics;
	struct methods methods;
	struct rpc rpc;
	struct random dice;
	bool threads; /* the workers are threads */
	bool silent; /* no packets are sent */
	uint64_t sent_at[LIFE_WORKERS]; /* rounds of the threads when packets were sent last */
	char folder[32], file[64], group_file[64];
	struct client clients[WORLD_CLIENTS];
	/* The model: groups by id as in a file; NULL: it is not there. */
	json_t *groups[LIFE_IDS];
	/* What is done and not in the model yet. */
	struct op done[WORLD_CLIENTS * WORLD_BATCH];
	unsigned done_count;
	uint32_t serial;
	unsigned answers;
	unsigned taken[OP_KINDS], refused[OP_KINDS];
	unsigned overlaps; /* changes that were taken while others were retiring */
};

static inline unsigned world_roll(struct world *w, unsigned n) {
	return random_below(&w->dice, n);
}

void world_open(struct world *w, uint32_t seed, bool threads);
void world_close(struct world *w);

/* Something happens: a client asks, is served, or time goes on. */
void world_step(struct world *w);

/* Serves all clients to the end, lets all packets arrive, then compares the server with the model. */
void world_settle(struct world *w);

/* A few rounds of the workers, with packets before and behind them. */
void world_pass(struct world *w);

/* Waits until packets that were sent have met the tables, where the workers are threads: a request that is sent then is
 * no reason for them to be dropped. */
void world_wait_for_packets(struct world *w);

/* Fails unless every address, session, SID and key of the tables is where the configuration has it, and nothing else is
 * there. */
void world_check_tables(struct world *w);

/* Fails where a packet was dropped for which the changes are no reason. */
void world_check_drops(struct world *w);

/* A request at random, and any as an object of JSON-RPC, which is to be freed by json_decref(). */
void world_op(struct world *w, struct op *op);
json_t *world_request(const struct world *w, const struct op *op);

/* What an op makes of the model. */
void op_apply(json_t **groups, const struct op *op);
void op_free(struct op *op);

/* Whether a client waits for an answer. */
bool world_waits(const struct world *w);

/* Whether a request that is not answered is about the modem (`key` "mac"), or about the whole group. */
bool world_is_touched(const struct world *w, unsigned group, const char *mac);

/* The item of a list of a group in the model; NULL: there is none. */
json_t *model_find(const json_t *group, enum live_object object, const json_t *key);
const char *model_list(enum live_object object);
const char *model_key(enum live_object object);

/* The configuration of a group that comes, which is to be freed by json_decref(). */
json_t *world_new_group(unsigned id);
