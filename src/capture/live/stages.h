/* SPDX-License-Identifier: BSD-3-Clause */
/* The boundaries of the stages of both directions, and what is known about packets there. A stage
 * that stages.c does not list does not change the kind of packets. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/counters.h"
#include "pipeline/pipeline.h"

#define TAP_STAGES 32 /* per direction, at most */
#define TAP_BOUNDARIES (2 * TAP_STAGES)

/* A unit that one worker runs. */
enum tap_part { TAP_UPPER, TAP_LOWER, TAP_UPSTREAM, TAP_GROUP_PARTS, TAP_PORT = TAP_GROUP_PARTS };

/* The format of a packet, and its valid metadata fields. */
enum tap_kind {
	TAP_NOTHING, /* no packets there */
	/* downstream, Ethernet frames */
	TAP_DOWN_RAW,
	TAP_DOWN_CACHED, /* modem and flow, where the flow cache knows them */
	TAP_DOWN_MODEM, /* modem, and flow where the flow cache knows it */
	TAP_DOWN_FLOW, /* modem and flow */
	TAP_DOWN_CHANNEL, /* modem, flow and channel */
	TAP_DOWN_CLEAR, /* DOCSIS frames with space for their CRC */
	TAP_DOWN_FRAME, /* DOCSIS frames as sent */
	TAP_DEPI,
	/* upstream */
	TAP_OUTER, /* Ethernet frames from the R-PHY device */
	TAP_PSP, /* the same from the end of the session ID on; session */
	TAP_BURST, /* channel */
	TAP_SEGMENT, /* flow and channel */
	TAP_PDU, /* encrypted, without MAC header; flow and channel */
	TAP_PDU_CLEAR, /* with Ethernet CRC */
	TAP_PDU_IP, /* without Ethernet CRC */
	/* further kinds that are dropped upstream */
	TAP_PART, /* part of a burst; nothing known */
	TAP_PART_FLOW, /* part of a frame; flow */
	TAP_PORT_FRAME, /* from a shared port */
	TAP_KINDS,
};

/* The stages of a direction (DIRECTION_DOWN, DIRECTION_UP), numbered over its lists in packet order. */
unsigned tap_stage_count(enum direction direction);
const char *tap_stage_name(enum direction direction, unsigned stage);

/* The number of a list's first stage; the part that runs a stage. */
unsigned tap_list_first(enum direction direction, unsigned list);
enum tap_part tap_stage_part(enum direction direction, unsigned stage);

/* The kind of packets at a boundary; TAP_NOTHING: no such boundary. */
enum tap_kind tap_kind_at(enum direction direction, unsigned boundary);

/* The boundary that a stage name selects: its output, or its input where nothing comes out. */
unsigned tap_stage_boundary(enum direction direction, unsigned stage);

/* Bits of the fields that all packets of a kind have. */
unsigned tap_kind_knows(enum tap_kind kind);

/* The kind of a packet that a stage drops. `stage` is TAP_NO_STAGE for drops between two rounds. */
enum tap_kind tap_kind_dropped(enum direction direction, uint32_t stage, enum drop_reason reason);
