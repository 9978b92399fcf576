/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a server can be looked at: the parts of its groups, and the ports that groups share, by number. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/live/captures.h"
#include "server/server.h"

/* A site as it is now. */
struct tap_spot {
	struct served_group *group; /* NULL: a port's */
	struct counters *counters; /* NULL: nothing is there */
	enum tap_part part;
	enum direction direction;
	unsigned port;
};

unsigned tap_site_count(const struct server *s);
struct tap_spot tap_spot_of(const struct server *s, unsigned site);
void tap_spot_name(const struct server *s, const struct tap_spot *spot, char name[TAP_NAME]);

/* Whether a capture has anything to look for there. */
bool tap_spot_wanted(const struct tap_spot *spot, const struct tap_wish *w);

/* Whether what the wish names is there. Returns false with why not. */
bool tap_wish_fits(const struct server *s, const struct tap_wish *w, char why[TAP_LINE]);

/* What the capture looks at there. The end is its own. */
void tap_spot_look(const struct tap_spot *spot, const struct tap_wish *w,
		   const struct tap_names *names, struct tap_look *look);

/* Fills in where its packets are looked up, and its lists; the looks are set. */
void tap_spot_view(const struct server *s, const struct tap_spot *spot,
		   const struct tap_names *names, struct tap_view *v);

/*
 * Puts the view, or NULL, before the workers. Where there is one it sees drops from tap_spot_publish_drops() on: to be
 * called when all workers have passed, so that each drop is in a run of which the stage is known.
 */
void tap_spot_publish(const struct tap_spot *spot, struct tap_view *v);
void tap_spot_publish_drops(const struct tap_spot *spot, struct tap_view *v);
