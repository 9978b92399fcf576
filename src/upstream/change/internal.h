/* SPDX-License-Identifier: BSD-3-Clause */
/* A change as its files know it. The control thread writes all but what stands below `state`. */
#pragma once

#include "model/arena.h"
#include "pipeline/change.h"
#include "upstream/change/change.h"
#include "upstream/state/records.h"

/* A key of a hash table, and the place behind it. */
struct us_way {
	uint32_t key, place;
};

struct us_ways {
	struct us_way *list;
	uint32_t count, room;
};

/* The keys of one table: who comes to have them and who gave them up; then what of the table differs. */
struct us_net {
	struct rte_hash *hash;
	struct us_ways gained, lost;
	struct us_ways closed, opened;
};

struct us_list {
	uint32_t *places;
	uint32_t count, room;
};

struct us_channel_plan {
	uint32_t channel; /* place */
	struct us_channel next;
};

struct us_modem_plan {
	uint32_t modem; /* place */
	struct us_own *own, *before; /* NULL: it goes; it comes */
	struct us_modem record; /* shows what it had before, too */
	struct us_keys keys;
	struct crypto_key retired[US_GENERATIONS];
	struct us_flow_plan *flows;
	uint32_t flow_count;
};

/* What the upstream scheduler is told of a flow that comes or has other settings. */
struct us_grant_plan {
	struct us_grant_flow *flow;
	uint32_t place;
	uint32_t sids; /* of all its clusters */
	uint8_t unit;
};

struct us_grant_plans {
	struct us_grant_plan *list;
	uint32_t count, room;
};

struct us_change {
	struct upstream *u;
	struct arena *memory;
	char *why;
	uint32_t number;
	const struct service_group *group; /* NULL: its single values stay */
	const struct service_group *present; /* to the end of the planning */
	struct us_grant_plans grants;
	struct us_channel_plan *channels;
	uint32_t channel_count;
	struct us_modem_plan *modems;
	uint32_t modem_count;
	struct us_net sids, sessions;
	uint32_t sids_after; /* keys in use */
	struct us_list new_sessions;
	struct us_list old_sessions, old_flows, old_streams; /* their places, when all has passed */
	bool settled; /* the control thread's books follow it */
	enum change_state state; /* written by the worker */
	/* the worker's */
	struct change_cursor take, pass;
	uint32_t part; /* of a session */
	bool marked; /* `target` is set */
	uint64_t target; /* the count at which what was there has passed */
	struct rte_mbuf *rest; /* to be freed */
};

/* Items of phases that both the taking and the leaving have. */
CHANGE_COUNT(us_changed_modems, struct us_change, modem_count)
CHANGE_COUNT(us_old_streams, struct us_change, old_streams.count)

/* A buffer that is freed costs CHANGE_BUFFER_NS, what is written into a table 1 to 3 records. */
#define US_STEP_NS 20000
#define US_RECORD_NS 100

/* One line for who asked. Returns false. */
bool us_change_refuse(struct us_change *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Return false without memory, having said so. */
bool us_list_add(struct us_change *c, struct us_list *l, uint32_t place);
bool us_ways_add(struct us_change *c, struct us_ways *w, uint32_t key, uint32_t place);
bool us_grants_add(struct us_change *c, const struct us_grant_plan *p);

/* What becomes of one object; false where it was refused. `schedules` are of the modem's two keys, or NULL. */
bool us_plan_modem(struct us_change *c, const struct live_change *k, void *const *schedules);
bool us_plan_channel(struct us_change *c, const struct live_change *k);
/* A flow of the modem in the place, for the upstream scheduler, where the group has one. */
bool us_plan_grants(struct us_change *c, uint32_t modem, const struct upstream_service_flow *next,
		    const struct us_flow_plan *p);

/* Once all is planned: flows of others that were refused before, for which there may be room now. */
bool us_plan_refused(struct us_change *c);

/* A downstream channel: one that carries MAPs stays. */
bool us_plan_carrier(struct us_change *c, const struct live_change *k);
bool us_plan_group(struct us_change *c, const struct service_group *next);

/*
 * What of a table differs when all is gained and lost: keys that nobody has any more are closed first, so that the
 * others fit. False where a key is another's, which does not give it up, or is given twice.
 */
bool us_net_settle(struct us_change *c, struct us_net *net, const char *what);
