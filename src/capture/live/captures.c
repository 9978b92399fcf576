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

void tap_source_free(struct tap_source *source) {
	tap_buffer_free(source->buffer);
	free(source);
}

static void sources_free(struct tap_capture *capture) {
	for (unsigned p = 0; p < capture->source_count; p++)
		tap_source_free(capture->sources[p]);
	free(capture->sources);
	capture->sources = NULL;
	capture->source_count = 0;
}

void tap_captures_close(struct tap_captures *c) {
	for (unsigned i = 0; i < TAP_CAPTURES; i++)
		sources_free(&c->list[i]);
	free(c->sites);
	free(c->former);
	c->sites = c->former = NULL;
	pthread_mutex_destroy(&c->lock);
}

/* Requests a call of captures_follow() in the next tap_captures_update(). */
static void wakeup(struct tap_captures *c) {
	__atomic_store_n(&c->wakeup, true, __ATOMIC_RELEASE);
}

struct tap_capture *tap_capture_request(struct tap_captures *c, const struct tap_request *request) {
	struct tap_capture *found = NULL;

	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < TAP_CAPTURES && found == NULL; i++) {
		if (c->list[i].state == TAP_FREE)
			found = &c->list[i];
	}
	if (found != NULL) {
		found->request = *request;
		found->state = TAP_REQUESTED;
	}
	pthread_mutex_unlock(&c->lock);
	if (found != NULL)
		wakeup(c);
	return found;
}

enum tap_state tap_capture_state(struct tap_captures *c, const struct tap_capture *capture) {
	enum tap_state state;

	pthread_mutex_lock(&c->lock);
	state = capture->state;
	pthread_mutex_unlock(&c->lock);
	return state;
}

/* Notifies the control thread only if the capture runs, as each notification rebuilds all views. */
void tap_capture_end(struct tap_captures *c, struct tap_capture *capture) {
	bool runs;

	pthread_mutex_lock(&c->lock);
	runs = capture->state == TAP_RUNNING;
	if (runs)
		capture->state = TAP_ENDING;
	else if (capture->state == TAP_REQUESTED)
		capture->state = TAP_ENDED;
	pthread_mutex_unlock(&c->lock);
	if (runs)
		wakeup(c);
}

void tap_capture_free(struct tap_captures *c, struct tap_capture *capture) {
	pthread_mutex_lock(&c->lock);
	sources_free(capture);
	capture->state = TAP_FREE;
	pthread_mutex_unlock(&c->lock);
}

static struct tap_source *source_at(const struct tap_capture *capture, unsigned site) {
	for (unsigned p = 0; p < capture->source_count; p++) {
		if (capture->sources[p]->site == site && !capture->sources[p]->removed)
			return capture->sources[p];
	}
	return NULL;
}

/* The largest ring size, in halves of TAP_RING_MAX, with which the existing rings and those still
 * to be created fit into TAP_MEMORY; at least TAP_RING_MIN. */
static uint32_t ring_size(const struct tap_captures *c, const struct tap_capture *capture) {
	uint64_t used = 0, wanted = 0;
	uint32_t size = TAP_RING_MAX;

	for (unsigned p = 0; p < capture->source_count; p++)
		used += capture->sources[p]->buffer->ring.size;
	for (unsigned s = 0; s < c->site_count; s++) {
		struct tap_site point = tap_site_get(c->server, s);

		wanted += source_at(capture, s) == NULL &&
			  tap_site_is_selected(&point, &capture->request);
	}
	while (size > TAP_RING_MIN && used + size * wanted > TAP_MEMORY)
		size /= 2;
	return size;
}

/* Returns NULL without memory, after a warning. */
static struct tap_source *source_create(struct tap_captures *c, struct tap_capture *capture,
					unsigned site, const struct tap_site *point) {
	const struct tap_buffer_config config = {
		.snap = capture->request.snap,
		.sample = capture->request.sample,
		.rate = capture->request.rate,
		.ring = ring_size(c, capture),
	};
	struct tap_source **more = reallocarray(capture->sources, capture->source_count + 1,
						sizeof(struct tap_source *));
	struct tap_source *source = calloc(1, sizeof(*source));
	char name[TAP_NAME];

	if (more != NULL)
		capture->sources = more;
	if (more != NULL && source != NULL)
		source->buffer = tap_buffer_create(&config);
	if (source == NULL || source->buffer == NULL) {
		free(source);
		tap_site_name(c->server, point, name);
		log_warning("capture", LOG_NO_FIELDS,
			    "no memory for a capture ring: packets of %s are missing in a capture",
			    name);
		return NULL;
	}
	source->site = site;
	source->direction = point->direction;
	tap_site_name(c->server, point, source->name);
	capture->sources[capture->source_count++] = source;
	return source;
}

static void sources_mark_removed(struct tap_captures *c, unsigned site) {
	for (unsigned i = 0; i < TAP_CAPTURES; i++) {
		struct tap_source *source = source_at(&c->list[i], site);

		if (source != NULL)
			source->removed = true;
	}
}

/* Creates the view of a site for all running captures of its packets. Returns NULL if there are
 * none, or if memory is short. */
static struct tap_view *view_make(struct tap_captures *c, unsigned site,
				  const struct tap_site *point, struct tap_names **names) {
	struct tap_view *v = calloc(1, sizeof(*v));

	*names = v != NULL && point->group != NULL ? tap_names_create(point->group) : NULL;
	for (unsigned i = 0; v != NULL && i < TAP_CAPTURES; i++) {
		struct tap_capture *capture = &c->list[i];
		struct tap_source *source;

		if (capture->state != TAP_RUNNING ||
		    !tap_site_is_selected(point, &capture->request) ||
		    (point->group != NULL && *names == NULL))
			continue;
		source = source_at(capture, site);
		if (source == NULL)
			source = source_create(c, capture, site, point);
		if (source == NULL)
			continue;
		tap_site_set_rule(point, &capture->request, *names, &v->rules[v->rule_count]);
		v->rules[v->rule_count++].buffer = source->buffer;
	}
	if (v != NULL && v->rule_count > 0) {
		tap_site_set_view(c->server, point, *names, v);
		return v;
	}
	tap_names_free(*names);
	*names = NULL;
	free(v);
	return NULL;
}

static bool wanted_by_any(const struct tap_captures *c, const struct tap_site *point) {
	for (unsigned i = 0; i < TAP_CAPTURES; i++) {
		if (c->list[i].state == TAP_RUNNING &&
		    tap_site_is_selected(point, &c->list[i].request))
			return true;
	}
	return false;
}

/* Rebuilds the view of one site and publishes it. `old` becomes the previous one, which the caller
 * frees when no worker can reach it. */
static void site_follow(struct tap_captures *c, unsigned site, struct tap_attachment *old) {
	struct tap_attachment *at = &c->sites[site];
	struct tap_site point = tap_site_get(c->server, site);

	*old = *at;
	if (old->view != NULL && (point.counters == NULL || point.counters->tap != &old->view->tap))
		sources_mark_removed(c, site); /* the group or port was removed */
	*at = (struct tap_attachment){0};
	if (wanted_by_any(c, &point))
		at->view = view_make(c, site, &point, &at->names);
	if (point.counters != NULL && (at->view != NULL || point.counters->tap != NULL))
		tap_site_publish(&point, at->view);
}

/* Rebuilds all sites. When it returns, no worker can reach the former views, and they are freed.
 * Drops are published after a round of all workers, when counters have the stage of each drop. */
static void sites_follow(struct tap_captures *c) {
	for (unsigned s = 0; s < c->site_count; s++)
		site_follow(c, s, &c->former[s]);
	server_synchronize(c->server);
	for (unsigned s = 0; s < c->site_count; s++) {
		struct tap_site point = tap_site_get(c->server, s);

		if (c->sites[s].view != NULL)
			tap_site_publish_drops(&point, c->sites[s].view);
	}
	server_synchronize(c->server);
	for (unsigned s = 0; s < c->site_count; s++) {
		free(c->former[s].view);
		tap_names_free(c->former[s].names);
	}
}

/* Starts or refuses requested captures. Returns whether the views must be built. */
static bool captures_begin(struct tap_captures *c, bool stop) {
	bool changed = false;

	for (unsigned i = 0; i < TAP_CAPTURES; i++) {
		struct tap_capture *capture = &c->list[i];

		if (stop && capture->state == TAP_RUNNING)
			capture->state = TAP_ENDING;
		if (capture->state == TAP_REQUESTED) {
			snprintf(capture->why, TAP_LINE, "vcmtsd is about to end");
			capture->state = !stop && tap_request_fits(c->server, &capture->request,
								   capture->why)
						 ? TAP_RUNNING
						 : TAP_REFUSED;
		}
		changed |= capture->state == TAP_RUNNING || capture->state == TAP_ENDING;
	}
	return changed;
}

/* Rebuilds the views after a request or a change of the server. Captures that were ending have then
 * ended, as no worker can reach their views. */
static void captures_follow(struct tap_captures *c, bool stop) {
	pthread_mutex_lock(&c->lock);
	c->generation = c->server->generation;
	if (captures_begin(c, stop))
		sites_follow(c);
	c->active = false;
	for (unsigned i = 0; i < TAP_CAPTURES; i++) {
		c->active |= c->list[i].state == TAP_RUNNING;
		if (c->list[i].state == TAP_ENDING)
			c->list[i].state = TAP_ENDED;
	}
	pthread_mutex_unlock(&c->lock);
}

void tap_captures_update(struct tap_captures *c) {
	if (__atomic_exchange_n(&c->wakeup, false, __ATOMIC_ACQ_REL) ||
	    (c->active && c->generation != c->server->generation))
		captures_follow(c, false);
}

void tap_captures_stop(struct tap_captures *c) {
	captures_follow(c, true);
}
