/* SPDX-License-Identifier: BSD-3-Clause */
/* Macros and declarations for the tables of keys, with one entry per key. For keys*.c only. */
#pragma once

#include "model/keys/keys.h"

/* clang-format off */
#define AT(type, member) .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
#define COUNT(type, member) .count = offsetof(type, member)
#define LIST_OF(type, member, counter, items)                                                      \
	.kind = KIND_LIST, .offset = offsetof(type, member),                                       \
	.size = sizeof(*((type *)0)->member), COUNT(type, counter), .item = (items)
#define MAP_AT(type, member, table) .kind = KIND_MAP, AT(type, member), .keys = (table)
#define INTEGER(low, high) .kind = KIND_INTEGER, .min = (low), .max = (high)
#define SIZE(low, high) .kind = KIND_SIZE, .min = (low), .max = (high)
#define KBPS_TO_TBPS_OR_NONE                                                                       \
	.kind = KIND_RATE_OR_NONE, .min = 1000, .max = UINT64_C(1000000000000)
#define TIME(low, high) .kind = KIND_DURATION, .min = (low), .max = (high)
#define ENUM(list) .kind = KIND_ENUM, .choices = (list)
#define BOOL .kind = KIND_BOOL
#define HELP(text) .help = (text)

#define ITEM(name, type, table, text)                                                              \
	static const struct key name = {                                                           \
		.kind = KIND_MAP, .keys = (table), .size = sizeof(type), .help = (text)}

#define MICROSECOND UINT64_C(1000)
#define MILLISECOND (1000 * MICROSECOND)
#define SECOND (1000 * MILLISECOND)
/* clang-format on */

extern const struct key service_flow_item; /* in keys_flow.c */
extern const struct key tos_masks_keys[]; /* of struct tos_masks, likewise */

/* The key of service flows of both directions. */
#define TOS_OVERWRITE(type)                                                                      \
	{.name = "tos_overwrite",                                                                \
	 .optional = true,                                                                       \
	 .flag = offsetof(type, overwrites_tos),                                                 \
	 MAP_AT(type, tos, tos_masks_keys),                                                      \
	 HELP("IP TOS overwrite: the IPv4 TOS or IPv6 traffic class becomes (old AND and_mask) " \
	      "OR or_mask; where not given, it stays")}

/* The keys of a group that concern its server, in keys_server.c. */
extern const struct key ports_keys[]; /* of struct service_group */
extern const struct key threads_keys[]; /* of struct thread_config */
extern const struct key crypto_keys[]; /* of struct crypto_config */
#define CRYPTO_NO_DEVICE "none"

/* The keys of the upstream, in keys_upstream.c. */
extern const struct key upstream_keys[]; /* of struct upstream_config */
extern const struct key upstream_channel_item;
extern const struct key upstream_flow_item;

/* The keys of its scheduler, in keys_grants.c. */
extern const struct key grants_keys[]; /* of struct grants_config */
extern const struct key physical_keys[]; /* of struct upstream_physical */
extern const struct key contention_keys[]; /* of struct upstream_contention */
extern const struct key maintenance_keys[]; /* of struct upstream_maintenance */
