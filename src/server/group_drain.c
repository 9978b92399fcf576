/* SPDX-License-Identifier: BSD-3-Clause */
/* Drains a group: ends its grants, replaces its packet sources by an empty ring, and waits for
 * pending packets. Resumes it. */
#include "server/group_drain.h"

#include "model/grants_times.h"
#include "platform/log/log.h"
#include "server/group_lifecycle.h"
#include "server/groups.h"
#include "server/running.h"
#include "server/steering.h"

void group_grants_end(struct server *s, unsigned group, uint64_t end) {
	struct served_group *g = &s->groups[group];
	unsigned us = 0;
	uint64_t over;

	if (!g->sg->upstream.scheduled || g->drained)
		return;
	served_group_grant(g, false);
	over = server_now(s) + grants_ahead(g->sg);
	while (server_now(s) < RTE_MIN(over, end) && server_wait(s, &us))
		;
}

uint64_t group_wait_empty(const struct server *s, unsigned group, uint64_t end) {
	const struct served_group *g = &s->groups[group];
	unsigned us = 0;

	while (served_group_remaining(g) > 0 && server_now(s) < end && server_wait(s, &us))
		;
	return served_group_pending(g);
}

uint64_t server_group_drain(struct server *s, unsigned group, unsigned limit_ms) {
	uint64_t end = server_now(s) + (uint64_t)limit_ms * SERVER_MS;
	bool stops = !s->groups[group].drained;

	group_grants_end(s, group, end);
	s->groups[group].drained = true;
	server_group_connect(s, group);
	if (stops)
		log_info("group", LOG_FIELDS(LOG_NUMBER("service_group", s->groups[group].sg->id)),
			 "service group %u drained: reception stopped", s->groups[group].sg->id);
	server_wakes_set(s, false);
	return group_wait_empty(s, group, end);
}

void server_group_resume(struct server *s, unsigned group) {
	if (s->groups[group].drained)
		log_info("group", LOG_FIELDS(LOG_NUMBER("service_group", s->groups[group].sg->id)),
			 "service group %u resumed", s->groups[group].sg->id);
	s->groups[group].drained = false;
	server_group_connect(s, group);
	served_group_grant(&s->groups[group], true);
	server_wakes_set(s, false);
	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		if (s->ports.of[group][role] != SERVER_NO_PORT)
			/* server_steer() kept the rules of the drained group */
			server_steer(s, s->ports.of[group][role]);
	}
}
