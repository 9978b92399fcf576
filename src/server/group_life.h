/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Service groups that come, go, rest and move while the server runs: all by the control thread, one call at a time.
 * Where nobody makes rounds of the workers, it is done at once, and nothing is waited for.
 */
#pragma once

#include "model/live/difference.h"
#include "server/server.h"

/*
 * Takes a group into service, which `sg` is of, and which lives on while it is there. That packets can be told
 * from those of other groups has been seen to. Its devices are those that are open, or are plugged for it; its cores
 * have workers. Returns true with its number in `group`; or false with one line in `why`, and maybe more in the log:
 * then nothing was changed.
 */
bool server_group_add(struct server *s, const struct service_group *sg, unsigned *group,
		      char why[LIVE_LINE]);

/*
 * The same in two parts, for several groups at a time or beside other changes. The first does all that can fail: memory,
 * devices, queues, keys, tables; nothing of the group is visible to workers or other threads, and no packet reaches it.
 * It returns NULL with one line in `why`, and maybe more in the log: then nothing was changed. `to_be` has, by number, what
 * groups in service will be when this one enters, where that differs from what they are; it is read during the call only,
 * NULL: none differs. Nothing that an earlier change removed may be leaving.
 *
 * Prepared groups enter in the order in which they were prepared, or are abandoned in the opposite order. Both free
 * what was prepared.
 */
struct group_arrival;
struct group_arrival *server_group_prepare(
	struct server *s, const struct service_group *sg,
	const struct service_group *const to_be[SERVER_MAX_GROUPS], char why[LIVE_LINE]);
unsigned server_group_enter(struct group_arrival *a); /* returns its number; cannot fail */
void server_group_abandon(struct group_arrival *a);

/*
 * Takes it out of service: nothing more comes to it, what it holds goes out for at most `limit_ms`, what remains
 * ends under the reasons of a stop. What it counted goes into server.gone. Not of the last group. Returns false with
 * one line in `why`: then nothing was changed.
 */
bool server_group_remove(struct server *s, unsigned group, unsigned limit_ms, char why[LIVE_LINE]);

/* The same of a group that is there and is not the last one. Cannot fail. */
void server_group_leave(struct server *s, unsigned group, unsigned limit_ms);

/*
 * The group receives nothing more, and what it holds goes out, for at most `limit_ms`. What comes meanwhile waits in
 * its own port, which nobody asks, or on a shared port in its ring, as long as these have room; then they lose it:
 * the driver as missed, the shared port as `port_group_full`. Its upstream scheduler grants nothing, and what it had granted
 * is received first. Returns what it still holds: upstream, what waits for
 * missing parts that may stand in the port, and which goes on waiting.
 */
uint64_t server_group_drain(struct server *s, unsigned group, unsigned limit_ms);

/* It receives again and goes on where it was. Harmless on one that does. */
void server_group_resume(struct server *s, unsigned group);

/*
 * Has another worker run parts of a group (bits of enum layout_part) from now on. No packet is lost, as far as what
 * comes between two rounds has room in port or ring, and all keep their order. Returns 0, or -1 after a message when
 * memory is short: then nothing was changed.
 */
int server_move_group(struct server *s, unsigned group, unsigned parts, unsigned worker);

/* Has another worker receive from all shared ports that one has, and send for their groups. As the former. */
int server_move_ports(struct server *s, unsigned from, unsigned to);

/*
 * All that a worker runs goes to another one, and what is at home there comes back: what the groups' configurations
 * have on its core. Return 0, or -1 after a message when memory is short: then nothing has moved.
 */
int server_worker_drain(struct server *s, unsigned worker, unsigned to);
int server_worker_resume(struct server *s, unsigned worker);
