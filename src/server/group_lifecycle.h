/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds, removes, drains, resumes and moves service groups while the server runs. The control thread
 * alone calls these functions, one at a time. Where no rounds run, they finish at once and wait for
 * nothing.
 */
#pragma once

#include "model/live/difference.h"
#include "server/server.h"

/*
 * Puts a copy of `sg` into service. The caller has checked that its packets differ from those of
 * other groups. Its devices are open, or are plugged for it; its cores have workers. Returns true
 * with its slot in `group`, or false with one line in `why`, possibly with more in the log; then
 * nothing has changed.
 */
bool server_group_add(struct server *s, const struct service_group *sg, unsigned *group,
		      char why[LIVE_LINE]);

/*
 * The same in two parts, for several groups at once or with other changes. server_group_prepare()
 * does everything that can fail: memory, devices, queues, keys, tables. No worker or other thread
 * sees the group, and no packet reaches it. It returns NULL with one line in `why`, possibly with
 * more in the log; then nothing has changed. `to_be` has, by slot, the groups in service as they
 * are when this one is added; only those that differ. It is read during the call only; NULL: none
 * differs. No earlier change may still be retiring.
 *
 * Prepared groups enter in the order in which they were prepared, or are abandoned in reverse
 * order. Both free the preparation.
 */
struct group_addition;
struct group_addition *server_group_prepare(
	struct server *s, const struct service_group *sg,
	const struct service_group *const to_be[SERVER_MAX_GROUPS], char why[LIVE_LINE]);
unsigned server_group_enter(struct group_addition *a); /* returns its slot; cannot fail */
void server_group_abandon(struct group_addition *a);

/*
 * Takes a group out of service. It receives nothing more, and its pending packets leave within
 * `limit_ms`; the rest is dropped for the reasons of a stop. Its counters are added to server.removed.
 * Refuses to remove the last group. Returns false with one line in `why`; then nothing has changed.
 */
bool server_group_remove(struct server *s, unsigned group, unsigned limit_ms, char why[LIVE_LINE]);

/* The same for a group that is in service and not the last one. Cannot fail. */
void server_group_leave(struct server *s, unsigned group, unsigned limit_ms);

/*
 * Stops reception and lets pending packets leave, for at most `limit_ms`. The upstream scheduler
 * grants nothing more, and data already granted is received first. Later packets wait in the
 * group's own port, which no worker polls, or in its ring on a shared port. When these are full,
 * the driver counts missed packets, or the shared port drops them as `port_group_full`. Returns
 * what is still pending: upstream, parts whose missing parts may be in the port and whose timers
 * stand still.
 */
uint64_t server_group_drain(struct server *s, unsigned group, unsigned limit_ms);

/* Resumes reception. No effect on a group that is not drained. */
void server_group_resume(struct server *s, unsigned group);

/*
 * Moves parts of a group (bits of enum layout_part) to another worker. Packets keep their order,
 * and none is lost while the port or ring can buffer those of the interruption. Returns 0, or -1
 * and logs the reason if memory is short; then nothing has changed.
 */
int server_move_group(struct server *s, unsigned group, unsigned parts, unsigned worker);

/* Moves all shared ports that worker `from` owns to worker `to`, which then receives and sends for
 * their groups. Returns as server_move_group(). */
int server_move_ports(struct server *s, unsigned from, unsigned to);

/*
 * Moves everything that a worker runs to another worker; moves back what the groups' configurations
 * have on its core. Return 0, or -1 and log the reason if memory is short; then nothing has moved.
 */
int server_worker_drain(struct server *s, unsigned worker, unsigned to);
int server_worker_resume(struct server *s, unsigned worker);
