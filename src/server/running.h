/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers of a server while they run: start, stop, idling, and waits for their rounds. */
#pragma once

#include "server/server.h"

#define SERVER_MS UINT64_C(1000000) /* ns */

/* Creates the QSBR variable in which workers report quiescent states. Returns 0, or -1 and logs the
 * reason. Free it by server_quiet_free() when no worker runs, also after an error. */
int server_quiet_create(struct server *s);
void server_quiet_free(struct server *s);

/*
 * Marks all workers as started, before their threads begin: from now on, worker_do(), server_wait()
 * and server_synchronize() wait for them. Shortens the caller's timer slack, for precise naps.
 * Their clocks count from one common time, so that a group that moves between workers never sees a
 * time twice.
 */
void server_start(struct server *s);

/* Calls server_start(), and launches worker i on EAL's lcore i + 1. */
void server_launch(struct server *s);

/* Stops the threads of server_launch(), waits for their end and calls server_halted(). */
void server_halt(struct server *s);

/* Marks all workers as stopped. For callers of server_start(), once their own threads have ended. */
void server_halted(struct server *s);

/*
 * Sets how workers idle, at the start and while they run; for the control thread. IDLE_AUTO becomes
 * the best kind for a worker's core. A kind that the CPU or the worker does not support becomes
 * polling, which is counted. Afterwards s->power has the request and each worker's idle.config the
 * result.
 */
void server_idle(struct server *s, const struct power_config *power);

/* Whether a worker may sleep with the present request, so that ports must be able to wake it. Call
 * it before ports are opened. */
bool server_may_sleep(const struct server *s);

/* Sets what wakes a sleeping worker: workers that send it packets, and the port queues that it polls.
 * Call it with `moving` false after groups, ports or workers changed. Call it with true before: until
 * then every worker wakes all others, and no worker sleeps on a port's interrupt or address. */
void server_wakes_set(struct server *s, bool moving);

/* Whether the workers are started. */
bool server_runs(const struct server *s);

/*
 * Lets some rounds of the workers pass: sleeps while their threads run, or calls server.rounds.
 * `*us` is 0 at first, as for worker_nap(). Returns false if no rounds run: then there is nothing
 * to wait for.
 */
bool server_wait(const struct server *s, unsigned *us);

/* The time for limits of such waits, ns: that of server.rounds, else of the TSC. It does not compare
 * with the workers' clocks, which start later. */
uint64_t server_now(const struct server *s);

/* Waits until every running worker has reported a quiescent state, so that none uses what it could
 * reach before the call. Returns at once if none runs. */
void server_synchronize(const struct server *s);
