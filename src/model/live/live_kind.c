/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/live_kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/units.h"

#define LISTED(member, counter)                                           \
	.list = #member, .items = offsetof(struct service_group, member), \
	.count = offsetof(struct service_group, counter),                 \
	.capacity = offsetof(struct group_capacity, member),              \
	.size = sizeof(*((struct service_group *)0)->member)

const struct live_kind live_kinds[LIVE_OBJECTS] = {
	[LIVE_CHANNEL] = {"channel", .item = "channel", LISTED(channels, channel_count)},
	[LIVE_UPSTREAM_CHANNEL] = {"upstream channel", .item = "upstream_channel",
				   LISTED(upstream_channels, upstream_channel_count)},
	[LIVE_BONDING_GROUP] = {"bonding group", .item = "bonding_group",
				LISTED(bonding_groups, bonding_group_count)},
	[LIVE_FILTER_GROUP] = {"filter group", .item = "filter_group",
			       LISTED(filter_groups, filter_group_count)},
	[LIVE_MODEM] = {"modem", .item = "modem", LISTED(modems, modem_count)},
};

void *live_item(const struct service_group *sg, enum live_object object, size_t index) {
	char *items;

	memcpy(&items, (const char *)sg + live_kinds[object].items, sizeof(items));
	return items + index * live_kinds[object].size;
}

size_t live_count(const struct service_group *sg, enum live_object object) {
	size_t count;

	memcpy(&count, (const char *)sg + live_kinds[object].count, sizeof(count));
	return count;
}

uint32_t live_capacity(const struct group_capacity *capacity, enum live_object object) {
	uint32_t slots;

	memcpy(&slots, (const char *)capacity + live_kinds[object].capacity, sizeof(slots));
	return slots;
}

void live_clear(const struct service_group *sg, enum live_object object, size_t index) {
	void *item = live_item(sg, object, index);

	memset(item, 0, live_kinds[object].size);
	if (object == LIVE_FILTER_GROUP)
		((struct filter_group *)item)->id = LIVE_FREE_ID;
}

void live_name(enum live_object object, const void *item, char *text, size_t size) {
	char mac[UNITS_TEXT_SIZE];
	uint32_t id;

	if (object == LIVE_MODEM) {
		units_format_mac(((const struct modem *)item)->mac, mac);
		snprintf(text, size, "modem %s", mac);
		return;
	}
	memcpy(&id, item, sizeof(id)); /* the first field of all kinds but modems */
	snprintf(text, size, "%s %" PRIu32, live_kinds[object].name, id);
}

_Static_assert(offsetof(struct channel, id) == 0 && offsetof(struct upstream_channel, id) == 0 &&
		       offsetof(struct bonding_group, id) == 0 &&
		       offsetof(struct filter_group, id) == 0,
	       "`id` is the first member");
