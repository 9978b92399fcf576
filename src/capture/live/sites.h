/* SPDX-License-Identifier: BSD-3-Clause */
/* The capture sites of a server by number: the parts of its groups, and shared ports. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/live/captures.h"
#include "server/server.h"

/* The current state of a site. */
struct tap_site {
	struct served_group *group; /* NULL: a port */
	struct counters *counters; /* NULL: the group or port does not exist */
	enum tap_part part;
	enum direction direction;
	unsigned port;
};

unsigned tap_site_count(const struct server *s);
struct tap_site tap_site_get(const struct server *s, unsigned site);
void tap_site_name(const struct server *s, const struct tap_site *point, char name[TAP_NAME]);

/* Whether the request captures anything of the site. */
bool tap_site_is_selected(const struct tap_site *point, const struct tap_request *request);

/* Whether the objects that the request names are in service. Returns false with the reason in `why`. */
bool tap_request_fits(const struct server *s, const struct tap_request *request,
		      char why[TAP_LINE]);

/* Fills in what the request captures at the site. The caller sets the buffer. */
void tap_site_set_rule(const struct tap_site *point, const struct tap_request *request,
		       const struct tap_names *names, struct tap_rule *rule);

/* Sets the tables, clock and lists of the view. The caller has set the rules. */
void tap_site_set_view(const struct server *s, const struct tap_site *point,
		       const struct tap_names *names, struct tap_view *v);

/*
 * Publishes the view, or NULL, to the workers. The view sees drops only after tap_site_publish_drops(). Call
 * that when all workers have passed a round, so that counters hold the stage of each drop.
 */
void tap_site_publish(const struct tap_site *point, struct tap_view *v);
void tap_site_publish_drops(const struct tap_site *point, struct tap_view *v);
