/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The running captures, which two threads share. The capture thread requests and ends captures and empties
 * their rings. The control thread alone changes what workers run: it attaches taps to groups and ports.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/live/request.h"
#include "server/server.h"

/* limit of the bytes of a capture's rings; exceeded if even rings of TAP_RING_MIN do not fit */
#define TAP_MEMORY (UINT32_C(8) << 20)
#define TAP_RING_MIN (UINT32_C(128) << 10)
#define TAP_RING_MAX (UINT32_C(4) << 20)
#define TAP_NAME 64

enum tap_state {
	TAP_FREE,
	TAP_REQUESTED,
	TAP_REFUSED, /* for the reason in `why` */
	TAP_RUNNING,
	TAP_ENDING, /* no new packets; workers may still add some */
	TAP_ENDED, /* no worker adds packets */
};

/* What the capture thread has of one site of a capture: its ring and its names. */
struct tap_source {
	struct tap_buffer *buffer;
	unsigned site; /* index of its site; see capture/live/sites.h */
	enum direction direction;
	char name[TAP_NAME]; /* "sg 1 downstream", or the name of a port */
	bool removed; /* the site was removed: no more packets */
	/* The capture thread's numbers of pcapng interfaces plus 1; 0: none yet. By
	 * tap_boundary(), or TAP_SLOTS + stage for drops; then by form of the packet. */
	uint16_t interfaces[TAP_SLOTS + TAP_STAGES + 1][TAP_FORMS];
};

struct tap_capture {
	enum tap_state state;
	struct tap_request request; /* constant from TAP_REQUESTED on */
	char why[TAP_LINE];
	struct tap_source **sources; /* used by both threads, under the lock */
	unsigned source_count;
};

/* What is attached to a part of a group, or to a port. The control thread owns it. */
struct tap_attachment {
	struct tap_view *view; /* NULL: no capture */
	struct tap_names *names; /* of modems, flows and sessions, for this view; NULL: a port */
};

struct tap_captures {
	struct server *server;
	pthread_mutex_t lock; /* protects states and sources */
	struct tap_capture list[TAP_CAPTURES];
	bool wakeup; /* atomic: the capture thread sets it, tap_captures_update() clears it */
	/* The control thread owns the members below. */
	bool active; /* a capture runs */
	uint64_t generation; /* of the server, when the views were built */
	/* by site; sites_follow() frees the former ones when no worker can reach them */
	struct tap_attachment *sites, *former;
	unsigned site_count;
};

/* Returns 0, or -1 without memory. `server` must be open and must outlive the captures. */
int tap_captures_open(struct tap_captures *c, struct server *server);

/* Frees the sources, but no views: call tap_captures_stop() after the end of the capture thread,
 * then this. */
void tap_captures_close(struct tap_captures *c);

/* The control thread calls it often: it starts and ends captures, and rebuilds views after changes of the server. */
void tap_captures_update(struct tap_captures *c);

/* The control thread ends running captures and refuses those requested so far. It calls this
 * repeatedly, instead of tap_captures_update(), until the capture thread has ended. */
void tap_captures_stop(struct tap_captures *c);

/* The capture thread requests a capture; `request` is copied. Returns NULL if all TAP_CAPTURES slots
 * are in use. Free the capture with tap_capture_free(). */
struct tap_capture *tap_capture_request(struct tap_captures *c, const struct tap_request *request);
enum tap_state tap_capture_state(struct tap_captures *c, const struct tap_capture *capture);
/* Ends a requested or running capture; no effect on others. A running one becomes TAP_ENDED in
 * tap_captures_update(), when no worker adds packets any more. */
void tap_capture_end(struct tap_captures *c, struct tap_capture *capture);

/* Frees a source that no view uses, as its site was removed. The capture thread first takes it out
 * of `sources`, under the lock. */
void tap_source_free(struct tap_source *source);

/* Frees an ended or refused capture and its sources. */
void tap_capture_free(struct tap_captures *c, struct tap_capture *capture);
