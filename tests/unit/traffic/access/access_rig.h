/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modems on channels of 10 minislots a frame, and MAPs written by hand. A MAP is heard HEARD samples before its
 * first minislot, which is more than a modem needs.
 */
#pragma once

#include "test.h"

#include <string.h>

#include "access/access.h"

#define FRAME 27648 /* samples */
#define IN_FRAME 10 /* minislots */
#define MINISLOT 48 /* bytes */
#define HEADER 8 /* of a segment */
#define PROPAGATION 8192
#define PROCESSING 100000
#define BURST 27648
#define NEEDED (2 * PROPAGATION + PROCESSING + BURST) /* from a MAP heard to its first minislot */
#define HEARD (8ull * FRAME)
#define DATA MAP_PROFILE_13

struct access_rig {
	struct access *access;
	struct map map; /* the next one */
	uint32_t channels;
	uint64_t now;
	struct access_event events[4096];
	unsigned count;
};

/* `flows` modems with a flow each, with SID 100 + its number on all channels. */
void rig_open(struct access_rig *r, uint32_t channels, uint32_t flows);
void rig_close(struct access_rig *r);

/* Other settings of a flow, or of its modem. */
void rig_flow(struct access_rig *r, uint32_t flow, struct access_flow settings);
void rig_modem(struct access_rig *r, uint32_t modem, struct access_modem settings);
struct access_modem rig_modem_settings(void);

/* A MAP that begins at a frame, acknowledges up to another, and has a null element behind `minislots`. */
void rig_map(struct access_rig *r, uint32_t frame, uint32_t ack_frame);
void rig_element(struct access_rig *r, uint16_t sid, uint8_t iuc, uint16_t minislots);
void rig_end(struct access_rig *r);
void rig_pending(struct access_rig *r, uint16_t sid);

/* It is heard HEARD before its first minislot, or at the time given. */
void rig_send(struct access_rig *r, uint16_t channel);
void rig_send_at(struct access_rig *r, uint16_t channel, uint64_t heard);

/* A MAP with one grant for flow 0. */
void rig_send_grant(struct access_rig *r, uint32_t frame, uint16_t minislots);

/* When a frame begins at the CMTS. */
static inline uint64_t rig_at(uint32_t frame) {
	return (uint64_t)frame * FRAME;
}

struct access_counts rig_counts(const struct access_rig *r);

/* All events up to a time, into `events`; returns how many. */
unsigned rig_run(struct access_rig *r, uint64_t until);

/* Whether all bytes are where the counters say. */
void rig_balance(const struct access_rig *r);
