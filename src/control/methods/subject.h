/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters that name a service group or a modem, and their lookup. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "control/methods/methods.h"
#include "model/keys/key_macros.h"

/* A group; the client may omit it if there is only one. */
struct group_subject {
	uint32_t id;
	bool given; /* not the first member, as an offset of 0 means that a key has no flag */
};

#define SUBJECT_MAX_GROUP 65535 /* largest ID of a group */

/* A key for a struct that has `struct group_subject member`. */
#define GROUP_KEY(type, member)                \
	{.name = "group",                      \
	 INTEGER(1, SUBJECT_MAX_GROUP),        \
	 AT(type, member.id),                  \
	 .flag = offsetof(type, member.given), \
	 .example = "1",                       \
	 HELP("service group (default: the only one)")}

/* Keys of results: a counter or gauge; a bucket of a histogram. */
#define COUNTED_KEY(key, text) \
	{.name = (key), .required = true, INTEGER(0, INT64_MAX), .example = "0", HELP(text)}
extern const struct key bucket_item;

/* The server of the call. */
struct server *subject_server(const struct rpc_call *call);

/* Refuses a change like rpc_refuse(), and counts it. Returns NULL. */
json_t *subject_refuse_change(struct rpc_call *call, const char *why);

/* The group that the parameters name. Returns NULL after a refusal. */
struct served_group *subject_group(struct rpc_call *call, const struct group_subject *s);

/* The configuration of the group in service. Only the thread that runs the methods may call it. */
const struct service_group *subject_config(const struct served_group *g);

/* The number of modems of the group. */
size_t subject_modems(const struct served_group *g);

/* Lists all groups in `groups`, an array of SERVER_MAX_GROUPS. Returns their number. */
size_t subject_live_groups(struct rpc_call *call, const struct live_group **groups);

/* Iterates over all groups; `*slot` starts at 0. Returns NULL at the end. */
struct served_group *subject_next_group(struct rpc_call *call, unsigned *slot);

/* The modem with this MAC address in the group. Returns NULL after a refusal. */
const struct modem *subject_modem(struct rpc_call *call, const struct served_group *g,
				  const uint8_t mac[6]);
