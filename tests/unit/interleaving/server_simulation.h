/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulation of a server under changes of all kinds, with a model of its configuration. Clients
 * send batches of JSON-RPC requests; the control thread serves them in random order. While it
 * sleeps, workers run rounds in random order, and packets are sent. The seed determines everything,
 * unless the workers are threads.
 */
#pragma once

#include <jansson.h>

#include "control/methods/methods.h"

#include "life_kit.h"
#include "random.h"

#define SIM_GROUPS 5 /* limit; the IDs are 1, 2, .. */
#define SIM_PERMANENT 2 /* groups 1 and 2 are never removed */
#define SIM_MODEMS 64 /* limit per group */
#define SIM_CLIENTS 4
#define SIM_BATCH 40 /* limit of requests */

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

/* A request, and its effect on the model. */
struct op {
	enum op_kind kind;
	enum live_object object;
	unsigned group; /* id */
	json_t *item; /* an object as in the file; for OP_RELOAD the list of all groups */
	uint16_t said; /* SAID; for OP_WORKER_*: index of the worker */
	uint64_t generation; /* of the server after the operation */
	unsigned response; /* number of the response; orders operations of the same generation */
};

struct client {
	struct rpc_work *work; /* the pending batch, or NULL */
	struct op ops[SIM_BATCH];
	unsigned count;
};

struct simulation {
	struct life_kit kit;
	struct reload reload;
	struct metrics_source metrics;
	struct methods methods;
	struct rpc rpc;
	struct random rng;
	bool threads; /* the workers are threads */
	bool silent; /* send no packets */
	uint64_t rounds_at_send[LIFE_WORKERS]; /* of the threads, at the latest packets */
	char folder[32], file[64], group_file[64];
	struct client clients[SIM_CLIENTS];
	json_t *groups[LIFE_IDS]; /* the model: groups by ID as in a file, or NULL */
	struct op completed[SIM_CLIENTS * SIM_BATCH]; /* not in the model yet */
	unsigned completed_count;
	uint32_t serial;
	unsigned response_count;
	unsigned accepted[OP_KINDS], refused[OP_KINDS];
	unsigned overlaps; /* changes applied while others were retiring */
};

/* A number below n. */
static inline unsigned sim_random(struct simulation *sim, unsigned n) {
	return random_below(&sim->rng, n);
}

void sim_open(struct simulation *sim, uint32_t seed, bool threads);
void sim_close(struct simulation *sim);

/* Makes a random step: a client sends requests or is served, workers run, or changes retire. */
void sim_step(struct simulation *sim);

/* Completes all requests, receives all packets, and compares the server with the model. */
void sim_settle(struct simulation *sim);

/* Sends packets, runs some rounds of workers, receives packets, and advances the clock. */
void sim_advance(struct simulation *sim);

/* With threads, waits until all sent packets have passed the tables. */
void sim_wait_for_packets(struct simulation *sim);

/* Checks that the tables match addresses, sessions, SIDs and keys of the configuration. */
void sim_check_tables(struct simulation *sim);

/* Checks that all dropped packets were dropped because of changes. */
void sim_check_drops(struct simulation *sim);

/* Choose a random operation; create its JSON-RPC request, to be freed by json_decref(). */
void sim_random_op(struct simulation *sim, struct op *op);
json_t *sim_create_request(const struct simulation *sim, const struct op *op);

/* Applies an operation to the model; frees an operation. */
void op_apply_to_model(json_t **groups, const struct op *op);
void op_free(struct op *op);

/* Whether a client waits for a response. */
bool sim_has_pending_request(const struct simulation *sim);

/* Whether a pending or not yet applied operation affects the modem or all groups. */
bool sim_is_affected(const struct simulation *sim, unsigned group, const char *mac);

/* Finds an object of a group in the model by its key; NULL if absent. The others return the name of
 * the list of a kind and the name of its key. */
json_t *model_find(const json_t *group, enum live_object object, const json_t *key);
const char *model_list(enum live_object object);
const char *model_key(enum live_object object);

/* Creates the configuration of a group to add. The caller frees it by json_decref(). */
json_t *sim_create_group(unsigned id);
