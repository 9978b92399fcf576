/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/map.h"

#define COUNT_AT 2
#define ALLOC_START_AT 4
#define ACK_TIME_AT 8
#define BACK_OFF_AT 12
#define CATEGORY_MASK 0x0f
#define RESERVED_5 0x70
#define COUNT_SHIFT_5 7 /* of the 9-bit count in the two bytes at COUNT_AT */
#define SID_SHIFT 18
#define IUC_SHIFT 14
#define IUC_MAX 15

static unsigned max_elements(uint8_t version) {
	return version == 1 ? MAP_ELEMENTS_1 : MAP_ELEMENTS_5;
}

static bool fits(const struct map *map) {
	if (map->version != 1 && map->version != 5)
		return false;
	if (map->ranging_start > MAP_BACK_OFF_MAX || map->ranging_end > MAP_BACK_OFF_MAX ||
	    map->data_start > MAP_BACK_OFF_MAX || map->data_end > MAP_BACK_OFF_MAX)
		return false;
	return map->count <= max_elements(map->version);
}

size_t map_write(uint8_t *body, size_t size, const struct map *map) {
	if (!fits(map))
		return 0;

	size_t used = MAP_HEADER + MAP_ELEMENT * (size_t)map->count;
	uint8_t *at = body + MAP_HEADER;

	if (used > size)
		return 0;
	body[0] = map->channel;
	body[1] = map->ucd_count;
	store_be16(body + COUNT_AT,
		   (uint16_t)(map->count << (map->version == 1 ? 8 : COUNT_SHIFT_5)));
	store_be32(body + ALLOC_START_AT, map->alloc_start);
	store_be32(body + ACK_TIME_AT, map->ack_time);
	body[BACK_OFF_AT] = map->ranging_start;
	body[BACK_OFF_AT + 1] = map->ranging_end;
	body[BACK_OFF_AT + 2] = map->data_start;
	body[BACK_OFF_AT + 3] = map->data_end;
	for (unsigned i = 0; i < map->count; i++, at += MAP_ELEMENT) {
		const struct map_element *e = &map->elements[i];

		if (e->sid > MAP_SID_MAX || e->iuc > IUC_MAX || e->offset > MAP_OFFSET_MAX)
			return 0;
		store_be32(at, (uint32_t)e->sid << SID_SHIFT | (uint32_t)e->iuc << IUC_SHIFT |
				       e->offset);
	}
	return used;
}

static enum map_verdict read_count(struct map *out, const uint8_t *body) {
	if (out->version == 1) {
		out->count = body[COUNT_AT];
		return body[COUNT_AT + 1] != 0 ? MAP_RESERVED : MAP_OK;
	}
	out->count = load_be16(body + COUNT_AT) >> COUNT_SHIFT_5;
	if (body[COUNT_AT + 1] & RESERVED_5)
		return MAP_RESERVED;
	switch (body[COUNT_AT + 1] & CATEGORY_MASK) {
	case 0: return MAP_OK;
	case 1: return MAP_PROBE;
	}
	return MAP_BAD_CATEGORY;
}

/* Parses the bytes before the elements; MAP_OK says that these are complete. */
static enum map_verdict read_header(struct map *out, const uint8_t *body, size_t size) {
	if (size < ACK_TIME_AT)
		return MAP_TRUNCATED;
	out->channel = body[0];
	out->ucd_count = body[1];
	out->alloc_start = load_be32(body + ALLOC_START_AT);

	enum map_verdict verdict = read_count(out, body);

	if (verdict != MAP_OK)
		return verdict;
	if (out->count > max_elements(out->version))
		return MAP_TOO_MANY;

	size_t wanted = MAP_HEADER + MAP_ELEMENT * (size_t)out->count;

	if (size < wanted)
		return MAP_TRUNCATED;
	return size > wanted ? MAP_TRAILING : MAP_OK;
}

enum map_verdict map_read(struct map *out, uint8_t version, const uint8_t *body, size_t size) {
	if (version != 1 && version != 5)
		return MAP_BAD_VERSION;
	out->version = version;

	enum map_verdict verdict = read_header(out, body, size);

	if (verdict != MAP_OK)
		return verdict;
	out->ack_time = load_be32(body + ACK_TIME_AT);
	out->ranging_start = body[BACK_OFF_AT];
	out->ranging_end = body[BACK_OFF_AT + 1];
	out->data_start = body[BACK_OFF_AT + 2];
	out->data_end = body[BACK_OFF_AT + 3];
	if (!fits(out))
		return MAP_BAD_BACK_OFF;
	for (unsigned i = 0; i < out->count; i++) {
		uint32_t bits = load_be32(body + MAP_HEADER + MAP_ELEMENT * i);

		out->elements[i] = (struct map_element){
			.sid = (uint16_t)(bits >> SID_SHIFT),
			.offset = bits & MAP_OFFSET_MAX,
			.iuc = bits >> IUC_SHIFT & IUC_MAX,
		};
	}
	return MAP_OK;
}

/* The index of the null element; `count` if there is none. */
static unsigned null_find(const struct map *map) {
	unsigned i = 0;

	while (i < map->count && map->elements[i].iuc != MAP_NULL)
		i++;
	return i;
}

uint32_t map_minislots(const struct map *map) {
	unsigned end = null_find(map);

	return end < map->count ? map->elements[end].offset : 0;
}

/* Whether an element with this IUC describes minislots. */
static bool has_minislots(uint8_t iuc) {
	return (iuc >= MAP_REQUEST && iuc <= MAP_LONG) || map_iuc_is_data(iuc);
}

static enum map_verdict minislots_check(const struct map *map, unsigned end) {
	for (unsigned i = 0; i <= end; i++) {
		const struct map_element *e = &map->elements[i];

		if (i < end && !has_minislots(e->iuc))
			return MAP_BAD_IUC;
		if (i == 0 && e->offset != 0)
			return MAP_BAD_START;
		if (i > 0 && e->offset <= e[-1].offset)
			return MAP_BAD_ORDER;
	}
	return MAP_OK;
}

static enum map_verdict behind_check(const struct map *map, unsigned end) {
	for (unsigned i = end + 1; i < map->count; i++) {
		const struct map_element *e = &map->elements[i];

		if (e->iuc == MAP_NULL)
			return MAP_BAD_NULL;
		if (e->offset != map->elements[end].offset ||
		    (e->iuc != MAP_ACK && !map_iuc_is_data(e->iuc)))
			return MAP_BAD_BEHIND;
	}
	return MAP_OK;
}

enum map_verdict map_check(const struct map *map) {
	if (map->count > max_elements(map->version))
		return MAP_TOO_MANY;
	if (map->ranging_end < map->ranging_start || map->data_end < map->data_start)
		return MAP_BAD_WINDOW;

	unsigned end = null_find(map);
	enum map_verdict verdict;

	if (end == map->count)
		return MAP_NO_NULL;
	if (map->elements[end].sid != 0)
		return MAP_BAD_NULL;
	verdict = minislots_check(map, end);
	if (verdict != MAP_OK)
		return verdict;
	if (map->elements[end].offset > (map->version == 1 ? MAP_MINISLOTS_1 : MAP_MINISLOTS_5))
		return MAP_TOO_LONG;
	return behind_check(map, end);
}
