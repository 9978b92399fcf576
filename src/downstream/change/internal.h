/* SPDX-License-Identifier: BSD-3-Clause */
/* Data structures of a change of the downstream. All is prepared before the first step. */
#pragma once

#include "downstream/change/change.h"
#include "downstream/downstream.h"
#include "pipeline/change.h"

#define DS_NO_MODEM UINT32_MAX /* no modem */

/* An address, or a modem's MAC address, that a modem gains or that no modem has any more. */
struct ds_key {
	struct rte_hash *table;
	const void *bytes;
	uint32_t modem; /* in `added`: the modem that gains it; in `removed`: that loses it */
	uint32_t from; /* the modem that loses it, or DS_NO_MODEM */
	uint8_t number; /* index in the modem's list */
};

/* Addresses that a modem in the change list has in service, a bit per index in its list. */
struct ds_owned {
	uint64_t kept; /* the modem keeps them */
	uint64_t moved; /* another modem gains them */
	bool mac_moved; /* another modem gains its MAC address */
};

/* The order of writing modem records, so that gains precede losses: modems that lose no address to
 * another modem, modems that gain and lose, modems that only lose. */
enum ds_order { DS_ORDER_GAINS, DS_ORDER_BOTH, DS_ORDER_LOSES, DS_ORDERS };

/* The new record of the upper MAC for a modem, applied in one step. */
struct ds_modem_change {
	uint32_t slot;
	bool is_new;
	bool limits; /* the aggregate rate changes */
	struct scheduler_modem aggregate;
	uint8_t mac[6];
	uint8_t filter_group_count;
	uint8_t filter_default;
	uint16_t filter_groups[SG_MAX_MODEM_FILTER_GROUPS];
	uint32_t classifier_set;
	uint16_t cpe_limit, cpe_limit_ipv6;
	uint32_t first_number, flow_count; /* in `numbers`; none if the flows stay */
	uint32_t first_key, key_count; /* in `added` */
	uint64_t kept; /* addresses whose activity stays, a bit per index */
	enum ds_order order;
};

struct ds_flow_set {
	uint32_t flow;
	struct scheduler_flow to;
};

/* A new record of the lower MAC. */
struct ds_flow_write {
	struct ds_flow to;
	uint32_t flow;
	uint32_t modem;
};

struct ds_group_set {
	uint32_t slot;
	struct scheduler_group to; /* its channel list is that of the change */
};

struct ds_channel_set {
	struct channel to;
	struct scheduler_channel in_scheduler;
	uint32_t slot;
	bool is_new;
	bool written; /* settings of the lower MAC change */
	bool session_stays; /* the session continues */
};

/* A replacement of a rule list. */
struct ds_list_change {
	struct rule_lists *lists;
	uint32_t *at; /* the list's number in struct ds_rule_lists */
	uint32_t now, next; /* RULE_LIST_NONE: none */
};

/* Rules of a change. If `built`, ds_change_upper() replaces `now` in service by `next`. */
struct ds_rules_change {
	struct rules *in_service;
	struct rules now, next;
	bool built;
};

enum { DS_FILTERS, DS_CLASSIFIERS, DS_RULES };

/* Values of the group itself, and which of them change. */
struct ds_values {
	bool rate_limit, cpe_timeout;
	uint64_t to_rate_limit, to_cpe_timeout;
};

/* A list that is filled while a change is prepared. ds_change_allocate() gives it its maximum
 * size. */
#define DS_LIST(type)         \
	struct {              \
		type *list;   \
		size_t count; \
	}

struct ds_change {
	struct downstream *d;
	/* valid until the end of ds_change_upper(): */
	const struct service_group *sg;
	const struct live_changes *changes;
	void *const *schedules;
	char *why; /* in ds_change_begin() only */
	uint32_t *change_of[LIVE_OBJECTS]; /* by slot: 1 + index in the change list; 0: not in it */

	struct ds_owned *owned; /* by index in the change list */
	DS_LIST(struct ds_modem_change) modems;
	DS_LIST(uint32_t) numbers; /* indices of service flows */
	DS_LIST(uint32_t) allocated; /* allocated indices */
	DS_LIST(uint32_t) closing; /* indices of removed flows */
	DS_LIST(uint32_t) closing_groups; /* their bonding groups */
	DS_LIST(uint32_t) closing_channels; /* channels of removed bonding groups */
	DS_LIST(struct ds_key) added;
	DS_LIST(struct ds_key) removed;
	DS_LIST(struct ds_flow_set) flows;
	DS_LIST(struct ds_flow_write) writes;
	DS_LIST(struct ds_channel_set) channels;
	DS_LIST(struct ds_group_set) groups;
	DS_LIST(struct ds_list_change) lists;
	DS_LIST(uint32_t) retiring[LIVE_OBJECTS]; /* slots of removed objects */
	struct ds_rules_change rules[DS_RULES];
	struct ds_values values;

	bool prepared; /* slots of removed objects are marked */
	enum change_state upper_state, lower_state; /* each written by its worker */
	struct change_cursor upper, close; /* of the upper MAC */
	struct change_cursor lower, flushed; /* of the lower MAC */
	uint64_t mark; /* count of `dequeued`, then of collected frames, to wait for */
};

/* Channels in the phases of both MACs: added or changed ones, and removed ones. */
CHANGE_COUNT(ds_channels, struct ds_change, channels.count)
CHANGE_COUNT(ds_leaving_channels, struct ds_change, retiring[LIVE_CHANNEL].count)

/* The key schedule for a change of the list, or NULL. */
static inline void *ds_schedule_of(const struct ds_change *c, const struct live_change *l) {
	return c->schedules == NULL ? NULL : c->schedules[l - c->changes->list];
}

/* The object of a slot after the change: from the list, or as in service; NULL if there is none. */
const struct modem *ds_next_modem(const struct ds_change *c, uint32_t slot);
const struct channel *ds_next_channel(const struct ds_change *c, uint32_t slot);
const struct bonding_group *ds_next_bonding_group(const struct ds_change *c, uint32_t slot);
const struct filter_group *ds_next_filter_group(const struct ds_change *c, uint32_t slot);

/* The object of a slot in service; NULL if there is none. */
const struct modem *ds_present_modem(const struct ds_change *c, uint32_t slot);
const struct channel *ds_present_channel(const struct ds_change *c, uint32_t slot);
const struct bonding_group *ds_present_bonding_group(const struct ds_change *c, uint32_t slot);
const struct filter_group *ds_present_filter_group(const struct ds_change *c, uint32_t slot);

/* Refuses the change. Writes the reason to c->why, with the name of the object `which` (NULL:
 * none). Returns false. */
bool ds_refuse(const struct ds_change *c, const struct live_change *which, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Validates slots and references of the change list, or refuses the change. */
bool ds_change_is_valid(struct ds_change *c);

/* Allocate the lists, and free them with the change. ds_change_allocate() returns false if memory
 * is short. */
bool ds_change_allocate(struct ds_change *c);
void ds_change_free(struct ds_change *c);

/* Each prepares its part of the change and returns true, or refuses the change and returns false.
 * ds_change_end() then frees the indices and lists that `c` has recorded. */
bool ds_prepare_channels(struct ds_change *c);
bool ds_prepare_flows(struct ds_change *c);
bool ds_prepare_addresses(struct ds_change *c);
bool ds_prepare_rules(struct ds_change *c);
