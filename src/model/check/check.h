/* SPDX-License-Identifier: BSD-3-Clause */
/* The second pass over a service group: checks across its values. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/errors.h"
#include "model/service_group.h"
#include "model/tree.h"
#include "model/unique.h"

/* Maps IDs of a file to indices of a list. */
struct id_map {
	uint32_t *index; /* KEYS_MAX_ID + 1 entries; ID_UNKNOWN: no such ID */
	/* Instead of `index`, for a group in service: returns the slot of an ID, or ID_UNKNOWN. */
	uint32_t (*find)(const void *group, uint32_t id);
	const void *group;
	bool complete; /* every item has a valid ID, so that an unknown ID is an error */
};

#define ID_UNKNOWN UINT32_MAX

struct check {
	struct service_group *sg;
	struct errors *errors;
	struct id_map channels;
	struct id_map bonding_groups;
	struct id_map filter_groups;
	struct id_map upstream_channels;
	struct unique_set flows; /* service flow IDs of all modems, downstream and upstream */
};

/* Checks `sg` as read from `root`, and replaces IDs by indices. Skips values that the reader has
 * reported, so that one error makes one line. */
void service_group_check(struct service_group *sg, struct node *root, struct errors *errors);

#define CHECK_FLOWS {.at = {.lists = {"modems", "service_flows"}, .leaf = "id"}}

/* The checks of the lists that `root` has; `check` has its ID maps, and CHECK_FLOWS as its flows.
 * So a list of one object can be checked within a group that has the others. */
void check_lists(struct check *check, struct node *root);

/* Whether modems may have both under one SAID: all values but the SAID are equal. */
bool check_same_association(const struct security_association *a,
			    const struct security_association *b);

/* Bits per second of the group's channels; 0 if one of them is unknown. */
uint64_t check_capacity(const struct service_group *sg, const struct bonding_group *group);

/* For the files of the check. */

/* Reports the value of `node`, or `nothing` if it is NULL, at `line`. */
void check_report(struct check *check, const struct node *node, uint32_t line,
		  const struct path *path, const char *allowed);

/* A map of the file, and its path. */
struct check_context {
	struct check *check;
	const struct node *map;
	const struct path *up;
};

/* Reports the value of a key of the map; without a value, at the map's line. */
void check_refuse(const struct check_context *at, const char *key, const char *allowed);

/* Replaces the ID at `value` by its index. Returns false for an unknown ID, and reports that there
 * is no `what` of this ID. */
bool check_resolve(struct check *check, const struct id_map *map, struct node *node,
		   uint32_t *value, const struct path *path, const char *what);

/* Checks which parts a filter rule or classifier has for its family. Completes `match`. */
void check_match(struct check *check, const struct node *map, struct match *match,
		 const struct path *path);

/* Checks the quality of service of a downstream flow by itself. Completes `flow`. */
void check_flow_qos(struct check *check, const struct node *map, struct service_flow *flow,
		    const struct path *up);

/* Checks the limits of a modem, after its flows. Completes `modem`. */
void check_modem_qos(struct check *check, const struct node *map, struct modem *modem,
		     const struct path *up);

/*
 * Checks whether the channels of every bonding group carry what its flows reserve, after all flows.
 */
void check_reserved(struct check *check, struct node *root);

/* Checks `modems` without their upstream; the ID maps are complete. */
void check_modems(struct check *check, struct node *root);

/* Checks `upstream`, `upstream_channels`, and the upstream of modems. */
void check_upstream(struct check *check, struct node *root);
