/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated modems (access.h) and MAPs from the test. Times are in samples of 204.8 MHz. By default
 * a MAP arrives MAP_LEAD samples before its first minislot, which is early enough. */
#pragma once

#include "test.h"

#include "access/access.h"

#define FRAME 27648 /* samples */
#define MINISLOTS 10 /* minislots per frame */
#define MINISLOT_BYTES 48
#define HEADER 8 /* bytes of a segment header */
#define PROPAGATION 8192
#define MAP_PROCESSING 100000
#define BURST_PROCESSING 27648
#define MAP_LEAD_MIN (2 * PROPAGATION + MAP_PROCESSING + BURST_PROCESSING)
#define MAP_LEAD (8ull * FRAME) /* default time from a MAP to its first minislot */
#define DATA MAP_PROFILE_13
#define CONTENTION MAP_SID_BROADCAST, MAP_REQUEST /* a contention region */

struct access_kit {
	struct access *access;
	struct map map; /* to be sent */
	uint32_t channels, flows;
	uint64_t now;
	struct access_event events[4096];
	unsigned count;
};
extern struct access_kit kit;

/* Fixtures of a test: one channel, one modem with one flow. */
int kit_set_up(void **state);
int kit_tear_down(void **state);

/* Restarts with `flows` modems of one flow each. Flow f has SID 100 + f on all channels. */
void kit_restart(uint32_t channels, uint32_t flows);

/* Change settings of a flow or modem. Settings of 0 get the values above. */
void kit_set_flow(uint32_t flow, struct access_flow settings);
void kit_set_modem(uint32_t modem, struct access_modem settings);

/* An element of a MAP. Without minislots it is a pending grant, which follows the null element. */
struct kit_element {
	uint16_t sid;
	uint8_t iuc;
	uint16_t minislots;
};

#define KIT_COUNT(type, ...) (sizeof((const type[]){__VA_ARGS__}) / sizeof(type))

/* kit_map(frame, ack_frame, {sid, iuc, minislots}, ..): builds a MAP by its start and ACK time. */
#define kit_map(frame, ack_frame, ...)                                             \
	kit_build_map(frame, ack_frame, (const struct kit_element[]){__VA_ARGS__}, \
		      KIT_COUNT(struct kit_element, __VA_ARGS__))
void kit_build_map(uint32_t frame, uint32_t ack_frame, const struct kit_element *list,
		   size_t count);

/* Send the MAP, so that it arrives MAP_LEAD before its first minislot, or at time `received`. */
void kit_send(uint16_t channel);
void kit_send_at(uint16_t channel, uint64_t received);

#define kit_send_map(channel, ...) (kit_map(__VA_ARGS__), kit_send(channel))

/* Sends a MAP with a contention region whose back-off window is 2^start to 2^end opportunities. */
void kit_send_contention(uint16_t channel, uint8_t start, uint8_t end, uint32_t frame,
			 uint32_t ack_frame, uint16_t minislots);

/* kit_poll() queues bytes for flow 0, polls it in frame 20, and asserts that it requests `request` bytes.
 * kit_queue_all() queues bytes for each flow. */
void kit_poll(uint32_t bytes, uint32_t request);
void kit_queue_all(uint32_t bytes);

/* The time at which a frame begins at the CMTS. */
static inline uint64_t frame_time(uint32_t frame) {
	return (uint64_t)frame * FRAME;
}

struct access_counts kit_counts(void);

/* Collects all events up to a time in `events`. Returns their number. */
unsigned kit_run(uint64_t until);

/* kit_expect(frame, {.kind, .bytes, .request}, ..): asserts the events up to a frame. */
#define kit_expect(frame, ...)                                                           \
	kit_expect_events(frame_time(frame), (const struct access_event[]){__VA_ARGS__}, \
			  KIT_COUNT(struct access_event, __VA_ARGS__))
void kit_expect_events(uint64_t until, const struct access_event *expected, size_t count);

/* Asserts that the byte counters add up. */
void kit_check_balance(void);
