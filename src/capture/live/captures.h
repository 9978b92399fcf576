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

/* Bytes. The rings of a capture share TAP_MEMORY; each has a power of two from TAP_RING_MIN to TAP_RING_MAX.
 * With many sites the rings exceed TAP_MEMORY, as none is below TAP_RING_MIN. */
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
	bool removed; /* set under the lock: the site was removed, and no view uses the source */
	/* The number of the pcapng interface plus 1; 0: not written yet. The capture thread owns it. First index:
	 * tap_boundary(), or TAP_SLOTS + stage for drops (TAP_STAGES: no stage). Second: form of the packet. */
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
	/* by site; tap_captures_update() frees the former ones when no worker can reach them */
	struct tap_attachment *sites, *former;
	unsigned site_count;
};

/* Returns 0, or -1 without memory; then tap_captures_close() frees what was allocated. `server` must be open and
 * must outlive the captures. */
int tap_captures_open(struct tap_captures *c, struct server *server);

/* Frees the sources, but no views. After the capture thread has ended, call tap_captures_stop() once more, which
 * frees the views, and then this. */
void tap_captures_close(struct tap_captures *c);

/* The control thread calls it often: it starts and ends captures, and rebuilds views after changes of the server. */
void tap_captures_update(struct tap_captures *c);

/* Ends running captures and refuses requested ones. The control thread calls it repeatedly, instead of
 * tap_captures_update(), until the capture thread has ended. */
void tap_captures_stop(struct tap_captures *c);

/* The capture thread requests a capture; `request` is copied. Returns NULL if all TAP_CAPTURES slots
 * are in use. Free the capture with tap_capture_free(). */
struct tap_capture *tap_capture_request(struct tap_captures *c, const struct tap_request *request);
enum tap_state tap_capture_state(struct tap_captures *c, const struct tap_capture *capture);
/* Ends a requested or running capture; no effect on others. A running one becomes TAP_ENDED in
 * tap_captures_update(), when no worker adds packets any more. */
void tap_capture_end(struct tap_captures *c, struct tap_capture *capture);

/* Frees a source with `removed` set. The capture thread first takes it out of `sources`, under the lock. */
void tap_source_free(struct tap_source *source);

/* Frees an ended or refused capture and its sources. */
void tap_capture_free(struct tap_captures *c, struct tap_capture *capture);
