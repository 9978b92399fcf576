/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/group_methods.h"

#include "model/live/live_group.h"

/* One entry per key, laid out as a table. */
/* clang-format off */

#define COUNT_KEY(key, limit, sample, text)                                                         \
	{.name = (key), .required = true, INTEGER(0, limit), .example = (sample), HELP(text)}
#define ID_KEY(limit, text)                                                                         \
	{.name = "id", .required = true, INTEGER(1, limit), .example = "1", HELP(text)}
#define RATE_KEY(text)                                                                             \
	{.name = "rate", .required = true, INTEGER(0, UINT64_C(1000000000000)),                     \
	 .example = "1890000000", HELP(text)}
#define SESSION_KEY(text)                                                                          \
	{.name = "session", .required = true, INTEGER(1, UINT32_MAX), .example = "65537", HELP(text)}

const struct key group_get_params[] = {
	GROUP_KEY(struct group_get_params, group),
	{0},
};

static const struct key brief_group_keys[] = {
	ID_KEY(SUBJECT_MAX_GROUP, "ID of the service group"),
	{.name = "name", .required = true, .kind = KIND_NAME, .example = "sg", HELP("name of the service group")},
	COUNT_KEY("modems", SG_MAX_MODEMS, "300", "number of its cable modems"),
	COUNT_KEY("channels", SG_MAX_CHANNELS, "6", "number of its downstream channels"),
	COUNT_KEY("upstream_channels", SG_MAX_UPSTREAM_CHANNELS, "4", "number of its upstream channels"),
	{0},
};
static const struct key brief_group_item = {
	.kind = KIND_MAP, .keys = brief_group_keys, HELP("a service group"),
};

const struct key group_list_result[] = {
	{.name = "groups", .required = true, .kind = KIND_LIST, .max = SERVER_MAX_GROUPS,
	 .item = &brief_group_item, HELP("service groups, in the order of the file")},
	{0},
};

static const struct key got_channel_keys[] = {
	ID_KEY(KEYS_MAX_ID, "ID of the channel"),
	RATE_KEY("bits per second of MAC frames"),
	SESSION_KEY("L2TPv3 session ID"),
	{0},
};
static const struct key got_channel_item = {
	.kind = KIND_MAP, .keys = got_channel_keys, HELP("a downstream channel"),
};
static const struct key got_upstream_channel_keys[] = {
	ID_KEY(KEYS_MAX_ID, "ID of the channel"),
	RATE_KEY("bits per second"),
	SESSION_KEY("L2TPv3 session ID of its bursts"),
	{0},
};
static const struct key got_upstream_channel_item = {
	.kind = KIND_MAP, .keys = got_upstream_channel_keys, HELP("an upstream channel"),
};
static const struct key channel_id_item = {
	INTEGER(1, KEYS_MAX_ID), .example = "1", HELP("ID of a channel"),
};
static const struct key got_bonding_group_keys[] = {
	ID_KEY(KEYS_MAX_ID, "ID of the bonding group"),
	{.name = "channels", .required = true, .kind = KIND_LIST, .max = SG_MAX_CHANNELS,
	 .item = &channel_id_item, HELP("IDs of its channels")},
	{0},
};
static const struct key got_bonding_group_item = {
	.kind = KIND_MAP, .keys = got_bonding_group_keys, HELP("a downstream bonding group"),
};
static const struct key got_filter_group_keys[] = {
	ID_KEY(KEYS_MAX_ID, "ID of the filter group"),
	COUNT_KEY("rules", SG_MAX_RULES, "16", "number of its rules"),
	{0},
};
static const struct key got_filter_group_item = {
	.kind = KIND_MAP, .keys = got_filter_group_keys, HELP("a group of filter rules"),
};

const struct key group_get_result[] = {
	ID_KEY(SUBJECT_MAX_GROUP, "ID of the service group"),
	{.name = "name", .required = true, .kind = KIND_NAME, .example = "sg", HELP("name of the service group")},
	COUNT_KEY("modems", SG_MAX_MODEMS, "300", "number of its cable modems"),
	{.name = "rate_limit", .required = true, INTEGER(0, UINT64_C(1000000000000)),
	 .example = "10000000000",
	 HELP("bits per second of the whole group; 0: no limit")},
	{.name = "channels", .required = true, .kind = KIND_LIST, .max = SG_MAX_CHANNELS,
	 .item = &got_channel_item, HELP("downstream channels")},
	{.name = "upstream_channels", .required = true, .kind = KIND_LIST,
	 .max = SG_MAX_UPSTREAM_CHANNELS, .item = &got_upstream_channel_item,
	 HELP("upstream channels")},
	{.name = "bonding_groups", .required = true, .kind = KIND_LIST, .max = KEYS_MAX_ID,
	 .item = &got_bonding_group_item, HELP("downstream bonding groups")},
	{.name = "filter_groups", .required = true, .kind = KIND_LIST, .max = KEYS_MAX_ID,
	 .item = &got_filter_group_item, HELP("filter groups")},
	{0},
};
/* clang-format on */

static json_t *channels_json(const struct service_group *sg) {
	json_t *list = json_array();

	for (size_t c = 0; c < sg->channel_count; c++) {
		const struct channel *channel = &sg->channels[c];

		if (channel_exists(channel))
			json_array_append_new(list, json_pack("{s:I, s:I, s:I}", "id",
							      (json_int_t)channel->id, "rate",
							      (json_int_t)channel->rate, "session",
							      (json_int_t)channel->session));
	}
	return list;
}

static json_t *upstream_channels_json(const struct service_group *sg) {
	json_t *list = json_array();

	for (size_t c = 0; c < sg->upstream_channel_count; c++) {
		const struct upstream_channel *channel = &sg->upstream_channels[c];

		if (upstream_channel_exists(channel))
			json_array_append_new(list, json_pack("{s:I, s:I, s:I}", "id",
							      (json_int_t)channel->id, "rate",
							      (json_int_t)channel->rate, "session",
							      (json_int_t)channel->session));
	}
	return list;
}

static json_t *bonding_groups_json(const struct service_group *sg) {
	json_t *list = json_array();

	for (size_t b = 0; b < sg->bonding_group_count; b++) {
		const struct bonding_group *group = &sg->bonding_groups[b];
		json_t *channels = json_array();

		for (size_t c = 0; c < group->channel_count; c++)
			json_array_append_new(channels,
					      json_integer(sg->channels[group->channels[c]].id));
		if (bonding_group_exists(group))
			json_array_append_new(list,
					      json_pack("{s:I, s:O}", "id", (json_int_t)group->id,
							"channels", channels));
		json_decref(channels);
	}
	return list;
}

static json_t *filter_groups_json(const struct service_group *sg) {
	json_t *list = json_array();

	for (size_t f = 0; f < sg->filter_group_count; f++) {
		const struct filter_group *group = &sg->filter_groups[f];

		if (filter_group_exists(group))
			json_array_append_new(list,
					      json_pack("{s:I, s:I}", "id", (json_int_t)group->id,
							"rules", (json_int_t)group->rule_count));
	}
	return list;
}

json_t *group_list(struct rpc_call *call) {
	const struct served_group *g;
	json_t *list = json_array();
	unsigned slot = 0;

	while ((g = subject_next_group(call, &slot)) != NULL) {
		const struct service_group *sg = subject_config(g);
		json_t *channels = channels_json(sg), *upstream = upstream_channels_json(sg);

		json_array_append_new(
			list,
			json_pack("{s:I, s:s, s:I, s:I, s:I}", "id", (json_int_t)sg->id, "name",
				  sg->name, "modems", (json_int_t)subject_modems(g), "channels",
				  (json_int_t)json_array_size(channels), "upstream_channels",
				  (json_int_t)json_array_size(upstream)));
		json_decref(channels);
		json_decref(upstream);
	}
	return json_pack("{s:o}", "groups", list);
}

json_t *group_get(struct rpc_call *call) {
	const struct group_get_params *p = call->params;
	const struct served_group *g = subject_group(call, &p->group);
	const struct service_group *sg;

	if (g == NULL)
		return NULL;
	sg = subject_config(g);
	return json_pack("{s:I, s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "id", (json_int_t)sg->id,
			 "name", sg->name, "modems", (json_int_t)subject_modems(g), "rate_limit",
			 (json_int_t)sg->rate_limit, "channels", channels_json(sg),
			 "upstream_channels", upstream_channels_json(sg), "bonding_groups",
			 bonding_groups_json(sg), "filter_groups", filter_groups_json(sg));
}
