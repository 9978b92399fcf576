/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts a prepared group into service, which cannot fail. */
#include "server/group_lifecycle.h"

#include <stdlib.h>

#include "platform/log/log.h"
#include "server/changes.h"
#include "server/group_add.h"
#include "server/groups.h"
#include "server/running.h"
#include "server/steering.h"
#include "sharing/sharing.h"

/* A group that had the port alone gets the share's ring as its source, before the owner polls the
 * port. */
static void share_begin(struct group_addition *a, unsigned index) {
	struct server *s = a->server;
	enum device_role role = s->ports.list[index].role;

	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service && g != a->group && s->ports.of[g][role] == index)
			server_group_connect(s, g);
	}
}

/* Has packets of earlier rules distributed before the tables include the group. */
static void addition_steer(struct group_addition *a) {
	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		if (a->ports[role].joined)
			server_steer_before(a->server, a->server->ports.of[a->group][role],
					    a->group, a->sg);
	}
}

/* Makes the group visible to its workers and to other threads. Cannot fail: entries are
 * reserved. */
static void addition_enter(struct group_addition *a) {
	struct server *s = a->server;
	unsigned ring = server_share_ring(s->group_max);
	struct watched_change watched;

	addition_steer(a);
	server_notify_group(s, &watched,
			    &(struct group_watch){WATCH_ADDED, .group = &s->groups[a->group]});
	pthread_rwlock_wrlock(&s->lock);
	s->group_count = RTE_MAX(s->group_count, a->group + 1);
	s->groups[a->group].in_service = true;
	s->generation++;
	server_name_workers(s);
	pthread_rwlock_unlock(&s->lock);
	served_group_enter(&s->groups[a->group]);
	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		unsigned index = s->ports.of[a->group][role];
		struct addition_port *port = &a->ports[role];

		if (port->plugged) /* of the group's own copy, as `sg` need not live on */
			s->ports.list[index].device =
				device_port(s->groups[a->group].sg, role)->device;
		if (port->joined)
			s->ports.list[index].counted += port->descriptors;
		if (!port->has_share)
			continue;
		if (port->made)
			share_begin(a, index);
		if (s->shares.of[index]->send.ring != NULL)
			server_share_send(&s->shares, s->workers, index, ring);
		if (port->table != NULL)
			port->table = share_table_replace(s->shares.of[index], port->table);
		if (port->read)
			server_share_receive(&s->shares, s->workers, index);
	}
	server_wakes_set(s, false);
	server_synchronize(s);
	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		share_table_free(a->ports[role].table);
		if (a->ports[role].joined)
			server_steer(s, s->ports.of[a->group][role]);
	}
	server_notify_applied(s, &watched);
	server_notify_retired(s, &watched);
}

unsigned server_group_enter(struct group_addition *a) {
	const struct service_group *sg = a->sg;
	unsigned group = a->group;

	addition_enter(a);
	free(a);
	log_info("group",
		 LOG_FIELDS(LOG_NUMBER("service_group", sg->id), LOG_STRING("name", sg->name),
			    LOG_NUMBER("modems", sg->modem_count)),
		 "service group %u added: %zu modems", sg->id, sg->modem_count);
	return group;
}

bool server_group_add(struct server *s, const struct service_group *sg, unsigned *group,
		      char why[LIVE_LINE]) {
	struct group_addition *a;

	server_changes_settle(s);
	a = server_group_prepare(s, sg, NULL, why);
	if (a == NULL)
		return false;
	*group = server_group_enter(a);
	return true;
}
