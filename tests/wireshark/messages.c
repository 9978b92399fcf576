/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes and reads MAPs and UCDs with src/wire, for Python (messages.py). The functions build a message from
 * plain numbers and return the size of its DOCSIS frame, 0 when src/wire rejects it.
 */
#include "wire/management.h"
#include "wire/map.h"
#include "wire/ucd.h"

/* Parts of a UCD, and the numbers of each. */
enum part {
	FIELD, /* field, value */
	BURST, /* TLV type, IUC */
	BURST_FIELD, /* field, value; of the last burst */
	RUN, /* modulation, pilots, minislots; of the last burst */
	EXCLUDED, /* first, last */
	UNUSED, /* first, last */
	SNAPSHOT, /* timestamp, division, minislot */
	PREAMBLE, /* next byte of the preamble */
};

static size_t write_frame(uint8_t *out, size_t size, unsigned version, unsigned type,
			  const uint8_t *body, size_t body_size) {
	struct management m = {
		.da = {0x01, 0xe0, 0x2f, 0x00, 0x00, 0x01},
		.sa = {0x02, 0x00, 0x00, 0x00, 0x00, 0x01},
		.version = (uint8_t)version,
		.type = (uint8_t)type,
		.body = body,
		.body_size = body_size,
	};

	return body_size > 0 ? management_frame_write(&m, out, size) : 0;
}

/* `head`: channel, UCD count, alloc start, ack time, four back-offs. `elements`: SID, IUC, offset each. */
size_t map_frame(uint8_t *out, size_t size, unsigned version, const uint32_t *head,
		 const uint32_t *elements, unsigned count);
size_t map_frame(uint8_t *out, size_t size, unsigned version, const uint32_t *head,
		 const uint32_t *elements, unsigned count) {
	static struct map map;
	uint8_t body[MAP_BODY_MAX];

	map.version = (uint8_t)version;
	map.channel = (uint8_t)head[0];
	map.ucd_count = (uint8_t)head[1];
	map.alloc_start = head[2];
	map.ack_time = head[3];
	map.ranging_start = (uint8_t)head[4];
	map.ranging_end = (uint8_t)head[5];
	map.data_start = (uint8_t)head[6];
	map.data_end = (uint8_t)head[7];
	map.count = (uint16_t)count;
	for (unsigned i = 0; i < count && i < MAP_ELEMENTS_5; i++)
		map.elements[i] = (struct map_element){
			.sid = (uint16_t)elements[3 * i],
			.iuc = (uint8_t)elements[3 * i + 1],
			.offset = (uint16_t)elements[3 * i + 2],
		};
	if (map_check(&map) != MAP_OK)
		return 0;
	return write_frame(out, size, version, MANAGEMENT_MAP, body,
			   map_write(body, sizeof(body), &map));
}

/* Reads the body of a MAP and checks it. Returns an enum map_verdict. */
int map_verdict(unsigned version, const uint8_t *body, size_t size);
int map_verdict(unsigned version, const uint8_t *body, size_t size) {
	static struct map map;
	enum map_verdict verdict = map_read(&map, (uint8_t)version, body, size);

	return (int)(verdict == MAP_OK ? map_check(&map) : verdict);
}

/*
 * The caller keeps within UCD_BURSTS_MAX, UCD_PROFILE_MAX, UCD_BANDS_MAX and UCD_PREAMBLE_MAX: nothing is checked
 * here.
 */
static void add_part(struct ucd *ucd, const uint32_t *part) {
	struct ucd_burst *burst = &ucd->bursts[ucd->burst_count > 0 ? ucd->burst_count - 1 : 0];

	switch (part[0]) {
	case FIELD: ucd_set(ucd, part[1], part[2]); break;
	case BURST:
		ucd->bursts[ucd->burst_count++] =
			(struct ucd_burst){.tlv = (uint8_t)part[1], .iuc = (uint8_t)part[2]};
		break;
	case BURST_FIELD: ucd_burst_set(burst, part[1], (uint16_t)part[2]); break;
	case RUN:
		burst->profile[burst->runs++] =
			(struct ucd_run){(uint8_t)part[1], (uint8_t)part[2], (uint16_t)part[3]};
		break;
	case EXCLUDED:
		ucd->excluded[ucd->excluded_count++] =
			(struct ucd_band){(uint16_t)part[1], (uint16_t)part[2]};
		break;
	case UNUSED:
		ucd->unused[ucd->unused_count++] =
			(struct ucd_band){(uint16_t)part[1], (uint16_t)part[2]};
		break;
	case SNAPSHOT:
		ucd->has |= UINT64_C(1) << UCD_SNAPSHOT;
		ucd->snapshot_time = part[1];
		ucd->snapshot_division = (uint8_t)part[2];
		ucd->snapshot_minislot = part[3];
		break;
	case PREAMBLE: ucd->preamble[ucd->preamble_size++] = (uint8_t)part[1]; break;
	}
}

/* `head`: type, channel, count, ticks per minislot, downstream. `parts`: enum part, three numbers each. */
size_t ucd_frame(uint8_t *out, size_t size, const uint32_t *head, const uint32_t *parts,
		 unsigned count);
size_t ucd_frame(uint8_t *out, size_t size, const uint32_t *head, const uint32_t *parts,
		 unsigned count) {
	static struct ucd ucd;
	uint8_t body[MANAGEMENT_BODY_MAX];

	ucd = (struct ucd){
		.type = (uint8_t)head[0],
		.channel = (uint8_t)head[1],
		.count = (uint8_t)head[2],
		.minislot_ticks = (uint8_t)head[3],
		.downstream = (uint8_t)head[4],
	};
	for (unsigned i = 0; i < count; i++)
		add_part(&ucd, parts + 4 * i);
	if (ucd_check(&ucd) != UCD_OK)
		return 0;
	return write_frame(out, size, ucd_version(ucd.type), ucd.type, body,
			   ucd_write(body, sizeof(body), &ucd));
}
