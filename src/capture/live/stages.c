/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/live/stages.h"

#include <string.h>

#include "capture/live/record.h"
#include "downstream/downstream.h"
#include "upstream/upstream.h"

/* The kind of packets that leave a stage, where it differs from the kind that enters. */
struct stage_kind {
	const char *name;
	enum tap_kind out;
};

static const struct stage_kind down_kinds[] = {
	{"receive", TAP_DOWN_RAW},	     {"known_flows", TAP_DOWN_CACHED},
	{"modem_lookup", TAP_DOWN_MODEM},    {"classify", TAP_DOWN_FLOW},
	{"schedule", TAP_DOWN_CHANNEL},	     {"take_over", TAP_DOWN_CHANNEL},
	{"frame", TAP_DOWN_CLEAR},	     {"encrypt_submit", TAP_NOTHING},
	{"encrypt_collect", TAP_DOWN_FRAME}, {"depi", TAP_DEPI},
};

static const struct stage_kind up_kinds[] = {
	{"receive", TAP_OUTER},	       {"validate", TAP_PSP}, {"uepi", TAP_BURST},
	{"reassemble", TAP_SEGMENT},   {"extract", TAP_PDU},  {"decrypt_collect", TAP_PDU_CLEAR},
	{"verify_source", TAP_PDU_IP},
};

struct path {
	const struct stage_list *lists;
	unsigned list_count; /* lists whose bursts are packets */
	const struct stage_kind *kinds;
	unsigned kind_count;
};

static const struct path paths[] = {
	{ds_lists, DS_PIPELINES, down_kinds, RTE_DIM(down_kinds)},
	{us_lists, 1, up_kinds, RTE_DIM(up_kinds)},
};

static const struct path *path_of(enum direction direction) {
	return &paths[direction == DIRECTION_UP];
}

unsigned tap_list_first(enum direction direction, unsigned list) {
	const struct path *request = path_of(direction);
	unsigned first = 0;

	for (unsigned l = 0; l < list; l++)
		first += request->lists[l].count;
	return first;
}

unsigned tap_stage_count(enum direction direction) {
	return tap_list_first(direction, path_of(direction)->list_count);
}

static unsigned list_of(enum direction direction, unsigned stage) {
	unsigned list = 0;

	while (stage >= tap_list_first(direction, list + 1))
		list++;
	return list;
}

static const struct stage *stage_of(enum direction direction, unsigned stage) {
	unsigned list = list_of(direction, stage);

	return &path_of(direction)->lists[list].stages[stage - tap_list_first(direction, list)];
}

const char *tap_stage_name(enum direction direction, unsigned stage) {
	return stage_of(direction, stage)->name;
}

enum tap_part tap_stage_part(enum direction direction, unsigned stage) {
	if (direction == DIRECTION_UP)
		return TAP_UPSTREAM;
	return list_of(direction, stage) + 1 < DS_PIPELINES ? TAP_UPPER : TAP_LOWER;
}

static const struct stage_kind *kind_of(const struct path *request, const char *name) {
	for (unsigned i = 0; i < request->kind_count; i++) {
		if (strcmp(request->kinds[i].name, name) == 0)
			return &request->kinds[i];
	}
	return NULL;
}

/* The kind of packets that leave a stage, to the next stage or to a queue. */
static enum tap_kind kind_after(enum direction direction, unsigned stage, enum tap_kind in) {
	const struct stage_kind *k = kind_of(path_of(direction), tap_stage_name(direction, stage));

	return k != NULL ? k->out : in;
}

/* The kinds on both sides of a stage. `*left`: kind that the previous stage left; becomes the kind that this
 * stage leaves. */
static void stage_sides(enum direction direction, unsigned stage, enum tap_kind *left,
			enum tap_kind sides[2]) {
	const struct stage *s = stage_of(direction, stage);
	unsigned list = list_of(direction, stage);
	bool first = stage == tap_list_first(direction, list);
	bool last = stage + 1 == tap_list_first(direction, list + 1);
	bool by_queue = !first && stage_of(direction, stage - 1)->output_queue != 0;

	sides[TAP_IN] = first || (by_queue && (s->input_queue == 0 || s->pulls_input)) ? TAP_NOTHING
										       : *left;
	*left = kind_after(direction, stage, sides[TAP_IN]);
	sides[TAP_OUT] = last ? TAP_NOTHING : *left;
}

enum tap_kind tap_kind_at(enum direction direction, unsigned boundary) {
	enum tap_kind sides[2] = {TAP_NOTHING, TAP_NOTHING}, left = TAP_NOTHING;

	if (boundary / 2 >= tap_stage_count(direction))
		return TAP_NOTHING;
	for (unsigned s = 0; s <= boundary / 2; s++)
		stage_sides(direction, s, &left, sides);
	return sides[boundary % 2];
}

unsigned tap_stage_boundary(enum direction direction, unsigned stage) {
	unsigned out = tap_boundary(stage, TAP_OUT);

	return tap_kind_at(direction, out) != TAP_NOTHING ? out : tap_boundary(stage, TAP_IN);
}

unsigned tap_kind_knows(enum tap_kind kind) {
	static const uint8_t knows[TAP_KINDS] = {
		[TAP_DOWN_MODEM] = TAP_KNOWS_MODEM,
		[TAP_DOWN_FLOW] = TAP_KNOWS_MODEM | TAP_KNOWS_FLOW,
		[TAP_DOWN_CHANNEL] = TAP_KNOWS_MODEM | TAP_KNOWS_FLOW | TAP_KNOWS_SESSION,
		[TAP_DOWN_CLEAR] = TAP_KNOWS_MODEM | TAP_KNOWS_FLOW | TAP_KNOWS_SESSION,
		[TAP_DOWN_FRAME] = TAP_KNOWS_MODEM | TAP_KNOWS_FLOW | TAP_KNOWS_SESSION,
		[TAP_DEPI] = TAP_KNOWS_SESSION,
		[TAP_PSP] = TAP_KNOWS_SESSION,
		[TAP_BURST] = TAP_KNOWS_SESSION,
		[TAP_SEGMENT] = TAP_KNOWS_MODEM | TAP_KNOWS_FLOW | TAP_KNOWS_SESSION,
		[TAP_PDU] = TAP_KNOWS_MODEM | TAP_KNOWS_FLOW | TAP_KNOWS_SESSION,
		[TAP_PDU_CLEAR] = TAP_KNOWS_MODEM | TAP_KNOWS_FLOW | TAP_KNOWS_SESSION,
		[TAP_PDU_IP] = TAP_KNOWS_MODEM | TAP_KNOWS_FLOW | TAP_KNOWS_SESSION,
		[TAP_PART_FLOW] = TAP_KNOWS_MODEM | TAP_KNOWS_FLOW,
	};

	return knows[kind];
}

static bool stage_is(enum direction direction, uint32_t stage, const char *name) {
	return stage != TAP_NO_STAGE && strcmp(tap_stage_name(direction, stage), name) == 0;
}

static enum tap_kind down_dropped(uint32_t stage, enum drop_reason reason) {
	enum tap_kind in;

	if (reason == DROP_CPE_LIMIT)
		return TAP_DOWN_MODEM;
	if (reason == DROP_SERVICE_FLOW_REMOVED)
		return TAP_DOWN_FLOW;
	if (stage == TAP_NO_STAGE)
		return TAP_DOWN_RAW;
	if (stage_is(DIRECTION_DOWN, stage, "encrypt_collect"))
		return TAP_DOWN_FRAME;
	in = tap_kind_at(DIRECTION_DOWN, tap_boundary(stage, TAP_IN));
	return in != TAP_NOTHING ? in : TAP_DOWN_RAW;
}

static enum tap_kind frame_dropped(uint32_t stage, enum drop_reason reason) {
	switch (reason) {
	case DROP_NO_CONTROL_PORT:
	case DROP_CONTROL_FULL: return TAP_PDU_IP;
	case DROP_MANAGEMENT_CRC:
	case DROP_FRAME_CRC: return TAP_PDU_CLEAR;
	case DROP_PRIVACY_MISSING:
	case DROP_PRIVACY_SID:
	case DROP_KEY_UNKNOWN:
	case DROP_CRYPTO_FULL:
	case DROP_CRYPTO_LOST:
	case DROP_CRYPTO_ERROR: return TAP_PDU;
	case DROP_FRAME_HCS:
	case DROP_FRAME_RESERVED:
	case DROP_FRAME_EHDR:
	case DROP_FRAME_LENGTH:
	case DROP_FRAME_NO_BUFFER:
	case DROP_NOT_RANGING: break;
	case DROP_FRAME_RUNT:
	case DROP_FRAME_TOO_LONG:
		if (stage_is(DIRECTION_UP, stage, "verify_source"))
			return TAP_PDU_IP;
		break;
	default: return stage_is(DIRECTION_UP, stage, "verify_source") ? TAP_PDU_IP : TAP_PART_FLOW;
	}
	/* with its segment, or with the joined frame */
	return stage_is(DIRECTION_UP, stage, "extract") ? TAP_SEGMENT : TAP_PART_FLOW;
}

static enum tap_kind up_dropped(uint32_t stage, enum drop_reason reason) {
	switch (drop_unit(reason)) {
	case UNIT_PACKET: return stage_is(DIRECTION_UP, stage, "validate") ? TAP_OUTER : TAP_PSP;
	case UNIT_BURST: return reason == DROP_UNKNOWN_SID ? TAP_BURST : TAP_PART;
	case UNIT_SEGMENT:
		switch (reason) {
		case DROP_SEGMENT_TRUNCATED:
		case DROP_SEGMENT_HCS:
		case DROP_SEGMENT_CLUSTER:
		case DROP_SEGMENT_POINTER: return TAP_BURST;
		default: return TAP_SEGMENT;
		}
	case UNIT_FRAME:
	case UNITS: break;
	}
	return frame_dropped(stage, reason);
}

enum tap_kind tap_kind_dropped(enum direction direction, uint32_t stage, enum drop_reason reason) {
	if (direction == DIRECTION_PORT)
		return TAP_PORT_FRAME;
	return direction == DIRECTION_UP ? up_dropped(stage, reason) : down_dropped(stage, reason);
}
