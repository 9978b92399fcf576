/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/reconfigure.h"

/*
 * A reload in two halves. prepare() does everything that can fail, for all groups, and changes
 * nothing in service; a reload that it refuses is abandoned. The second half begins at the point of
 * no return: nothing in it can fail.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/live/live_preview.h"
#include "model/live/undone.h"
#include "server/changes.h"
#include "server/group_lifecycle.h"
#include "server/provider_change.h"
#include "server/running.h"

#define NOWHERE SERVER_MAX_GROUPS /* the group is not in service */

/* The state of one reload. */
struct reconfiguration {
	struct server *server;
	const struct server_config *next;
	bool force; /* may undo unsaved changes */
	struct server_change *change;
	unsigned slots[SERVER_MAX_GROUPS]; /* slots of the groups of `next`, or NOWHERE */
	/* by group of `next`: its differences; none if it is added */
	struct live_changes differences[SERVER_MAX_GROUPS];
	/* by group of `next`; NULL: the provider does not change */
	struct provider_change *providers[SERVER_MAX_GROUPS];
	struct live_preview to_be[SERVER_MAX_GROUPS]; /* by slot: groups that differ */
	bool stays[SERVER_MAX_GROUPS]; /* by slot: groups in service that stay */
	struct group_addition *arrivals[SERVER_MAX_GROUPS]; /* groups to add, in order */
	unsigned added, removed;
	unsigned providers_before; /* number of crypto providers that were open */
	char *line;
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void append(struct reconfiguration *r,
							 const char *format, ...) {
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
	append(r, "%s; nothing was changed", why);
	return false;
}

static bool refuse_group(struct reconfiguration *r, uint32_t id, const char *why) {
	r->used = 0;
	if (r->server->group_count > 1 || r->next->group_count > 1)
		append(r, "service group %u: ", id);
	append(r, "%s; nothing was changed", why);
	return false;
}

static bool is_in_service(const struct server *s, unsigned group) {
	return s->groups[group].in_service;
}

static unsigned slot_of(const struct server *s, uint32_t id) {
	for (unsigned g = 0; g < s->group_count; g++) {
		if (is_in_service(s, g) && s->groups[g].sg->id == id)
			return g;
	}
	return NOWHERE;
}

/* Finds the slots of the groups that stay and counts those that leave. */
static void match(struct reconfiguration *r) {
	for (size_t n = 0; n < r->next->group_count; n++) {
		r->slots[n] = slot_of(r->server, r->next->groups[n].id);
		if (r->slots[n] != NOWHERE)
			r->stays[r->slots[n]] = true;
	}
	for (unsigned g = 0; g < r->server->group_count; g++)
		r->removed += is_in_service(r->server, g) && !r->stays[g];
}

static void append_group(struct reconfiguration *r, const struct live_group *l,
			 const struct live_changes *changes) {
	char text[LIVE_LINE];

	live_changes_text(l, changes, text, sizeof(text));
	append(r, "%s", r->used > 0 ? "; " : "");
	if (r->next->group_count > 1)
		append(r, "service group %u: ", l->sg.id);
	append(r, "%s", text);
}

/* Finds what differs in groups that stay. */
static bool find_differences(struct reconfiguration *r) {
	for (size_t n = 0; n < r->next->group_count; n++) {
		const struct service_group *sg = &r->next->groups[n];
		struct live_group *l;
		char why[LIVE_LINE];

		if (r->slots[n] == NOWHERE)
			continue;
		l = &r->server->groups[r->slots[n]].live;
		if (!live_difference(l, sg, &r->differences[n], why))
			return refuse_group(r, sg->id, why);
		if (r->differences[n].count == 0)
			continue;
		if (!live_preview_create(&r->to_be[r->slots[n]], l, &r->differences[n]))
			return refuse_group(r, sg->id, "no memory left for a change");
		append_group(r, l, &r->differences[n]);
	}
	return true;
}

/* Refuses to undo unsaved changes. */
static bool undoes_nothing(struct reconfiguration *r) {
	const struct unsaved *unsaved = &r->server->unsaved;
	struct undone undone = {0};
	char text[RECONFIGURE_LINE];

	if (r->force)
		return true;
	for (size_t n = 0; n < r->next->group_count; n++) {
		unsigned g = r->slots[n];

		if (g == NOWHERE)
			undone_add(&undone, unsaved_find_group(unsaved, r->next->groups[n].id));
		else
			undone_add_changes(&undone, unsaved, &r->server->groups[g].live,
					   &r->differences[n]);
	}
	for (unsigned g = 0; g < r->server->group_count; g++) {
		if (is_in_service(r->server, g) && !r->stays[g])
			undone_add_group(&undone, unsaved, r->server->groups[g].sg->id);
	}
	if (undone.count == 0)
		return true;
	undone_text(&undone, text, sizeof(text));
	return refuse(r, text);
}

/* The group of slot `g` after the reload; NULL if it does not change. */
static const struct service_group *to_be(const struct reconfiguration *r, unsigned g) {
	return r->to_be[g].sg.modems != NULL ? &r->to_be[g].sg : NULL;
}

/* If the crypto provider changes: opens queues of the new one, and creates the keys of all modems
 * that the group has after the reload. */
static bool prepare_provider(struct reconfiguration *r, size_t n) {
	const struct service_group *sg = &r->next->groups[n], *with;
	unsigned g = r->slots[n];
	char why[LIVE_LINE];

	if (g == NOWHERE || !server_provider_differs(&r->server->groups[g], &sg->crypto))
		return true;
	with = to_be(r, g) != NULL ? to_be(r, g) : r->server->groups[g].sg;
	if (server_provider_check(r->server, sg, why) != NULL)
		r->providers[n] = server_provider_prepare(r->server, g, &sg->crypto, with, why);
	return r->providers[n] != NULL || refuse_group(r, sg->id, why);
}

/* Adds the differences to the change, which owns them from here on. */
static bool prepare_change(struct reconfiguration *r, size_t n) {
	char why[LIVE_LINE];

	return r->differences[n].count == 0 ||
	       server_change_add(r->change, r->slots[n], &r->differences[n], why) ||
	       refuse_group(r, r->next->groups[n].id, why);
}

/* Prepares a group to add. It is checked against the other groups as they are after the reload, as
 * no two groups may match the same packet. */
static bool prepare_addition(struct reconfiguration *r, size_t n) {
	const struct service_group *others[SERVER_MAX_GROUPS];
	struct group_addition *a;
	char why[LIVE_LINE];

	if (r->slots[n] != NOWHERE)
		return true;
	for (unsigned g = 0; g < SERVER_MAX_GROUPS; g++)
		others[g] = to_be(r, g);
	a = server_group_prepare(r->server, &r->next->groups[n], others, why);
	if (a == NULL)
		return refuse(r, why);
	r->arrivals[r->added++] = a;
	return true;
}

static bool prepare(struct reconfiguration *r) {
	static bool (*const steps[])(struct reconfiguration *, size_t) = {
		prepare_provider,
		prepare_change,
		prepare_addition,
	};
	bool good;

	r->change = server_change_open(r->server, NULL);
	if (r->change == NULL)
		return refuse(r, "no memory left for a change");
	good = find_differences(r) && undoes_nothing(r);
	for (size_t step = 0; step < sizeof(steps) / sizeof(steps[0]); step++) {
		for (size_t n = 0; good && n < r->next->group_count; n++)
			good = steps[step](r, n);
	}
	return good;
}

/* Frees what was prepared, in reverse order. */
static void abandon(struct reconfiguration *r) {
	while (r->added > 0)
		server_group_abandon(r->arrivals[--r->added]);
	server_change_close(r->change);
	for (size_t n = 0; n < r->next->group_count; n++)
		server_provider_abandon(r->providers[n]);
	crypto_providers_close_behind(&r->server->crypto, r->providers_before);
}

static void apply_providers(struct reconfiguration *r) {
	for (size_t n = 0; n < r->next->group_count; n++) {
		if (r->providers[n] == NULL)
			continue;
		server_provider_apply(r->providers[n]);
		append(r, "%s", r->used > 0 ? "; " : "");
		if (r->next->group_count > 1)
			append(r, "service group %u: ", r->next->groups[n].id);
		append(r, "crypto provider changed");
	}
}

static void enter_additions(struct reconfiguration *r, bool added[SERVER_MAX_GROUPS]) {
	for (unsigned n = 0; n < r->added; n++)
		added[server_group_enter(r->arrivals[n])] = true;
}

static void remove_departures(struct reconfiguration *r, const bool added[SERVER_MAX_GROUPS]) {
	for (unsigned g = 0; g < SERVER_MAX_GROUPS && g < r->server->group_count; g++) {
		if (is_in_service(r->server, g) && !r->stays[g] && !added[g])
			server_group_leave(r->server, g, CHANGE_DRAIN_MS);
	}
}

static bool idle_differs(const struct power_config *a, const struct power_config *b) {
	return a->idle != b->idle || a->empty_rounds != b->empty_rounds ||
	       a->longest_pause != b->longest_pause || a->coalesce != b->coalesce;
}

/* The command line overrides the file, as at the start. A reload discards power settings that
 * clients have set. */
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
		append(r, "%sidle settings changed", r->used > 0 ? "; " : "");
	}
	s->power = next;
}

static void append_groups(struct reconfiguration *r) {
	if (r->added > 0)
		append(r, "%s%u service group%s added", r->used > 0 ? "; " : "", r->added,
		       r->added == 1 ? "" : "s");
	if (r->removed > 0)
		append(r, "%s%u service group%s removed", r->used > 0 ? "; " : "", r->removed,
		       r->removed == 1 ? "" : "s");
	if (r->used == 0)
		append(r, "nothing changed");
}

static bool text_same(const char *a, const char *b) {
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/*
 * The point of no return: applies everything, and cannot fail. Groups that stay change first, as
 * added groups and new providers were prepared for their changed state. Then groups are added,
 * groups are removed, and providers change.
 */
static void apply(struct reconfiguration *r) {
	bool added[SERVER_MAX_GROUPS] = {false};

	server_change_make(r->change);
	server_change_close(r->change);
	enter_additions(r, added);
	remove_departures(r, added);
	apply_providers(r);
	change_power(r);
	unsaved_clear(&r->server->unsaved);
	append_groups(r);
}

/* Refuses differences in settings that only a restart can change. Returns whether there are
 * none. */
static bool start_is_same(struct reconfiguration *r) {
	const struct server *s = r->server;

	if (r->next->main_core != s->config->main_core)
		return refuse(r,
			      "threads.main_core: differs; this setting changes only at a restart");
	if (!s->metrics_fixed && !text_same(r->next->metrics, s->config->metrics))
		return refuse(r, "metrics: differs; this setting changes only at a restart");
	return true;
}

bool server_reconfigure(struct server *s, const struct server_config *next, bool force,
			char line[RECONFIGURE_LINE]) {
	struct reconfiguration *r = calloc(1, sizeof(*r));
	bool good;

	line[0] = '\0';
	if (r == NULL) {
		snprintf(line, RECONFIGURE_LINE,
			 "no memory left for a change; nothing was changed");
		return false;
	}
	r->server = s;
	r->next = next;
	r->force = force;
	r->line = line;
	r->providers_before = s->crypto.count;
	server_changes_settle(s);
	match(r);
	good = start_is_same(r) && prepare(r);
	if (good)
		apply(r);
	else
		abandon(r);
	for (size_t n = 0; n < next->group_count; n++)
		live_changes_free(&r->differences[n]);
	for (unsigned g = 0; g < SERVER_MAX_GROUPS; g++)
		live_preview_free(&r->to_be[g]);
	free(r);
	return good;
}
