/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers of a server while they run: start, stop, idling, and waits for their rounds. */
#pragma once

#include "server/server.h"

#define SERVER_MS UINT64_C(1000000) /* ns */

/* Creates the QSBR variable in which workers report quiescent states. Returns 0, or -1 and logs the
 * reason; freed by server_quiet_free(). */
int server_quiet_create(struct server *s);
void server_quiet_free(struct server *s);

/*
 * Marks all workers as started, before their threads begin: callers wait for them from now on.
 * Their clocks count from one common time, so that a group that moves between workers never sees a
 * time twice.
 */
void server_start(struct server *s);

/* The same, and launches their threads on EAL's lcores. */
void server_launch(struct server *s);

/* Stops their threads and waits for their end. */
void server_halt(struct server *s);

/* Marks all workers as stopped, after their threads have ended. */
void server_halted(struct server *s);

/*
 * Sets how workers idle, at the start and while they run; for the control thread. IDLE_AUTO becomes
 * the best kind that a worker's core has. A kind that the CPU does not have becomes polling, which
 * is logged and counted. Afterwards s->power has the request and each worker's idle.config the
 * result.
 */
void server_idle(struct server *s, const struct power_config *power);

/* Whether a worker may sleep with the present request, so that ports must be able to wake it. Call
 * it before ports are opened. */
bool server_may_sleep(const struct server *s);

/* Sets which workers wake each other, because they exchange packets. Call it after groups were
 * added, removed or moved. `moving` makes every worker wake all others: call it so before. */
void server_wakes_set(struct server *s, bool moving);

bool server_runs(const struct server *s);

/*
 * Lets some rounds of the workers pass: sleeps while their threads run, or calls server.rounds.
 * `*us` is 0 at first, as for worker_nap(). Returns false if no rounds run: then there is nothing
 * to wait for.
 */
bool server_wait(const struct server *s, unsigned *us);

/* The time for limits of such waits, ns: that of server.rounds, else of the TSC. */
uint64_t server_now(const struct server *s);

/* Waits until every running worker has reported a quiescent state, so that none uses what it could
 * reach before the call. Returns at once if none runs. */
void server_synchronize(const struct server *s);
