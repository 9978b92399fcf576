/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The captures that are under way, between two threads: that of the captures asks for them, ends them and empties
 * their ends; the control thread, which alone may change what workers run, gives groups and ports their taps.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/live/wish.h"
#include "server/server.h"

#define TAP_MEMORY (UINT32_C(8) << 20) /* bytes of a capture's rings, where there are few */
#define TAP_RING_LEAST (UINT32_C(128) << 10)
#define TAP_RING_MOST (UINT32_C(4) << 20)
#define TAP_NAME 64

enum tap_state {
	TAP_FREE,
	TAP_ASKED, /* by the captures' thread */
	TAP_REFUSED, /* by the control thread: `why` */
	TAP_RUNNING,
	TAP_ENDING, /* by the captures' thread: nothing more is to come */
	TAP_ENDED, /* nothing more comes */
};

/* An end, for the captures' thread. */
struct tap_place {
	struct tap_end *end;
	unsigned site; /* where it is, for the control thread */
	enum direction direction;
	char name[TAP_NAME]; /* "sg 1 downstream", or that of a port */
	bool gone; /* nothing more comes */
	uint16_t interfaces[TAP_SLOTS + TAP_STAGES + 1][TAP_FORMS]; /* the captures' thread's */
};

struct tap_capture {
	enum tap_state state;
	struct tap_wish wish; /* as it is from TAP_ASKED on */
	char why[TAP_LINE];
	struct tap_place **places; /* of both threads, by the lock */
	unsigned place_count;
};

/* What is attached to a part of a group, or to a port: the control thread's. */
struct tap_site {
	struct tap_view *view; /* NULL: nothing */
	struct tap_names *names; /* of this view */
};

struct tap_captures {
	struct server *server;
	pthread_mutex_t lock; /* of states and places */
	struct tap_capture list[TAP_CAPTURES];
	bool news; /* since the control thread looked */
	/* The control thread's. */
	bool active; /* there are sites with views */
	uint64_t generation; /* of the server, when they were made */
	struct tap_site *sites, *former;
	unsigned site_count;
};

/* Returns 0, or -1 without memory. The server is made, and lives on. */
int tap_captures_open(struct tap_captures *c, struct server *server);

/* No thread uses it any more, and no worker runs with a tap: see tap_captures_stop(). */
void tap_captures_close(struct tap_captures *c);

/* The control thread's, often: does what was asked for, and follows the server's changes. */
void tap_captures_follow(struct tap_captures *c);

/* The control thread's: no capture goes on, and none begins. */
void tap_captures_stop(struct tap_captures *c);

/* The captures' thread: a free place, with the wish asked for. NULL where all are in use. */
struct tap_capture *tap_capture_ask(struct tap_captures *c, const struct tap_wish *w);
enum tap_state tap_capture_state(struct tap_captures *c, const struct tap_capture *capture);
void tap_capture_end(struct tap_captures *c, struct tap_capture *capture);

/* One that is gone, or that nobody knows of. */
void tap_place_free(struct tap_place *place);

/* Frees an ended or refused one. */
void tap_capture_free(struct tap_captures *c, struct tap_capture *capture);
