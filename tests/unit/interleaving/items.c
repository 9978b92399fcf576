/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects at random, with the keys of a file. */
#include <stdio.h>

#include "world.h"

#include "test.h"

#define SAID_SHARED 60 /* of several modems */

void item_hex(struct world *w, char *text, unsigned bytes) {
	for (unsigned i = 0; i < bytes; i++)
		sprintf(text + 2 * i, "%02x", world_roll(w, 256));
}

json_t *item_addresses(struct world *w, unsigned group, unsigned modem) {
	static const unsigned counts[] = {1, 1, 2, 5, 20, 64};
	unsigned first = world_roll(w, 190), count = counts[world_roll(w, 6)];
	json_t *list = json_array();

	for (unsigned a = 0; a < count; a++)
		json_array_append_new(list,
				      json_sprintf("10.%u.%u.%u", 100 + group, modem, first + a));
	if (world_roll(w, 4) == 0 && count < 64)
		json_array_append_new(list, json_sprintf("2001:db8:%x::%x", group, modem));
	return list;
}

/* That of modems which share an association, where one has it in the model. */
static json_t *shared_security(const json_t *group) {
	json_t *modem;
	size_t i;

	json_array_foreach(json_object_get(group, "modems"), i, modem) {
		json_t *sa = json_object_get(modem, "security");

		if (json_integer_value(json_object_get(sa, "said")) == SAID_SHARED)
			return json_deep_copy(sa);
	}
	return NULL;
}

static json_t *security(struct world *w, const json_t *group, unsigned modem) {
	unsigned said = world_roll(w, 4) == 0 ? SAID_SHARED : 100 + modem;
	json_t *shared = said == SAID_SHARED ? shared_security(group) : NULL;
	char key[33], iv[33];

	if (shared != NULL)
		return shared;
	if (world_roll(w, 5) == 0 && said != SAID_SHARED)
		return json_pack("{s:i,s:s}", "said", said, "cipher", "none");
	item_hex(w, key, 16);
	item_hex(w, iv, 16);
	return json_pack("{s:i,s:s,s:s,s:s,s:i}", "said", said, "cipher", "aes-128", "key", key,
			 "iv", iv, "key_sequence", world_roll(w, 16));
}

/* An id of the list in the model, any. */
static json_t *some_id(struct world *w, const json_t *group, enum live_object object) {
	const json_t *list = json_object_get(group, model_list(object));
	size_t count = json_array_size(list);
	json_t *item = count == 0 ? NULL : json_array_get(list, world_roll(w, (unsigned)count));

	return json_incref(json_object_get(item, model_key(object)));
}

static json_t *flows(struct world *w, unsigned modem) {
	unsigned count = 1 + world_roll(w, 3);
	json_t *list = json_array();

	for (unsigned f = 0; f < count; f++)
		json_array_append_new(list,
				      json_pack("{s:i,s:i,s:i,s:s}", "id", 1000 + modem * 8 + f,
						"dsid", 1000 + modem * 8 + f, "priority",
						world_roll(w, 8), "buffer", "20 kB"));
	return list;
}

static json_t *upstream_flows(struct world *w, const json_t *group, unsigned modem) {
	json_t *channel = some_id(w, group, LIVE_UPSTREAM_CHANNEL);

	if (channel == NULL || world_roll(w, 3) == 0) {
		json_decref(channel);
		return json_array();
	}
	return json_pack("[{s:i,s:b,s:[{s:i,s:[{s:o,s:i}]}]}]", "id", 5000 + modem,
			 "segment_header", (int)world_roll(w, 2), "sid_clusters", "id", 0, "sids",
			 "channel", channel, "sid", 100 + world_roll(w, 2) * 100 + modem);
}

static json_t *modem_item(struct world *w, unsigned id, const json_t *group, unsigned modem) {
	json_t *item = json_object(), *list = flows(w, modem);

	json_object_set_new(item, "mac", json_sprintf("02:05:00:00:%02x:%02x", id, modem));
	json_object_set_new(item, "addresses", item_addresses(w, id, modem));
	json_object_set_new(item, "cpe_limit", json_integer(64));
	json_object_set_new(item, "bonding_group", some_id(w, group, LIVE_BONDING_GROUP));
	json_object_set_new(item, "security", security(w, group, modem));
	if (json_array_size(list) > 1)
		json_object_set_new(item, "classifiers",
				    json_pack("[{s:s,s:s,s:i,s:O}]", "family", "ipv4", "protocol",
					      "udp", "destination_ports", 4000 + world_roll(w, 4),
					      "service_flow",
					      json_object_get(json_array_get(list, 1), "id")));
	json_object_set_new(item, "service_flows", list);
	json_object_set_new(item, "upstream_service_flows", upstream_flows(w, group, modem));
	if (world_roll(w, 2) == 0) {
		json_t *filter = some_id(w, group, LIVE_FILTER_GROUP);

		json_object_set_new(item, "filter_groups", json_pack("[o]", filter));
	}
	return item;
}

/* Sessions of channels that come are no data sessions to the bench. */
static json_t *channel_item(struct world *w, unsigned id, unsigned number) {
	return json_pack("{s:i,s:s,s:s,s:i}", "id", number, "type", "ofdm", "rate",
			 world_roll(w, 2) ? "200 Mbps" : "300 Mbps", "session",
			 0x30000 + id * 256 + number * 4 + world_roll(w, 4));
}

static json_t *upstream_channel_item(struct world *w, unsigned id, unsigned number) {
	json_t *item =
		json_pack("{s:i,s:s,s:s,s:i}", "id", number, "type", "ofdma", "rate", "30 Mbps",
			  "session", 0x40000 + id * 256 + number * 4 + world_roll(w, 4));

	if (world_roll(w, 2))
		json_object_set_new(
			item, "request_session",
			json_integer(0x50000 + id * 256 + number * 4 + world_roll(w, 4)));
	return item;
}

static json_t *bonding_group_item(struct world *w, const json_t *group, unsigned number) {
	json_t *first = some_id(w, group, LIVE_CHANNEL), *second = some_id(w, group, LIVE_CHANNEL);
	json_t *item = json_pack("{s:i,s:[o]}", "id", number, "channels", first);

	if (!json_equal(first, second))
		json_array_append(json_object_get(item, "channels"), second);
	json_decref(second);
	return item;
}

static json_t *filter_group_item(struct world *w, unsigned number) {
	return json_pack("{s:i,s:[{s:s,s:s,s:s,s:i}]}", "id", number, "rules", "family", "ipv4",
			 "action", "deny", "protocol", "udp", "destination_ports",
			 2000 + world_roll(w, 5));
}

json_t *item_make(struct world *w, const struct op *op, unsigned number) {
	const json_t *group = w->groups[op->group];

	switch (op->object) {
	case LIVE_CHANNEL: return channel_item(w, op->group, number);
	case LIVE_UPSTREAM_CHANNEL: return upstream_channel_item(w, op->group, number);
	case LIVE_BONDING_GROUP: return bonding_group_item(w, group, number);
	case LIVE_FILTER_GROUP: return filter_group_item(w, number);
	default: return modem_item(w, op->group, group, number);
	}
}
