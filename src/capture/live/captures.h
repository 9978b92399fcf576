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

/* bytes of all rings of a capture, unless each is at TAP_RING_MIN */
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
	unsigned site; /* number of its site, for the control thread */
	enum direction direction;
	char name[TAP_NAME]; /* "sg 1 downstream", or the name of a port */
	bool removed; /* the site was removed: no more packets */
	/* numbers of pcapng interfaces, used by the capture thread */
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
	struct tap_names *names; /* of this view */
};

struct tap_captures {
	struct server *server;
	pthread_mutex_t lock; /* protects states and sources */
	struct tap_capture list[TAP_CAPTURES];
	bool wakeup; /* a request for tap_captures_update() */
	/* The control thread owns the members below. */
	bool active; /* some sites have views */
	uint64_t generation; /* of the server, when the views were built */
	struct tap_attachment *sites, *former;
	unsigned site_count;
};

/* Returns 0, or -1 without memory. `server` must be open and must outlive the captures. */
int tap_captures_open(struct tap_captures *c, struct server *server);

/* Call it when no thread uses the captures and no worker runs a tap; see tap_captures_stop(). */
void tap_captures_close(struct tap_captures *c);

/* The control thread calls it often: it starts and ends captures, and rebuilds views after changes of the server. */
void tap_captures_update(struct tap_captures *c);

/* The control thread calls it to end all captures and to refuse new ones. */
void tap_captures_stop(struct tap_captures *c);

/* The capture thread requests a capture. Returns NULL if all TAP_CAPTURES slots are in use. */
struct tap_capture *tap_capture_request(struct tap_captures *c, const struct tap_request *request);
enum tap_state tap_capture_state(struct tap_captures *c, const struct tap_capture *capture);
/* Stops adding packets. The state becomes TAP_ENDED when no worker adds one any more. */
void tap_capture_end(struct tap_captures *c, struct tap_capture *capture);

/* Frees a source whose site was removed, or that no view uses. */
void tap_source_free(struct tap_source *source);

/* Frees an ended or refused capture. */
void tap_capture_free(struct tap_captures *c, struct tap_capture *capture);
