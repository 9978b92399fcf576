/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/reconfigure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/changes.h"
#include "server/group_life.h"
#include "server/provider_change.h"
#include "server/running.h"

#define NOWHERE SERVER_MAX_GROUPS /* in the place of a group's number */

/* One at a time. */
struct reconfiguration {
	struct server *server;
	const struct server_config *next;
	struct server_change *change;
	unsigned places[SERVER_MAX_GROUPS]; /* of the groups of `next`, or NOWHERE */
	struct live_changes differences[SERVER_MAX_GROUPS]; /* of the groups of `next` that stay */
	bool provider_differs[SERVER_MAX_GROUPS]; /* of the same */
	bool stays[SERVER_MAX_GROUPS]; /* a group in service, by its number */
	unsigned came[SERVER_MAX_GROUPS], came_count; /* numbers */
	unsigned went;
	char *line;
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct reconfiguration *r, const char *format,
						      ...) {
	va_list values;
	int size;

	va_start(values, format);
	size = vsnprintf(r->line + r->used, RECONFIGURE_LINE - r->used, format, values);
	va_end(values);
	r->used += (size_t)size;
	if (r->used >= RECONFIGURE_LINE)
		r->used = RECONFIGURE_LINE - 1;
}

static bool refuse(struct reconfiguration *r, const char *why) {
	r->used = 0;
	say(r, "%s; nothing was changed", why);
	return false;
}

static bool refuse_group(struct reconfiguration *r, uint32_t id, const char *why) {
	r->used = 0;
	if (r->server->group_count > 1 || r->next->group_count > 1)
		say(r, "service group %u: ", id);
	say(r, "%s; nothing was changed", why);
	return false;
}

static bool is_there(const struct server *s, unsigned group) {
	return s->groups[group].there;
}

static unsigned place_of(const struct server *s, uint32_t id) {
	for (unsigned g = 0; g < s->group_count; g++) {
		if (is_there(s, g) && s->groups[g].sg->id == id)
			return g;
	}
	return NOWHERE;
}

static void match(struct reconfiguration *r) {
	for (size_t n = 0; n < r->next->group_count; n++) {
		r->places[n] = place_of(r->server, r->next->groups[n].id);
		if (r->places[n] != NOWHERE)
			r->stays[r->places[n]] = true;
	}
	for (unsigned g = 0; g < r->server->group_count; g++)
		r->went += is_there(r->server, g) && !r->stays[g];
}

static void say_group(struct reconfiguration *r, const struct live_group *l,
		      const struct live_changes *changes) {
	char text[LIVE_LINE];

	live_changes_text(l, changes, text, sizeof(text));
	say(r, "%s", r->used > 0 ? "; " : "");
	if (r->next->group_count > 1)
		say(r, "service group %u: ", l->sg.id);
	say(r, "%s", text);
}

/* Whether a group is to have another crypto provider, and can. */
static bool find_provider(struct reconfiguration *r, size_t n) {
	const struct service_group *sg = &r->next->groups[n];
	char why[LIVE_LINE];

	r->provider_differs[n] =
		server_provider_differs(&r->server->groups[r->places[n]], &sg->crypto);
	if (!r->provider_differs[n] || server_provider_check(r->server, sg, why) != NULL)
		return true;
	return refuse_group(r, sg->id, why);
}

/* Of groups that stay. */
static bool find_differences(struct reconfiguration *r) {
	for (size_t n = 0; n < r->next->group_count; n++) {
		const struct service_group *sg = &r->next->groups[n];
		struct live_group *l;
		char why[LIVE_LINE];

		if (r->places[n] == NOWHERE)
			continue;
		l = &r->server->groups[r->places[n]].live;
		if (!live_difference(l, sg, &r->differences[n], why))
			return refuse_group(r, sg->id, why);
		if (!find_provider(r, n))
			return false;
		if (r->differences[n].count > 0)
			say_group(r, l, &r->differences[n]);
	}
	return true;
}

/* Once those that come are there: what stays is told apart from them on the ports. */
static bool prepare(struct reconfiguration *r) {
	for (size_t n = 0; n < r->next->group_count; n++) {
		char why[LIVE_LINE];

		if (r->differences[n].count > 0 &&
		    !server_change_add(r->change, r->places[n], &r->differences[n], why))
			return refuse_group(r, r->next->groups[n].id, why);
	}
	return true;
}

static bool let_come(struct reconfiguration *r) {
	for (size_t n = 0; n < r->next->group_count; n++) {
		const struct service_group *sg = &r->next->groups[n];
		char why[LIVE_LINE];

		if (r->places[n] != NOWHERE)
			continue;
		if (!server_group_add(r->server, sg, &r->came[r->came_count], why))
			return refuse(r, why);
		r->came_count++;
	}
	return true;
}

static void take_back(struct reconfiguration *r) {
	char why[LIVE_LINE];

	while (r->came_count > 0)
		server_group_remove(r->server, r->came[--r->came_count], 0, why);
}

static void let_go(struct reconfiguration *r) {
	char why[LIVE_LINE];

	for (unsigned g = 0; g < SERVER_MAX_GROUPS && g < r->server->group_count; g++) {
		bool came = false;

		for (unsigned c = 0; c < r->came_count; c++)
			came |= r->came[c] == g;
		if (is_there(r->server, g) && !r->stays[g] && !came)
			server_group_remove(r->server, g, CHANGE_DRAIN_MS, why);
	}
}

/* After all else: it is the modems of now whose keys go over. */
static bool change_providers(struct reconfiguration *r) {
	bool good = true;

	for (size_t n = 0; n < r->next->group_count; n++) {
		const struct service_group *sg = &r->next->groups[n];
		char why[LIVE_LINE];

		if (!r->provider_differs[n])
			continue;
		say(r, "%s", r->used > 0 ? "; " : "");
		if (r->next->group_count > 1)
			say(r, "service group %u: ", sg->id);
		if (server_provider_change(r->server, r->places[n], &sg->crypto, why)) {
			say(r, "crypto provider changed");
		} else {
			say(r, "%s: its crypto provider was not changed", why);
			good = false;
		}
	}
	return good;
}

static bool idle_differs(const struct power_config *a, const struct power_config *b) {
	return a->idle != b->idle || a->empty_rounds != b->empty_rounds ||
	       a->longest_pause != b->longest_pause;
}

/* What arguments said goes before the file, as at the start, and as it goes before what clients set meanwhile. */
static void change_power(struct reconfiguration *r) {
	struct server *s = r->server;
	struct power_config next = r->next->power;

	if (s->power_fixed.idle)
		next.idle = s->power_fixed.given.idle;
	if (s->power_fixed.policy)
		next.policy = s->power_fixed.given.policy;
	if (s->power_fixed.driver)
		next.driver = s->power_fixed.given.driver;
	if (idle_differs(&s->power, &next)) {
		server_idle(s, &next);
		say(r, "%spauses changed", r->used > 0 ? "; " : "");
	}
	s->power = next;
}

static void say_groups(struct reconfiguration *r) {
	if (r->came_count > 0)
		say(r, "%s%u service group%s added", r->used > 0 ? "; " : "", r->came_count,
		    r->came_count == 1 ? "" : "s");
	if (r->went > 0)
		say(r, "%s%u service group%s removed", r->used > 0 ? "; " : "", r->went,
		    r->went == 1 ? "" : "s");
	if (r->used == 0)
		say(r, "nothing changed");
}

static bool text_same(const char *a, const char *b) {
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool server_reconfigure(struct server *s, const struct server_config *next,
			char line[RECONFIGURE_LINE]) {
	struct reconfiguration r = {.server = s, .next = next, .line = line};
	bool good;

	line[0] = '\0';
	if (next->main_core != s->config->main_core)
		return refuse(&r, "threads.main_core: differs, which takes a new start");
	if (!s->metrics_fixed && !text_same(next->metrics, s->config->metrics))
		return refuse(&r, "metrics: differs, which takes a new start");
	server_changes_settle(s);
	r.change = server_change_open(s);
	if (r.change == NULL)
		return refuse(&r, "no memory left for a change");
	match(&r);
	good = find_differences(&r) && let_come(&r) && prepare(&r);
	if (good)
		server_change_make(r.change);
	server_change_close(r.change);
	if (good) {
		let_go(&r);
		good = change_providers(&r);
		change_power(&r);
		say_groups(&r);
	} else {
		take_back(&r);
	}
	for (size_t n = 0; n < next->group_count; n++)
		live_changes_free(&r.differences[n]);
	return good;
}
