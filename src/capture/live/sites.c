/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/live/sites.h"

#include <stdio.h>

unsigned tap_site_count(const struct server *s) {
	return s->group_max * TAP_GROUP_PARTS + SERVER_PORTS_MAX;
}

static struct tap_site port_point(const struct server *s, unsigned port) {
	struct port_share *share = s->shares.of[port];

	return (struct tap_site){
		.counters = share != NULL ? &share->counters : NULL,
		.part = TAP_PORT,
		.direction = DIRECTION_PORT,
		.port = port,
	};
}

struct tap_site tap_site_get(const struct server *s, unsigned site) {
	struct served_group *g = &s->groups[site / TAP_GROUP_PARTS];
	struct tap_site point = {.group = g, .part = (enum tap_part)(site % TAP_GROUP_PARTS)};

	if (site >= s->group_max * TAP_GROUP_PARTS)
		return port_point(s, site - s->group_max * TAP_GROUP_PARTS);
	point.direction = point.part == TAP_UPSTREAM ? DIRECTION_UP : DIRECTION_DOWN;
	if (!g->in_service)
		return point;
	if (point.part == TAP_UPPER)
		point.counters = &g->downstream->upper.counters;
	else if (point.part == TAP_LOWER)
		point.counters = &g->downstream->lower.counters;
	else if (g->upstream != NULL)
		point.counters = &g->upstream->counters;
	return point;
}

void tap_site_name(const struct server *s, const struct tap_site *point, char name[TAP_NAME]) {
	if (point->part == TAP_PORT)
		snprintf(name, TAP_NAME, "port %.*s", TAP_NAME - 6,
			 s->shares.of[point->port]->name);
	else
		snprintf(name, TAP_NAME, "sg %u %s", point->group->sg->id,
			 point->direction == DIRECTION_UP ? "upstream" : "downstream");
}

/* The wanted boundaries that the part has. */
static uint64_t boundaries_of(const struct tap_site *point, const struct tap_request *request) {
	uint64_t all = point->direction == DIRECTION_UP ? request->up : request->down, own = 0;

	if (point->part == TAP_PORT)
		return 0;
	for (unsigned s = 0; s < tap_stage_count(point->direction); s++) {
		if (tap_stage_part(point->direction, s) == point->part)
			own |= UINT64_C(3) << tap_boundary(s, TAP_IN);
	}
	return all & own;
}

static bool drops_wanted(const struct tap_site *point, const struct tap_request *request) {
	for (unsigned r = 0; request->drops && r < DROP_REASONS; r++) {
		if ((request->reasons[r / 64] >> r % 64 & 1) != 0 &&
		    drop_in((enum drop_reason)r, point->direction))
			return true;
	}
	return false;
}

bool tap_site_is_selected(const struct tap_site *point, const struct tap_request *request) {
	if (point->counters == NULL || (request->directions & point->direction) == 0)
		return false;
	if (request->has_group && (point->group == NULL || point->group->sg->id != request->group))
		return false;
	return boundaries_of(point, request) != 0 || drops_wanted(point, request);
}

/* Whether the request captures in this direction: a flow has only one. */
static bool captures_in(const struct tap_request *request, enum direction direction) {
	uint64_t boundaries = direction == DIRECTION_UP ? request->up : request->down;

	return (request->directions & direction) != 0 && (request->drops || boundaries != 0);
}

static bool has_flow(const struct served_group *g, const struct tap_request *request) {
	const struct service_group *sg = &g->live.sg;
	bool down = captures_in(request, DIRECTION_DOWN), up = captures_in(request, DIRECTION_UP);

	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct modem *modem = &sg->modems[m];

		for (size_t f = 0; down && f < modem->service_flow_count; f++) {
			if (modem->service_flows[f].id == request->sfid)
				return true;
		}
		for (size_t f = 0; up && f < modem->upstream_flow_count; f++) {
			if (modem->upstream_flows[f].id == request->sfid)
				return true;
		}
	}
	return false;
}

bool tap_request_fits(const struct server *s, const struct tap_request *request,
		      char why[TAP_LINE]) {
	bool group = false, modem = false, flow = false, session = false;

	for (unsigned i = 0; i < s->group_count; i++) {
		const struct served_group *g = &s->groups[i];

		if (!g->in_service || (request->has_group && g->sg->id != request->group))
			continue;
		group = true;
		modem = modem || modem_by_mac(&g->live.sg, request->mac) != NULL;
		flow = flow || has_flow(g, request);
		session = session || tap_group_has_session(g, request->session);
	}
	if (!group)
		snprintf(why, TAP_LINE,
			 "no service group %u is in service; `vcmts control group.list` lists them",
			 request->group);
	else if ((request->wants & TAP_KNOWS_MODEM) != 0 && !modem)
		snprintf(why, TAP_LINE,
			 "no modem %02x:%02x:%02x:%02x:%02x:%02x is in service; `vcmts control "
			 "modem.list` "
			 "lists them",
			 request->mac[0], request->mac[1], request->mac[2], request->mac[3],
			 request->mac[4], request->mac[5]);
	else if ((request->wants & TAP_KNOWS_FLOW) != 0 && !flow)
		snprintf(why, TAP_LINE,
			 "no service flow %u is in service in this group and direction",
			 request->sfid);
	else if ((request->wants & TAP_KNOWS_SESSION) != 0 && !session)
		snprintf(why, TAP_LINE, "no L2TPv3 session 0x%08x is in service", request->session);
	else
		return true;
	return false;
}

void tap_site_set_rule(const struct tap_site *point, const struct tap_request *request,
		       const struct tap_names *names, struct tap_rule *rule) {
	bool up = point->direction == DIRECTION_UP;

	rule->boundaries = boundaries_of(point, request);
	rule->reasons = request->drops ? request->reasons : NULL;
	rule->filter = (struct tap_filter){
		.wants = request->wants,
		.modem = TAP_NONE,
		.flow = TAP_NONE,
		.session = request->session,
	};
	if (names == NULL)
		return;
	rule->filter.modem = tap_names_modem(names, request->mac);
	rule->filter.flow = up ? tap_names_up_flow(names, request->sfid)
			       : tap_names_down_flow(names, request->sfid);
}

static void view_of_group(const struct tap_site *point, struct tap_view *v) {
	struct served_group *g = point->group;

	if (point->part == TAP_UPSTREAM) {
		v->tables.u = g->upstream;
		v->clock = &g->upstream->r.clock;
		tap_view_finish(v, 0, 1);
		return;
	}
	v->tables.d = g->downstream;
	if (point->part == TAP_UPPER) {
		v->clock = &g->downstream->upper.clock;
		tap_view_finish(v, 0, 2);
	} else {
		v->clock = &g->downstream->lower.clock;
		tap_view_finish(v, 2, 1);
	}
}

void tap_site_set_view(const struct server *s, const struct tap_site *point,
		       const struct tap_names *names, struct tap_view *v) {
	v->direction = point->direction;
	v->tables.names = names;
	v->tap.stage = &point->counters->stage;
	if (point->part != TAP_PORT) {
		view_of_group(point, v);
		return;
	}
	v->own_clock = &s->workers[s->shares.owners[point->port]].clock;
	v->clock = &v->own_clock;
	tap_view_finish(v, 0, 0);
}

void tap_site_publish(const struct tap_site *point, struct tap_view *v) {
	struct pipeline *lists[TAP_PART_LISTS] = {NULL, NULL};

	if (point->part == TAP_UPPER) {
		lists[0] = &point->group->downstream->enqueue;
		lists[1] = &point->group->downstream->dequeue;
	} else if (point->part == TAP_LOWER) {
		lists[0] = &point->group->downstream->lower_mac;
	} else if (point->part == TAP_UPSTREAM) {
		lists[0] = &point->group->upstream->list;
	}
	if (v == NULL)
		tap_site_publish_drops(point, NULL);
	else if (point->counters->tap == NULL)
		point->counters->stage = TAP_NO_STAGE;
	for (unsigned l = 0; l < TAP_PART_LISTS; l++) {
		if (lists[l] != NULL)
			__atomic_store_n(&lists[l]->tap, v != NULL ? &v->lists[l] : NULL,
					 __ATOMIC_RELEASE);
	}
}

void tap_site_publish_drops(const struct tap_site *point, struct tap_view *v) {
	__atomic_store_n(&point->counters->tap, v != NULL ? &v->tap : NULL, __ATOMIC_RELEASE);
}
