/* SPDX-License-Identifier: BSD-3-Clause */
/* What a change of the downstream is made of. All of it is prepared before the first step. */
#pragma once

#include "downstream/change/change.h"
#include "downstream/downstream.h"
#include "pipeline/change.h"

#define DS_NOBODY UINT32_MAX /* for a modem */

/* An address, or a modem's own, that is to lead elsewhere. */
struct ds_key {
	struct rte_hash *table;
	const void *bytes;
	uint32_t modem; /* to which it leads: from now on, or no more */
	uint32_t from; /* the modem to which it leads until then; DS_NOBODY */
	uint8_t number; /* among the modem's addresses */
};

/* What a change has found out of the addresses of a modem that is in the list. */
struct ds_owned {
	uint64_t kept; /* by number: those that stay */
	uint64_t moved; /* those that another modem takes over */
	bool mac_moved;
};

/* When a modem's record is written: those that take an address over come before those that give it up. */
enum ds_turn { DS_TURN_TAKES, DS_TURN_BOTH, DS_TURN_GIVES, DS_TURNS };

/* The upper MAC's record of a modem as it is to be, with all that changes in the same moment. */
struct ds_modem_change {
	uint32_t slot;
	bool comes;
	bool limits; /* its aggregate rate changes */
	struct scheduler_modem aggregate;
	uint8_t mac[6];
	uint8_t filter_group_count;
	uint8_t filter_default;
	uint16_t filter_groups[SG_MAX_MODEM_FILTER_GROUPS];
	uint32_t classifier_set;
	uint16_t cpe_limit, cpe_limit_ipv6;
	uint32_t first_number, flow_count; /* in `numbers`; none where its flows stay */
	uint32_t first_key, key_count; /* in `come` */
	uint64_t kept; /* addresses whose activity stays, a bit each */
	enum ds_turn turn;
};

struct ds_flow_set {
	uint32_t flow;
	struct scheduler_flow to;
};

/* A record of the lower MAC. */
struct ds_flow_write {
	struct ds_flow to;
	uint32_t flow;
	uint32_t modem;
};

struct ds_group_set {
	uint32_t slot;
	struct scheduler_group to; /* its channels are those of the list */
};

struct ds_channel_set {
	struct channel to;
	struct scheduler_channel in_scheduler;
	uint32_t slot;
	bool comes;
	bool written; /* what the lower MAC writes of it is another, */
	bool stays; /* but its session goes on */
};

/* A list of rules that takes the place of another one. */
struct ds_list_change {
	struct rule_lists *lists;
	uint32_t *at; /* where its number is noted */
	uint32_t now, next; /* RULE_LIST_NONE: none */
};

/* Rules built anew; `next` is in service from upper() on. */
struct ds_rules_change {
	struct rules *in_service;
	struct rules now, next;
	bool built;
};

enum { DS_FILTERS, DS_CLASSIFIERS, DS_RULES };

/* The group's single values, and which of them change. */
struct ds_values {
	bool rate_limit, cpe_timeout;
	uint64_t to_rate_limit, to_cpe_timeout;
};

/* A list that is filled while a change is prepared, whose length was known before. */
#define DS_LIST(type)         \
	struct {              \
		type *list;   \
		size_t count; \
	}

struct ds_change {
	struct downstream *d;
	/* To be read up to the end of upper(): */
	const struct service_group *sg;
	const struct live_changes *changes;
	void *const *schedules;
	char *why; /* in begin() only */
	uint32_t
		*change_of[LIVE_OBJECTS]; /* by place: 1 + number in the list; 0: it is not there */

	struct ds_owned *owned; /* by number in the list */
	DS_LIST(struct ds_modem_change) modems;
	DS_LIST(uint32_t) numbers; /* of service flows */
	DS_LIST(uint32_t) fresh; /* numbers that were nobody's, */
	DS_LIST(uint32_t) closing; /* and that are to be, */
	DS_LIST(uint32_t) closing_groups; /* with their bonding groups */
	DS_LIST(uint32_t) closing_channels; /* of bonding groups that go */
	DS_LIST(struct ds_key) come;
	DS_LIST(struct ds_key) gone;
	DS_LIST(struct ds_flow_set) flows;
	DS_LIST(struct ds_flow_write) writes;
	DS_LIST(struct ds_channel_set) channels;
	DS_LIST(struct ds_group_set) groups;
	DS_LIST(struct ds_list_change) lists;
	DS_LIST(uint32_t) leaving[LIVE_OBJECTS]; /* places of those that go */
	struct ds_rules_change rules[DS_RULES];
	struct ds_values values;

	bool prepared; /* nothing was refused */
	enum change_state upper_state, lower_state; /* each written by its worker */
	struct change_cursor upper, close; /* the upper MAC's */
	struct change_cursor lower, passed; /* the lower MAC's */
	uint64_t mark; /* the count at which what it was handed has passed */
};

/* How many channels the phases of both MACs have: those that come or differ, and those that leave. */
CHANGE_COUNT(ds_channels, struct ds_change, channels.count)
CHANGE_COUNT(ds_leaving_channels, struct ds_change, leaving[LIVE_CHANNEL].count)

/* The schedule that was made for a change of the list; NULL: none. */
static inline void *ds_schedule_of(const struct ds_change *c, const struct live_change *l) {
	return c->schedules == NULL ? NULL : c->schedules[l - c->changes->list];
}

/* What is to be in a place: of the list, or what is in service; NULL where nothing is. */
const struct modem *ds_next_modem(const struct ds_change *c, uint32_t slot);
const struct channel *ds_next_channel(const struct ds_change *c, uint32_t slot);
const struct bonding_group *ds_next_bonding_group(const struct ds_change *c, uint32_t slot);
const struct filter_group *ds_next_filter_group(const struct ds_change *c, uint32_t slot);

/* What is in service there; NULL where nothing is. */
const struct modem *ds_present_modem(const struct ds_change *c, uint32_t slot);
const struct channel *ds_present_channel(const struct ds_change *c, uint32_t slot);
const struct bonding_group *ds_present_bonding_group(const struct ds_change *c, uint32_t slot);
const struct filter_group *ds_present_filter_group(const struct ds_change *c, uint32_t slot);

/* Says why there is no change, of the object of `which` (NULL: of all). Returns false. */
bool ds_refuse(const struct ds_change *c, const struct live_change *which, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Whether the list can be made: places, and what objects refer to. */
bool ds_change_is_sound(struct ds_change *c);

/* Memory for the lists, and what gives it back. */
bool ds_change_allocate(struct ds_change *c);
void ds_change_free(struct ds_change *c);

/* Each fills in its part of the change, or refuses; what it took of numbers and lists is in `c`. */
bool ds_prepare_channels(struct ds_change *c);
bool ds_prepare_flows(struct ds_change *c);
bool ds_prepare_addresses(struct ds_change *c);
bool ds_prepare_rules(struct ds_change *c);
