/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes live changes of a group. Lines of "%%%" separate the parts of the input: the configuration
 * in service, the next one, and requests. A request is a digit for the verb, one for the object,
 * and its JSON. After an accepted change the group must be valid and be what was requested. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/live/live_index.h"
#include "model/live/live_kind.h"
#include "model/live/object_json.h"
#include "model/live/request.h"
#include "model/load/loader.h"

#include "fuzz.h"
#include "parts.h"

#define MAX_MODEMS 500 /* slots, which cost time */

static bool load(struct text part, struct service_group *sg) {
	char *messages = NULL;
	size_t size;
	FILE *errors = open_memstream(&messages, &size);
	int mistakes;

	CHECK(errors != NULL);
	mistakes = service_group_load_text("live.yaml", part.size > 0 ? part.bytes : "", part.size,
					   sg, errors);
	fclose(errors);
	free(messages);
	if (mistakes == 0 && (sg->modem_count > MAX_MODEMS || sg->max_modems > MAX_MODEMS)) {
		service_group_free(sg);
		return false;
	}
	return mistakes == 0;
}

struct index_entry {
	const struct live_group *l;
	uint32_t slot;
};

static bool is_indexed(void *context, const struct identity *identity) {
	const struct index_entry *index_entry = context;

	CHECK(live_index_find(index_entry->l->index, identity) == index_entry->slot);
	return true;
}

/* All objects are in the index, and all objects that others refer to exist. */
static void check_group(const struct live_group *l) {
	struct group_capacity used = {0};

	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		for (uint32_t i = 0; i < live_capacity(&l->capacity, o); i++) {
			struct index_entry index_entry = {l, i};

			if (l->blocks[o][i] == NULL) {
				CHECK(o == LIVE_MODEM || l->index->users[o][i] == 0);
				continue;
			}
			identity_each(o, l->blocks[o][i], is_indexed, &index_entry);
			live_index_count(&used, o, l->blocks[o][i], 1);
		}
	}
	CHECK(memcmp(&used, &l->index->used, sizeof(used)) == 0);
	CHECK(l->modems == used.modems);
}

static void apply_configuration(struct live_group *l, struct text part) {
	struct live_changes changes;
	struct service_group next;
	char why[LIVE_LINE] = "";

	if (!load(part, &next))
		return;
	if (live_difference(l, &next, &changes, why)) {
		live_changes_apply(l, &changes);
		live_changes_free(&changes);
		check_group(l);
		CHECK(live_difference(l, &next, &changes, why) && changes.count == 0);
	} else {
		CHECK(why[0] != '\0' && changes.count == 0);
	}
	service_group_free(&next);
}

/* An accepted object that is written and requested again changes nothing. */
static void check_written(const struct live_group *l, enum live_object object, uint32_t slot) {
	json_t *value = object_json(l, object, slot, true);
	struct live_changes changes;
	char why[LIVE_LINE];

	CHECK(live_request(l, LIVE_REPLACE, object, value, &changes, why));
	CHECK(changes.count == 0);
	json_decref(value);
}

static void apply_request(struct live_group *l, struct text part) {
	struct live_changes changes;
	char why[LIVE_LINE] = "";
	enum live_object object;
	json_t *value;

	if (part.size < 3)
		return;
	object = (unsigned char)part.bytes[1] % LIVE_OBJECTS;
	value = json_loadb(part.bytes + 2, part.size - 2, 0, NULL);
	if (value == NULL)
		return;
	if (live_request(l, (unsigned char)part.bytes[0] % (LIVE_REMOVE + 1), object, value,
			 &changes, why)) {
		CHECK(changes.count <= 1);
		live_changes_apply(l, &changes);
		check_group(l);
		if (changes.count == 1 && object != LIVE_GROUP &&
		    l->blocks[object][changes.list[0].slot] != NULL)
			check_written(l, object, changes.list[0].slot);
		live_changes_free(&changes);
	} else {
		CHECK(why[0] != '\0' && changes.count == 0);
	}
	json_decref(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct text remaining = {(const char *)data, size}, part = next_part(&remaining);
	struct service_group sg;
	struct group_capacity capacity;
	struct live_group l;

	if (!load(part, &sg))
		return 0;
	capacity = group_capacity(&sg);
	CHECK(live_group_create(&l, &sg, &capacity, (char[LIVE_LINE]){0}) == 0);
	service_group_free(&sg);
	check_group(&l);
	for (unsigned n = 0; remaining.size > 0; n++) {
		part = next_part(&remaining);
		if (n == 0)
			apply_configuration(&l, part);
		else
			apply_request(&l, part);
	}
	live_group_free(&l);
	return 0;
}
