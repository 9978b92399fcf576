/* SPDX-License-Identifier: BSD-3-Clause */
/* The upstream of a server that changes: modems whose packets come when the test wants it. */
#pragma once

#include <rte_cycles.h>

#include "directions/uplink_parts.h"
#include "follow/follow_group.h"
#include "test.h"
#include "uplink_rig.h"

#define ROUNDS 8
#define COPIES 65536
#define COPY_MAX (256 + PACKET_START_MAX) /* the mix has no larger packets */
#define NONE UINT32_MAX

static struct traffic traffic;
static struct follow_group follow;

/* Packets as they were made, to come when the test wants it. */
struct copy {
	uint32_t size;
	uint8_t bytes[COPY_MAX];
};
static struct copy copies[COPIES];
static unsigned copied;
static uint32_t next[64]; /* by stream: packets that are copied or dropped */

static inline void rounds(unsigned n) {
	for (unsigned i = 0; i < n; i++) {
		uint64_t now = rte_rdtsc();

		traffic_change_round(&traffic, now);
		uplink_send(rig.uplink, now);
		uplink_rig_receive();
	}
}

/* The traffic of `count` modems, of which the first are. */
static inline void start_with(size_t count, const char *mix) {
	rig.room = 64;
	rig.sg.modem_count = count;
	uplink_rig_start(mix, 0);
	traffic = (struct traffic){.uplink = rig.uplink, .follows = true, .sg = &rig.sg};
	assert_int_equal(uplink_receiver_create(&traffic.uplink_receiver, rig.uplink,
						rte_get_tsc_hz(), false),
			 0);
	assert_true(uplink_follow_begin(&traffic.uplink_follow, rig.uplink, rte_get_tsc_hz()));
	traffic.uplink_follow.keep = UINT64_MAX / 2;
	assert_int_equal(follow_group_create(&follow, &rig.sg, &traffic, rte_get_tsc_hz()), 0);
	copied = 0;
	memset(next, 0, sizeof(next));
	for (int i = 0; i < 4; i++) {
		rounds(ROUNDS);
		follow_group_look(&follow);
		follow_group_look_holds(&follow);
	}
}

static inline void start(size_t count) {
	start_with(count, "256");
}

/* What the modems have made and sent since the last time goes on its way, but for a stream that is dropped. */
static inline void copy_made(uint32_t but) {
	const struct uplink_flows *f = &rig.uplink->flows;

	for (uint32_t s = 0; s < f->stream_count; s++) {
		for (; next[s] < f->streams[s].ended; next[s]++) {
			struct packet_tag tag = {rig.uplink->frames.packets.magic, s, next[s],
						 rte_rdtsc()};
			struct copy *c = &copies[copied];

			if (s == but)
				continue;
			assert_true(copied++ < COPIES);
			c->size = uplink_packet_write(&rig.uplink->frames.packets,
						      f->streams[s].owner, &tag, c->bytes);
		}
	}
}

static inline void copies_come(void) {
	for (unsigned i = 0; i < copied; i++)
		uplink_receiver_take(&traffic.uplink_receiver, copies[i].bytes, copies[i].size,
				     rte_rdtsc());
	copied = 0;
}

static inline void learn(void) {
	assert_true(follow_group_differs(&follow, &rig.sg));
	assert_true(follow_group_offer(&follow, rte_rdtsc()));
	for (int i = 0; i < 1000 && !traffic_took(&traffic); i++)
		rounds(1);
	assert_true(traffic_took(&traffic));
}

static inline struct uplink_result finish_but(uint32_t dropped) {
	struct uplink_result r;

	uplink_stop(rig.uplink);
	while (!uplink_empty(rig.uplink))
		rounds(1);
	copy_made(dropped);
	copies_come();
	traffic_uplink_result(&traffic, &r);
	assert_int_equal(r.sent, r.proven + r.lost + r.overtaken + r.corrupted);
	assert_int_equal(r.unaccounted, 0);
	follow_group_free(&follow);
	uplink_receiver_free(&traffic.uplink_receiver);
	rig.room = 0;
	return r;
}

static inline struct uplink_result finish(void) {
	return finish_but(NONE);
}

static inline unsigned bursts_of(uint16_t sid, size_t from) {
	unsigned n = 0;

	for (size_t i = from; i < rig.came.burst_count; i++)
		n += rig.came.bursts[i]->header.sid == sid;
	return n;
}

static inline void assert_all_came(const struct uplink_result *r) {
	assert_int_equal(r->proven, r->sent);
	assert_true(uplink_result_good(r));
	for (int i = 0; i < UPLINK_UNEXPECTEDS; i++)
		assert_int_equal(r->unexpected[i], 0);
}
