/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers of a server while they run, as its control thread sees them. */
#pragma once

#include "server/server.h"

#define SERVER_MS UINT64_C(1000000) /* ns */

/* Where the workers tell that they are quiet. Returns 0, or -1 after a message; freed by server_quiet_free(). */
int server_quiet_create(struct server *s);
void server_quiet_free(struct server *s);

/* From now on all workers are waited for, and their clocks count from this time, one like the other, so that a
 * group that goes from one to another has no time twice. Their threads begin behind it. */
void server_start(struct server *s);

/* The same, and their threads on the lcores that EAL made for them. */
void server_launch(struct server *s);

/* Ends their threads, and waits for it. */
void server_halt(struct server *s);

/* Their threads, wherever they ran, have ended: nobody waits for them any more. */
void server_halted(struct server *s);

/*
 * Has the workers pause as `power` says, at the start and while they run, by the control thread: auto becomes the best
 * that a worker's core has, and a kind that the CPU has not becomes polling, which is said and counted. Says what was
 * chosen. Afterwards s->power has what was asked for, and each worker's idle.config what it does.
 */
void server_idle(struct server *s, const struct power_config *power);

/* Whether a worker is to sleep with what is asked for, so that ports are to wake it. Before they are opened. */
bool server_may_sleep(const struct server *s);

/* Who hands packets to whom, so that they wake each other: after groups came, went or moved. Before that all are to wake
 * all: `moving`. */
void server_peers(struct server *s, bool moving);

bool server_runs(const struct server *s);

/* For what takes rounds of the workers: sleeps while their threads make some, or has them made; `*us` at first 0, as
 * for worker_nap(). Returns false where nobody makes any: then there is nothing to wait for. */
bool server_wait(const struct server *s, unsigned *us);

/* The time by which such a wait may have its end, ns: that of who makes the rounds, else of the TSC. */
uint64_t server_now(const struct server *s);

/*
 * Waits until every worker that runs has passed the end of a round: what it could reach before the call it has
 * let go. At once where none runs.
 */
void server_synchronize(const struct server *s);
