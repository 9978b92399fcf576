/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/group_json.h"

#include <string.h>

#include "model/live/live_kind.h"
#include "model/live/object_json.h"
#include "model/live/value_json.h"

json_t *group_single_json(const struct service_group *sg) {
	struct service_group single = *sg;
	json_t *group;

	single.channel_count = single.upstream_channel_count = 0;
	single.bonding_group_count = single.filter_group_count = single.modem_count = 0;
	/* the assigned cores, whatever keys requested them */
	single.threads.requested = (struct thread_request){
		.downstream = true,
		.main_core = true,
		.upper_mac_core = true,
		.lower_mac_core = true,
		.upstream_core = true,
	};
	group = map_json(service_group_keys, &single);
	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++)
		json_object_del(group, live_kinds[o].list);
	return group;
}

json_t *group_crypto_json(const struct service_group *sg, const struct crypto_config *crypto) {
	const struct key *key = service_group_keys;
	struct service_group next = *sg;

	next.crypto = *crypto;
	while (strcmp(key->name, "crypto") != 0)
		key++;
	return json_pack("{s:o}", key->name, value_json(key, &next));
}

bool group_json_slot_is_used(const struct live_group *l, enum live_object object, uint32_t slot) {
	return l->blocks[object][slot] != NULL;
}

static json_t *list_json(const struct live_group *l, enum live_object object, bool secrets) {
	json_t *list = json_array();

	for (uint32_t slot = 0; slot < live_capacity(&l->capacity, object); slot++) {
		if (group_json_slot_is_used(l, object, slot) &&
		    json_array_append_new(list, object_json(l, object, slot, secrets)) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *group_json(const struct live_group *l, bool secrets) {
	json_t *group = group_single_json(&l->sg);

	for (enum live_object o = LIVE_CHANNEL; group != NULL && o < LIVE_OBJECTS; o++) {
		json_t *list = list_json(l, o, secrets);

		if (json_array_size(list) == 0 && list != NULL) {
			json_decref(list);
		} else if (json_object_set_new(group, live_kinds[o].list, list) != 0) {
			json_decref(group);
			return NULL;
		}
	}
	return group;
}
