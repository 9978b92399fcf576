/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server whose groups share a network and an R-PHY port, or have ports of their own, and come and go. The other
 * ends of all ports are the test's. Groups differ by addresses and sessions.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "server/group_life.h"
#include "server/running.h"
#include "server/steering.h"

#include "server_kit.h"

#define LIFE_IDS 8 /* numbers of groups, from 1 */
#define LIFE_SHARED 0 /* pair that all groups share; else that of a group with its own ports */
#define LIFE_PAIRS 2
#define LIFE_APART 3 /* groups that each have a pair, and another port for control */
#define LIFE_WORKERS 3
#define LIFE_CORE 1 /* of the first worker */
#define LIFE_DRAIN_MS 20000 /* the longest that is waited for what comes at once */

struct life_kit {
	struct service_group file[LIFE_APART]; /* of the start */
	struct service_group others[LIFE_IDS]; /* of life_kit_group() */
	struct server_config config;
	struct server server;
	struct rte_mempool *pool; /* of the far ends */
	uint16_t network[LIFE_APART], rphy[LIFE_APART], control[LIFE_APART]; /* the far ends */
	uint16_t sequences[LIFE_IDS]; /* of the next burst */
	uint64_t now;
	uint32_t serial; /* of the next packets of life_kit_traffic() */
	pthread_t threads[LIFE_WORKERS];
	uint64_t rounds[LIFE_WORKERS]; /* of the threads, atomic */
	/* Of the far ends: */
	uint64_t sent_down, sent_up; /* packets that the ports took */
	uint64_t taken_up[LIFE_IDS]; /* frames that came out, by group */
	uint32_t last_up[LIFE_IDS]; /* serial of the last one, which rises */
	uint64_t depi_frames;
	uint16_t depi_next[LIFE_IDS][2]; /* sequence number of each channel's next frame */
	bool depi_seen[LIFE_IDS][2];
	uint64_t
		digest[LIFE_IDS]
		      [2]; /* of all bytes that came out, and when, of groups apart: frames, DEPI */
};

/* Where the shared ports are cards of the test's, and groups other than they are read. */
struct life_card {
	void (*pair)(const char *name, struct rte_mempool *pool, unsigned depth, uint16_t ids[2]);
	bool (*put)(uint16_t far, struct rte_mbuf *m);
	void (*end)(const char *name);
	void (*edit)(struct service_group *sg);
};
extern const struct life_card *life_card; /* NULL: they are not */

extern bool life_apart; /* groups that are read have ports of their own, by life_kit_apart() */
extern bool life_scheduled; /* groups that are read have an upstream scheduler */

static inline unsigned life_pairs(void) {
	return life_apart ? LIFE_APART : LIFE_PAIRS;
}

/* A group on the pair; its parts on workers. life_kit_close() frees that of life_kit_group(). */
void life_kit_load(struct service_group *sg, unsigned id, unsigned pair, unsigned upper,
		   unsigned lower, unsigned upstream);
struct service_group *life_kit_group(struct life_kit *b, unsigned id, unsigned pair, unsigned upper,
				     unsigned lower, unsigned upstream);

/* The server with groups 1 and 2 (both, where `count` is 2) on the shared pair, and room for `most`; or with a configuration
 * of the caller's in `b->config`. EAL gets the memory the first time. */
void life_kit_open(struct life_kit *b, unsigned count, unsigned most);
void life_kit_serve(struct life_kit *b, unsigned memory_mb);
int life_kit_try(struct life_kit *b, unsigned memory_mb); /* returns what server_serve() does */

/* A configuration of groups that have a pair and a control port each, and for the rest are the same: ports alone tell them
 * apart. Workers of upper MAC, lower MAC and upstream. */
void life_kit_apart(struct life_kit *b, unsigned count, const unsigned workers[][3]);

/* Fails where something is not accounted for, or a buffer has not come back. life_kit_end() closes the one that serves, for
 * EACH_TEST(), and so does life_kit_open(). life_kit_free() is for one that could not serve. */
void life_kit_close(struct life_kit *b);
void life_kit_free(struct life_kit *b);
int life_kit_end(void **state);

/* The devices of the pair are there again, after a group took them with it. */
void life_kit_plug(unsigned pair);

/* These must succeed. A group is added as the number that is returned; one that is removed is waited for up to the limit. */
unsigned life_kit_add(struct life_kit *b, const struct service_group *sg);
void life_kit_remove(struct life_kit *b, unsigned group, unsigned limit_ms);

/* The group of this id comes again: its sequence numbers begin again, in both directions. */
void life_kit_comes_again(struct life_kit *b, unsigned id);

/* A packet to the group's modem; a burst from it. Return whether the port took it. */
bool life_kit_down(struct life_kit *b, unsigned pair, const struct service_group *sg, size_t size,
		   uint32_t serial);
bool life_kit_up(struct life_kit *b, unsigned pair, const struct service_group *sg,
		 uint32_t serial);

/* So many packets of the group in each direction, or in one, which the ports take. */
void life_kit_traffic(struct life_kit *b, unsigned pair, const struct service_group *sg,
		      unsigned n);
void life_kit_downs(struct life_kit *b, unsigned pair, const struct service_group *sg, unsigned n);
void life_kit_ups(struct life_kit *b, unsigned pair, const struct service_group *sg, unsigned n);

/* Bursts of the first group come through, and packets are accounted for. */
void life_kit_serves(struct life_kit *b);

/* On a pair, from its group or the first of those that share it: a burst whose end does not come, a management message. */
void life_kit_up_open(struct life_kit *b, unsigned pair);
void life_kit_message(struct life_kit *b, unsigned pair);

/* Takes what has come to the far ends; order and contents are looked at. */
void life_kit_take(struct life_kit *b);

/* Rounds by hand, in steps of time, of `ns`; and at each step until nothing moves, in whatever order of workers. */
void life_kit_pass(struct life_kit *b, uint64_t ns);
void life_kit_settle(struct life_kit *b, uint64_t ns);

void life_kit_launch(struct life_kit *b);
void life_kit_halt(struct life_kit *b);

/* What the control thread does while the workers run as threads, and what came of it. */
struct life_script {
	void (*turn)(struct life_script *s, unsigned turn);
	unsigned turns;
	const struct service_group *comes; /* has traffic, be it there or not; may be NULL */
	const char *failed; /* NULL: all went well */
	bool done;
};

/* For a turn, which may not fail itself. */
void life_check(struct life_script *s, bool good, const char *what);

/*
 * The calling thread has the traffic of the first group until the script is played, and until all of it has come. Fails where
 * a turn has, or where a packet of the first group is lost, at any speed; life_kit_take() looks at their order.
 */
void life_play(struct life_kit *b, struct life_script *s);

struct counters life_kit_down_of(const struct life_kit *b, unsigned group);
const struct counters *life_kit_up_of(const struct life_kit *b, unsigned group);

/* What all groups ever received and transmitted, and what shared ports dropped. */
struct life_totals {
	uint64_t down_in, down_out, down_dropped;
	uint64_t up_in, up_out, up_dropped; /* packets in, frames out */
	uint64_t port_in, port_dropped, port_steered, port_strayed;
};
struct life_totals life_kit_totals(const struct life_kit *b);

/* All that was sent has come to a group, waits or was dropped, in the sums of all that there ever were. */
void life_kit_check_totals(const struct life_kit *b);

/* All that a process may lose. */
struct life_left {
	struct heaps_used heaps;
	unsigned zones, files, ports;
};
struct life_left life_left_now(void);
void life_left_check(const struct life_left *before); /* that it is the same now */
