/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/live/captures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/live/sites.h"
#include "platform/log/log.h"
#include "server/running.h"

int tap_captures_open(struct tap_captures *c, struct server *server) {
	*c = (struct tap_captures){.server = server, .site_count = tap_site_count(server)};
	pthread_mutex_init(&c->lock, NULL);
	c->sites = calloc(c->site_count, sizeof(*c->sites));
	c->former = calloc(c->site_count, sizeof(*c->former));
	return c->sites != NULL && c->former != NULL ? 0 : -1;
}

void tap_place_free(struct tap_place *place) {
	tap_end_free(place->end);
	free(place);
}

static void places_free(struct tap_capture *capture) {
	for (unsigned p = 0; p < capture->place_count; p++)
		tap_place_free(capture->places[p]);
	free(capture->places);
	capture->places = NULL;
	capture->place_count = 0;
}

void tap_captures_close(struct tap_captures *c) {
	for (unsigned i = 0; i < TAP_CAPTURES; i++)
		places_free(&c->list[i]);
	free(c->sites);
	free(c->former);
	c->sites = c->former = NULL;
	pthread_mutex_destroy(&c->lock);
}

static void news(struct tap_captures *c) {
	__atomic_store_n(&c->news, true, __ATOMIC_RELEASE);
}

struct tap_capture *tap_capture_ask(struct tap_captures *c, const struct tap_wish *w) {
	struct tap_capture *found = NULL;

	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < TAP_CAPTURES && found == NULL; i++) {
		if (c->list[i].state == TAP_FREE)
			found = &c->list[i];
	}
	if (found != NULL) {
		found->wish = *w;
		found->state = TAP_ASKED;
	}
	pthread_mutex_unlock(&c->lock);
	if (found != NULL)
		news(c);
	return found;
}

enum tap_state tap_capture_state(struct tap_captures *c, const struct tap_capture *capture) {
	enum tap_state state;

	pthread_mutex_lock(&c->lock);
	state = capture->state;
	pthread_mutex_unlock(&c->lock);
	return state;
}

/* Notifies the control thread once: each notification rebuilds all views. */
void tap_capture_end(struct tap_captures *c, struct tap_capture *capture) {
	bool runs;

	pthread_mutex_lock(&c->lock);
	runs = capture->state == TAP_RUNNING;
	if (runs)
		capture->state = TAP_ENDING;
	else if (capture->state == TAP_ASKED)
		capture->state = TAP_ENDED;
	pthread_mutex_unlock(&c->lock);
	if (runs)
		news(c);
}

void tap_capture_free(struct tap_captures *c, struct tap_capture *capture) {
	pthread_mutex_lock(&c->lock);
	places_free(capture);
	capture->state = TAP_FREE;
	pthread_mutex_unlock(&c->lock);
}

static struct tap_place *place_at(const struct tap_capture *capture, unsigned site) {
	for (unsigned p = 0; p < capture->place_count; p++) {
		if (capture->places[p]->site == site && !capture->places[p]->gone)
			return capture->places[p];
	}
	return NULL;
}

/* The largest ring size that keeps the existing and the missing rings below TAP_MEMORY, at least TAP_RING_LEAST. */
static uint32_t ring_size(const struct tap_captures *c, const struct tap_capture *capture) {
	uint64_t used = 0, wanted = 0;
	uint32_t size = TAP_RING_MOST;

	for (unsigned p = 0; p < capture->place_count; p++)
		used += capture->places[p]->end->ring.size;
	for (unsigned s = 0; s < c->site_count; s++) {
		struct tap_spot spot = tap_spot_of(c->server, s);

		wanted += place_at(capture, s) == NULL && tap_spot_wanted(&spot, &capture->wish);
	}
	while (size > TAP_RING_LEAST && used + size * wanted > TAP_MEMORY)
		size /= 2;
	return size;
}

/* Returns NULL without memory, after a warning. */
static struct tap_place *place_make(struct tap_captures *c, struct tap_capture *capture,
				    unsigned site, const struct tap_spot *spot) {
	const struct tap_end_config config = {
		.snap = capture->wish.snap,
		.sample = capture->wish.sample,
		.rate = capture->wish.rate,
		.ring = ring_size(c, capture),
	};
	struct tap_place **more =
		reallocarray(capture->places, capture->place_count + 1, sizeof(struct tap_place *));
	struct tap_place *place = calloc(1, sizeof(*place));

	if (more != NULL)
		capture->places = more;
	if (more != NULL && place != NULL)
		place->end = tap_end_create(&config);
	if (place == NULL || place->end == NULL) {
		free(place);
		log_warning("capture", LOG_NO_FIELDS,
			    "no memory for copies of packets: a capture does not see all");
		return NULL;
	}
	place->site = site;
	place->direction = spot->direction;
	tap_spot_name(c->server, spot, place->name);
	capture->places[capture->place_count++] = place;
	return place;
}

static void places_at_gone(struct tap_captures *c, unsigned site) {
	for (unsigned i = 0; i < TAP_CAPTURES; i++) {
		struct tap_place *place = place_at(&c->list[i], site);

		if (place != NULL)
			place->gone = true;
	}
}

/* A view with the running captures that want packets of this site. Returns NULL where no capture does. */
static struct tap_view *view_make(struct tap_captures *c, unsigned site,
				  const struct tap_spot *spot, struct tap_names **names) {
	struct tap_view *v = calloc(1, sizeof(*v));

	*names = v != NULL && spot->group != NULL ? tap_names_create(spot->group) : NULL;
	for (unsigned i = 0; v != NULL && i < TAP_CAPTURES; i++) {
		struct tap_capture *capture = &c->list[i];
		struct tap_place *place;

		if (capture->state != TAP_RUNNING || !tap_spot_wanted(spot, &capture->wish) ||
		    (spot->group != NULL && *names == NULL))
			continue;
		place = place_at(capture, site);
		if (place == NULL)
			place = place_make(c, capture, site, spot);
		if (place == NULL)
			continue;
		tap_spot_look(spot, &capture->wish, *names, &v->looks[v->look_count]);
		v->looks[v->look_count++].end = place->end;
	}
	if (v != NULL && v->look_count > 0) {
		tap_spot_view(c->server, spot, *names, v);
		return v;
	}
	tap_names_free(*names);
	*names = NULL;
	free(v);
	return NULL;
}

static bool wanted_by_any(const struct tap_captures *c, const struct tap_spot *spot) {
	for (unsigned i = 0; i < TAP_CAPTURES; i++) {
		if (c->list[i].state == TAP_RUNNING && tap_spot_wanted(spot, &c->list[i].wish))
			return true;
	}
	return false;
}

/* Rebuilds the view of one site and publishes it. The caller frees `old` later. */
static void site_follow(struct tap_captures *c, unsigned site, struct tap_site *old) {
	struct tap_site *at = &c->sites[site];
	struct tap_spot spot = tap_spot_of(c->server, site);

	*old = *at;
	if (old->view != NULL && (spot.counters == NULL || spot.counters->tap != &old->view->tap))
		places_at_gone(c, site); /* the group or port was removed */
	*at = (struct tap_site){0};
	if (wanted_by_any(c, &spot))
		at->view = view_make(c, site, &spot, &at->names);
	if (spot.counters != NULL && (at->view != NULL || spot.counters->tap != NULL))
		tap_spot_publish(&spot, at->view);
	c->active |= at->view != NULL;
}

/* Rebuilds all sites. When it returns, no worker can reach the former views, and they are freed. */
static void sites_follow(struct tap_captures *c) {
	c->active = false;
	for (unsigned s = 0; s < c->site_count; s++)
		site_follow(c, s, &c->former[s]);
	server_synchronize(c->server);
	for (unsigned s = 0; s < c->site_count; s++) {
		struct tap_spot spot = tap_spot_of(c->server, s);

		if (c->sites[s].view != NULL)
			tap_spot_publish_drops(&spot, c->sites[s].view);
	}
	server_synchronize(c->server);
	for (unsigned s = 0; s < c->site_count; s++) {
		free(c->former[s].view);
		tap_names_free(c->former[s].names);
	}
}

static bool captures_begin(struct tap_captures *c, bool stop) {
	bool changed = false;

	for (unsigned i = 0; i < TAP_CAPTURES; i++) {
		struct tap_capture *capture = &c->list[i];

		if (stop && capture->state == TAP_RUNNING)
			capture->state = TAP_ENDING;
		if (capture->state == TAP_ASKED) {
			snprintf(capture->why, TAP_LINE, "vcmtsd is about to end");
			capture->state =
				!stop && tap_wish_fits(c->server, &capture->wish, capture->why)
					? TAP_RUNNING
					: TAP_REFUSED;
		}
		changed |= capture->state == TAP_RUNNING || capture->state == TAP_ENDING;
	}
	return changed;
}

static void captures_follow(struct tap_captures *c, bool stop) {
	pthread_mutex_lock(&c->lock);
	c->generation = c->server->generation;
	if (captures_begin(c, stop) || c->active)
		sites_follow(c);
	for (unsigned i = 0; i < TAP_CAPTURES; i++) {
		if (c->list[i].state == TAP_ENDING)
			c->list[i].state = TAP_ENDED;
	}
	pthread_mutex_unlock(&c->lock);
}

void tap_captures_follow(struct tap_captures *c) {
	if (__atomic_exchange_n(&c->news, false, __ATOMIC_ACQ_REL) ||
	    (c->active && c->generation != c->server->generation))
		captures_follow(c, false);
}

void tap_captures_stop(struct tap_captures *c) {
	captures_follow(c, true);
}
