/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group in service that becomes another one, and requests: parts with lines of "%%%" between them. The first is what
 * is in service, the second what it is to be, all others are requests: a digit for the verb, one for the object,
 * and its JSON. Whatever is taken is sound, and is what was asked for.
 */
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

#define MOST_MODEMS 500 /* places, which cost time */

static bool load(struct text part, struct service_group *sg) {
	char *said = NULL;
	size_t size;
	FILE *errors = open_memstream(&said, &size);
	int mistakes;

	CHECK(errors != NULL);
	mistakes = service_group_load_text("live.yaml", part.size > 0 ? part.bytes : "", part.size,
					   sg, errors);
	fclose(errors);
	free(said);
	if (mistakes == 0 && (sg->modem_count > MOST_MODEMS || sg->max_modems > MOST_MODEMS)) {
		service_group_free(sg);
		return false;
	}
	return mistakes == 0;
}

struct seen {
	const struct live_group *l;
	uint32_t place;
};

static bool is_indexed(void *context, const struct identity *identity) {
	const struct seen *seen = context;

	CHECK(live_index_find(seen->l->index, identity) == seen->place);
	return true;
}

/* All that is there is found where it is, and all that is referred to is there. */
static void check_group(const struct live_group *l) {
	struct group_capacity used = {0};

	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		for (uint32_t i = 0; i < live_capacity(&l->capacity, o); i++) {
			struct seen seen = {l, i};

			if (l->blocks[o][i] == NULL) {
				CHECK(o == LIVE_MODEM || l->index->users[o][i] == 0);
				continue;
			}
			identity_each(o, l->blocks[o][i], is_indexed, &seen);
			live_index_count(&used, o, l->blocks[o][i], 1);
		}
	}
	CHECK(memcmp(&used, &l->index->used, sizeof(used)) == 0);
	CHECK(l->modems == used.modems);
}

static void become(struct live_group *l, struct text part) {
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

/* What was taken is written as what is taken for the same. */
static void check_written(const struct live_group *l, enum live_object object, uint32_t place) {
	json_t *value = object_json(l, object, place, true);
	struct live_changes changes;
	char why[LIVE_LINE];

	CHECK(live_request(l, LIVE_REPLACE, object, value, &changes, why));
	CHECK(changes.count == 0);
	json_decref(value);
}

static void ask(struct live_group *l, struct text part) {
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
	struct text rest = {(const char *)data, size}, part = next_part(&rest);
	struct service_group sg;
	struct group_capacity capacity;
	struct live_group l;

	if (!load(part, &sg))
		return 0;
	capacity = group_capacity(&sg);
	CHECK(live_group_create(&l, &sg, &capacity, (char[LIVE_LINE]){0}) == 0);
	service_group_free(&sg);
	check_group(&l);
	for (unsigned n = 0; rest.size > 0; n++) {
		part = next_part(&rest);
		if (n == 0)
			become(&l, part);
		else
			ask(&l, part);
	}
	live_group_free(&l);
	return 0;
}
