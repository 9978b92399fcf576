/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call is about: the params by which it names a service group or a modem, and what they stand for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "control/methods/methods.h"
#include "model/keys/key_rows.h"

/* A group that may be left out where there is but one. */
struct group_subject {
	uint32_t id;
	bool given; /* not the first: a key's flag at 0 would be none */
};

#define SUBJECT_MAX_GROUP 65535

/* A row of a table for a struct that has `struct group_subject member`. */
#define GROUP_KEY(type, member)                \
	{.name = "group",                      \
	 INTEGER(1, SUBJECT_MAX_GROUP),        \
	 AT(type, member.id),                  \
	 .flag = offsetof(type, member.given), \
	 .example = "1",                       \
	 HELP("service group; may be left out where there is but one")}

/* Rows of answers: a number since the start, or of now; a bucket of a histogram. */
#define COUNTED_KEY(key, text) \
	{.name = (key), .required = true, INTEGER(0, INT64_MAX), .example = "0", HELP(text)}
extern const struct key bucket_item;

/* What the call is asked of. */
struct server *subject_server(const struct rpc_call *call);

/* Refuses a change, as rpc_refuse() does, and counts it. Returns NULL. */
json_t *subject_refuse_change(struct rpc_call *call, const char *why);

/* The group that is meant. NULL after a refusal. */
struct served_group *subject_group(struct rpc_call *call, const struct group_subject *s);

/* What it has in service. To be called by the thread that runs the methods. */
const struct service_group *subject_config(const struct served_group *g);

/* How many modems are in it. */
size_t subject_modems(const struct served_group *g);

/* The groups that are there, in `groups`, which has space for SERVER_MAX_GROUPS. Returns how many. */
size_t subject_live_groups(struct rpc_call *call, const struct live_group **groups);

/* Any group that is there, one after the other: `place` begins with 0. NULL: no more. */
struct served_group *subject_next_group(struct rpc_call *call, unsigned *place);

/* The modem with the MAC address in the group. NULL after a refusal. */
const struct modem *subject_modem(struct rpc_call *call, const struct served_group *g,
				  const uint8_t mac[6]);
