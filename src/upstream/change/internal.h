/* SPDX-License-Identifier: BSD-3-Clause */
/* A change of the upstream, for the files of this folder. The worker writes the members from
 * `state` on, the control thread the others. */
#pragma once

#include "model/arena.h"
#include "pipeline/change.h"
#include "upstream/change/change.h"
#include "upstream/state/records.h"

/* A key of a hash table, and the slot to which it maps. */
struct us_entry {
	uint32_t key, slot;
};

struct us_entries {
	struct us_entry *list;
	uint32_t count, capacity;
};

/* The keys of one table that the change adds and removes, and the resulting updates of the table:
 * us_hash_update_plan(). */
struct us_hash_update {
	struct rte_hash *hash;
	struct us_entries added, removed;
	struct us_entries to_delete, to_set;
};

struct us_list {
	uint32_t *slots;
	uint32_t count, capacity;
};

struct us_channel_plan {
	uint32_t channel; /* slot */
	struct us_channel next;
};

struct us_modem_plan {
	uint32_t modem; /* slot */
	/* `modem_data` NULL: the change removes the modem; `before` NULL: adds it */
	struct us_modem_data *modem_data, *before;
	struct us_modem record; /* with former addresses and SIDs */
	struct us_keys keys;
	struct crypto_key retired[US_GENERATIONS];
	struct us_flow_plan *flows;
	uint32_t flow_count;
};

/* The new settings of a flow for the upstream scheduler. */
struct us_grant_plan {
	struct us_grant_flow *flow;
	uint32_t slot;
	uint32_t sids; /* of all clusters */
	uint8_t unit;
};

struct us_grant_plans {
	struct us_grant_plan *list;
	uint32_t count, capacity;
};

struct us_change {
	struct upstream *u;
	struct arena *memory;
	char *why;
	uint32_t number;
	const struct service_group *group; /* NULL: the group's own settings stay */
	const struct service_group *present; /* until the change is planned */
	struct us_grant_plans grants;
	struct us_channel_plan *channels;
	uint32_t channel_count;
	struct us_modem_plan *modems;
	uint32_t modem_count;
	struct us_hash_update sids, sessions;
	uint32_t sids_after; /* keys in use after the change */
	struct us_list new_sessions;
	struct us_list old_sessions, old_flows, old_streams; /* slots to free at the end */
	bool settled; /* the slots of the control thread include the change */
	enum change_state state; /* the worker writes it */
	/* of the worker alone */
	struct change_cursor apply, flush;
	uint32_t part; /* the PSP flow of a session */
	bool marked; /* `target` is set */
	uint64_t target; /* the count at which all packets from before the change have left */
	struct rte_mbuf *free_chain; /* chain of buffers to free */
};

/* Items of the phases that both apply and retire have. */
CHANGE_COUNT(us_changed_modems, struct us_change, modem_count)
CHANGE_COUNT(us_old_streams, struct us_change, old_streams.count)

/* The budget of a step, and the cost of a record. A freed buffer costs CHANGE_BUFFER_NS, an update
 * of a table as much as 1 to 3 records. */
#define US_STEP_NS 20000
#define US_RECORD_NS 100

/* Writes one line for the client. Returns false. */
bool us_change_refuse(struct us_change *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Return false without memory, after us_change_refuse(). */
bool us_list_add(struct us_change *c, struct us_list *l, uint32_t slot);
bool us_entries_add(struct us_change *c, struct us_entries *w, uint32_t key, uint32_t slot);
bool us_grants_add(struct us_change *c, const struct us_grant_plan *p);

/* Plan the change of one object. Return false after us_change_refuse(). `schedules` has those of
 * the modem's two keys, or is NULL. */
bool us_plan_modem(struct us_change *c, const struct live_change *k, void *const *schedules);
bool us_plan_channel(struct us_change *c, const struct live_change *k);
/* Plans the scheduler's settings of a flow of the modem in slot `modem`, if the group has an
 * upstream scheduler. */
bool us_plan_grants(struct us_change *c, uint32_t modem, const struct upstream_service_flow *next,
		    const struct us_flow_plan *p);

/* Plans flows of other modems again that the scheduler refused before, as the change may free
 * capacity. Call it last. */
bool us_plan_refused(struct us_change *c);

/* Refuses to remove a downstream channel that carries MAPs. */
bool us_plan_carrier(struct us_change *c, const struct live_change *k);
bool us_plan_group(struct us_change *c, const struct service_group *next);

/*
 * Sorts `added` and `removed`, and computes from them the keys to delete (`to_delete`) and to set
 * (`to_set`). Removed keys are deleted first, so that the added ones fit. A key in both lists is
 * set if its slot differs.
 *
 * Returns false after us_change_refuse(): an owner outside the change has the key, a list has it
 * twice, or memory is missing. `what` names the key in the message.
 */
bool us_hash_update_plan(struct us_change *c, struct us_hash_update *net, const char *what);
