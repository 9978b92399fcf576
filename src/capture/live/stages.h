/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The boundaries of both directions' stages: which there are, and what is known of the packets there. A stage
 * that stages.c says nothing of leaves them as they were.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/counters.h"
#include "pipeline/pipeline.h"

#define TAP_STAGES 32 /* of a direction, at most */
#define TAP_BOUNDARIES (2 * TAP_STAGES)

/* What runs in one worker. */
enum tap_part { TAP_UPPER, TAP_LOWER, TAP_UPSTREAM, TAP_GROUP_PARTS, TAP_PORT = TAP_GROUP_PARTS };

/* What a packet is, and carries in its fields. */
enum tap_kind {
	TAP_NOTHING, /* no packet is there */
	/* downstream: Ethernet frames, */
	TAP_DOWN_RAW,
	TAP_DOWN_CACHED, /* with modem and flow where both are known already */
	TAP_DOWN_MODEM, /* with modem, and with flow where that is known already */
	TAP_DOWN_FLOW, /* with modem and flow */
	TAP_DOWN_CHANNEL, /* and channel */
	TAP_DOWN_CLEAR, /* DOCSIS frames, with room for their CRC */
	TAP_DOWN_FRAME, /* DOCSIS frames as they are sent */
	TAP_DEPI,
	/* upstream */
	TAP_OUTER, /* Ethernet frames from the R-PHY device */
	TAP_PSP, /* the same, cut to what is behind the session ID; with session */
	TAP_BURST, /* with channel */
	TAP_SEGMENT, /* with flow, and channel */
	TAP_PDU, /* encrypted, without its MAC header; with flow and channel */
	TAP_PDU_CLEAR, /* with its Ethernet CRC */
	TAP_PDU_IP, /* without */
	/* what is dropped upstream beyond that */
	TAP_PART, /* of a burst; nothing is known */
	TAP_PART_FLOW, /* of a frame; with flow */
	TAP_PORT_FRAME, /* of a shared port */
	TAP_KINDS,
};

/* The stages of a direction (DIRECTION_DOWN, DIRECTION_UP), numbered over its lists in the order of travel. */
unsigned tap_stage_count(enum direction direction);
const char *tap_stage_name(enum direction direction, unsigned stage);

/* The number of a list's first stage; its part. */
unsigned tap_list_first(enum direction direction, unsigned list);
enum tap_part tap_stage_part(enum direction direction, unsigned stage);

/* What passes there; TAP_NOTHING: there is no such boundary. */
enum tap_kind tap_kind_at(enum direction direction, unsigned boundary);

/* The boundary that a stage's name alone stands for: what comes out of it, or where it ends all that goes in, that. */
unsigned tap_stage_boundary(enum direction direction, unsigned stage);

/* What is known of all packets of a kind: bits. */
unsigned tap_kind_knows(enum tap_kind kind);

/* What a packet is that a stage drops; `stage` is TAP_NO_STAGE for what ends between two rounds. */
enum tap_kind tap_kind_dropped(enum direction direction, uint32_t stage, enum drop_reason reason);
