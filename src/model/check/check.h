/* SPDX-License-Identifier: BSD-3-Clause */
/* The second pass over a service group: what its values mean together. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/errors.h"
#include "model/service_group.h"
#include "model/tree.h"
#include "model/unique.h"

/* From the id that the file gives to the index in the list. */
struct id_map {
	uint32_t *index; /* KEYS_MAX_ID + 1 entries; ID_UNKNOWN where there is no such id */
	/* Instead of them, for a group in service: the place of an id, or ID_UNKNOWN. */
	uint32_t (*find)(const void *group, uint32_t id);
	const void *group;
	bool complete; /* every item has a usable id, so that an unknown one is a mistake */
};

#define ID_UNKNOWN UINT32_MAX

struct check {
	struct service_group *sg;
	struct errors *errors;
	struct id_map channels;
	struct id_map bonding_groups;
	struct id_map filter_groups;
	struct id_map upstream_channels;
	struct unique_set flows; /* service flow ids of all modems, downstream and upstream */
};

/*
 * Checks `sg` as read from `root` and replaces ids by indices. Values that the reader has reported
 * are left alone, so that one mistake makes one line.
 */
void service_group_check(struct service_group *sg, struct node *root, struct errors *errors);

#define CHECK_FLOWS {.place = {.lists = {"modems", "service_flows"}, .leaf = "id"}}

/*
 * The part of it that looks at the lists which `root` has: `check` has its maps of ids, and CHECK_FLOWS as its
 * flows. So a list of one object is checked within a group that has the others.
 */
void check_lists(struct check *check, struct node *root);

/* All values but the SAID: may modems have both under one? */
bool check_same_association(const struct security_association *a,
			    const struct security_association *b);

/* Bits per second of the group's channels; 0 where one of them is not known. */
uint64_t check_capacity(const struct service_group *sg, const struct bonding_group *group);

/* For the parts of the check. */

/* Reports what `node` says, or `nothing` without a node, at `line`. */
void check_report(struct check *check, const struct node *node, uint32_t line,
		  const struct path *path, const char *allowed);

/* A map of the file, and where it stands. */
struct check_place {
	struct check *check;
	const struct node *map;
	const struct path *up;
};

/* Reports the value of a key of the map; where it has none, at the map's line. */
void check_refuse(const struct check_place *place, const char *key, const char *allowed);

/* Replaces the id at `value` by its index; or reports that there is no `what` of this id: false. */
bool check_resolve(struct check *check, const struct id_map *map, struct node *node,
		   uint32_t *value, const struct path *path, const char *what);

/* A filter rule or classifier: which parts its family may have. Completes `match`. */
void check_match(struct check *check, const struct node *map, struct match *match,
		 const struct path *path);

/* The quality of service of a downstream flow, but its place among others. Completes `flow`. */
void check_flow_qos(struct check *check, const struct node *map, struct service_flow *flow,
		    const struct path *up);

/* The limits of a modem whose flows are checked. Completes `modem`. */
void check_modem_qos(struct check *check, const struct node *map, struct modem *modem,
		     const struct path *up);

/* Have the channels of every bonding group what its flows reserve? Once all flows are checked. */
void check_reserved(struct check *check, struct node *root);

/* All of `modems` but its upstream; the id maps are ready. */
void check_modems(struct check *check, struct node *root);

/* `upstream`, `upstream_channels`, and what modems have for the upstream. */
void check_upstream(struct check *check, struct node *root);
