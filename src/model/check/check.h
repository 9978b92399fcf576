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
	uint32_t *index; /* KEYS_MAX_ID + 1 indices by ID; ID_UNKNOWN: no item has the ID */
	/* Replaces `index` for a group in service: returns the slot of an ID, or ID_UNKNOWN. */
	uint32_t (*find)(const void *group, uint32_t id);
	const void *group;
	bool complete; /* all items have valid IDs, so a reference to an unknown ID is an error */
	char known[64]; /* the first IDs of the file, such as "1, 10, 20", for messages */
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

#define CHECK_FLOWS \
	{.at = {.lists = {"modems", "service_flows"}, .leaf = "id", .what = "service flow"}}

/* Checks the lists that `root` has. `check` has the ID maps, and CHECK_FLOWS as its flows. A
 * request with one object is checked as a list of one, with the ID maps of the group in service. */
void check_lists(struct check *check, struct node *root);

/* Whether two modems may have these associations under one SAID: all values but the SAID are
 * equal. */
bool check_same_association(const struct security_association *a,
			    const struct security_association *b);

/* Bits per second of the group's channels; 0 if one of them is unknown. */
uint64_t check_capacity(const struct service_group *sg, const struct bonding_group *group);

/* Shared by the source files of the check. */

/* Adds an error at `line` that quotes the value of `node`; NULL: the key is absent, and its default
 * is not allowed. */
void check_report(struct check *check, const struct node *node, uint32_t line,
		  const struct path *path, const char *allowed);

/* A map in the file, and its path. */
struct check_context {
	struct check *check;
	const struct node *map;
	const struct path *up;
};

/* Reports the value of a key of the map; if the map does not have the key, the line is the
 * map's. */
void check_refuse(const struct check_context *at, const char *key, const char *allowed);

/* Reports that the map needs a key that it does not have. */
void check_require(const struct check_context *at, const char *key, const char *needed);

/* Reports a key of the map that has no meaning unless the map has `with`, such as "type: ofdma". */
void check_refuse_without(const struct check_context *at, const char *key, const char *with);

/* Reports that `node` at `path` repeats the value of `first`. `what` names one such value, such as
 * "channel". */
void check_duplicate(struct check *check, const struct node *node, const struct path *path,
		     const char *what, const struct node *first);

/* Reports that `node` at `path` refers to a `what` that does not exist in `where`, such as "in this
 * file". */
void check_no_such(struct check *check, const struct node *node, const struct path *path,
		   const char *what, const char *where);

/* Replaces the ID at `value` by its index. Returns false for an unknown ID, and if the map is
 * complete, reports that there is no such `what`. */
bool check_resolve(struct check *check, const struct id_map *map, struct node *node,
		   uint32_t *value, const struct path *path, const char *what);

/* Checks the criteria of a filter rule or classifier against its family and protocol. Completes
 * `match`. */
void check_match(struct check *check, const struct node *map, struct match *match,
		 const struct path *path);

/* Checks the quality of service of a single downstream flow, and sets defaults that follow from
 * other values. */
void check_flow_qos(struct check *check, const struct node *map, struct service_flow *flow,
		    const struct path *up);

/* Checks the aggregate rate and burst of a modem, once its flows are checked. Sets the default
 * burst. */
void check_modem_qos(struct check *check, const struct node *map, struct modem *modem,
		     const struct path *up);

/* Checks that the channels of each bonding group carry the reserved rates of its flows, once all
 * flows are checked. */
void check_reserved(struct check *check, struct node *root);

/* Checks `modems` except for their upstream parts; the ID maps are complete. */
void check_modems(struct check *check, struct node *root);

/* Checks `upstream`, `upstream_channels` and the upstream parts of modems. */
void check_upstream(struct check *check, struct node *root);
