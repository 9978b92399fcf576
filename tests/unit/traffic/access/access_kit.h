/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modems on channels of 10 minislots a frame, and MAPs written by hand. A MAP is heard HEARD samples before its
 * first minislot, which is more than a modem needs.
 */
#pragma once

#include "test.h"

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
#define FOR_ALL MAP_SID_BROADCAST, MAP_REQUEST /* a region for contention */

struct access_kit {
	struct access *access;
	struct map map; /* the next one */
	uint32_t channels, flows;
	uint64_t now;
	struct access_event events[4096];
	unsigned count;
};
extern struct access_kit kit;

/* Set-up and tear-down of each test: one channel, and one modem with a flow. */
int kit_begin(void **state);
int kit_finish(void **state);

/* Ends what was before. `flows` modems with a flow each, with SID 100 + its number on all channels. */
void kit_restart(uint32_t channels, uint32_t flows);

/* Other settings of a flow, or of its modem, whose times are those above unless they are given. */
void kit_flow(uint32_t flow, struct access_flow settings);
void kit_modem(uint32_t modem, struct access_modem settings);

/* An element of a MAP. One without minislots is a pending grant, which stands behind the null element. */
struct kit_part {
	uint16_t sid;
	uint8_t iuc;
	uint16_t minislots;
};

#define KIT_COUNT(type, ...) (sizeof((const type[]){__VA_ARGS__}) / sizeof(type))

/* kit_map(frame, ack_frame, {sid, iuc, minislots}, ..): a MAP from a frame on that acknowledges up to another. */
#define kit_map(frame, ack_frame, ...)                                       \
	kit_map_of(frame, ack_frame, (const struct kit_part[]){__VA_ARGS__}, \
		   KIT_COUNT(struct kit_part, __VA_ARGS__))
void kit_map_of(uint32_t frame, uint32_t ack_frame, const struct kit_part *parts, size_t count);

/* It is heard HEARD before its first minislot, or at the time given. */
void kit_send(uint16_t channel);
void kit_send_at(uint16_t channel, uint64_t heard);

/* The same as one: a MAP that is heard on a channel. */
#define kit_hear(channel, ...) (kit_map(__VA_ARGS__), kit_send(channel))

/* A region for contention with a window from 2^start to 2^end opportunities. */
void kit_window(uint16_t channel, uint8_t start, uint8_t end, uint32_t frame, uint32_t ack_frame,
		uint16_t minislots);

/* So many bytes come to flow 0, which makes a request when it is polled in frame 20; or to all flows. */
void kit_ask(uint32_t bytes, uint32_t request);
void kit_queue_all(uint32_t bytes);

/* When a frame begins at the CMTS. */
static inline uint64_t kit_at(uint32_t frame) {
	return (uint64_t)frame * FRAME;
}

struct access_counts kit_counts(void);

/* All events up to a time, into `events`; returns how many. */
unsigned kit_run(uint64_t until);

/* kit_comes(frame, {.kind, .bytes, .request}, ..): up to a frame these events come, and no other. */
#define kit_comes(frame, ...)                                                       \
	kit_check_events(kit_at(frame), (const struct access_event[]){__VA_ARGS__}, \
			 KIT_COUNT(struct access_event, __VA_ARGS__))
void kit_check_events(uint64_t until, const struct access_event *expected, size_t count);

/* Whether all bytes are where the counters say. */
void kit_balance(void);
