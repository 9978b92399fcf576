/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes MAC management messages. The first byte of the input selects what follows: a DOCSIS frame,
 * a message, or the body of a MAP or UCD of one of the versions and types. */
#include <string.h>

#include "fuzz.h"
#include "wire/management.h"
#include "wire/map.h"
#include "wire/ucd.h"

/* A valid MAP describes minislots in order, and none beyond its end. */
static void check_rules(const struct map *map) {
	uint32_t minislots = map_minislots(map), next = 0;
	unsigned i = 0;

	CHECK(map->version == 5 || minislots <= MAP_MINISLOTS_1);
	for (; map->elements[i].iuc != MAP_NULL; i++) {
		CHECK(map->elements[i].offset == next || i > 0);
		CHECK(map->elements[i].offset >= next && map->elements[i].offset < minislots);
		next = map->elements[i].offset + 1u;
	}
	for (; i < map->count; i++)
		CHECK(map->elements[i].offset == minislots);
}

static void check_map(uint8_t version, const uint8_t *body, size_t size) {
	static struct map map;
	uint8_t written[MAP_BODY_MAX];
	enum map_verdict verdict = map_read(&map, version, body, size);

	CHECK(verdict < MAP_NO_NULL);
	if (verdict != MAP_OK)
		return;
	CHECK(map_write(written, sizeof(written), &map) == size);
	CHECK(memcmp(written, body, size) == 0);
	CHECK(map_write(written, size - 1, &map) == 0);
	CHECK(map_minislots(&map) <= MAP_OFFSET_MAX);
	verdict = map_check(&map);
	CHECK(verdict == MAP_OK || verdict >= MAP_NO_NULL);
	if (verdict == MAP_OK)
		check_rules(&map);
}

/* Unknown elements are not written, so the second time there are none. */
static void check_ucd(uint8_t type, const uint8_t *body, size_t size) {
	static struct ucd first, second;
	static uint8_t once[65536 + 512], twice[65536 + 512];
	enum ucd_verdict verdict = ucd_read(&first, type, body, size);

	CHECK(verdict < UCD_MISSING);
	if (verdict != UCD_OK)
		return;

	size_t written = ucd_write(once, sizeof(once), &first);

	CHECK(written >= UCD_HEADER && written <= size);
	CHECK(first.unknown > 0 || written + 2 * UCD_BANDS_MAX * 2 >= size);
	CHECK(ucd_read(&second, type, once, written) == UCD_OK && second.unknown == 0);
	CHECK(ucd_write(twice, sizeof(twice), &second) == written);
	CHECK(memcmp(once, twice, written) == 0 && memcmp(once, body, UCD_HEADER) == 0);
	CHECK(second.has == first.has && second.burst_count == first.burst_count);
	CHECK(second.excluded_count == first.excluded_count);
	CHECK(ucd_check(&second) == ucd_check(&first));
}

static void check_message(const uint8_t *bytes, size_t size, bool frame) {
	uint8_t written[MANAGEMENT_FRAME_MAX];
	struct management m;

	if ((frame ? management_frame_read(bytes, size, &m) : management_read(bytes, size, &m)) !=
	    MANAGEMENT_OK)
		return;
	touch(m.body, m.body_size);
	CHECK(m.body_size <= MANAGEMENT_BODY_MAX);
	CHECK((frame ? management_frame_write(&m, written, size)
		     : management_write(&m, written, size)) == size);
	CHECK(memcmp(written, bytes, size) == 0);
	if (m.type == MANAGEMENT_MAP)
		check_map(m.version, m.body, m.body_size);
	else
		check_ucd(m.type, m.body, m.body_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static const uint8_t types[] = {2, 29, 35, 51};

	if (size == 0 || size > 65536)
		return 0;
	switch (data[0] & 7) {
	case 0: check_message(data + 1, size - 1, true); break;
	case 1: check_message(data + 1, size - 1, false); break;
	case 2: check_map(1, data + 1, size - 1); break;
	case 3: check_map(5, data + 1, size - 1); break;
	default: check_ucd(types[data[0] & 3], data + 1, size - 1);
	}
	return 0;
}
