/* SPDX-License-Identifier: BSD-3-Clause */
/* A server's downstream, messages of the upstream scheduler on their way through it, and what comes out of its port. */
#pragma once

#include "test_main.h"

#include <rte_ethdev.h>

#include "fixture.h"
#include "group_kit.h"
#include "scheduler/report.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

#define RPHY_DEPTH 64 /* one less fits */
#define PSEUDOWIRE 0x00030001

static struct group_kit storage, *const bench = &storage;

/* `more`: lines of the configuration. */
static inline void bench_open(const char *more, unsigned rphy_depth) {
	char text[8192];

	snprintf(text, sizeof(text), "%srphy: {mtu: 1500, max_segments: 16}\n%s", group_kit_text,
		 more);
	group_kit_open(bench, text, rphy_depth);
}

#define UPSTREAM "upstream_channels: [{id: 1, type: ofdma, rate: 600 Mbps, session: 0x20001}]\n"

/* `scheduler`: what is told of it. */
static inline void messages_open(const char *scheduler) {
	char more[512];

	snprintf(more, sizeof(more), UPSTREAM "upstream: {scheduler: {%s}}\n", scheduler);
	bench_open(more, RPHY_DEPTH);
	assert_non_null(bench->group->upstream);
	upstream_stop_granting(bench->group->upstream); /* the messages here are the test's */
}

static inline struct message_path *path(void) {
	return downstream_messages(bench->group->downstream);
}

static inline uint64_t counted(enum counter which) {
	return group_kit_counters(bench).values[which];
}

static inline void pass_time(uint64_t ns) {
	group_kit_clock(bench)->now += ns;
}

static uint64_t serial; /* of messages */

/* Its bytes tell which one it is. */
static inline bool put_until(uint16_t stream, uint16_t size, uint16_t slack) {
	struct rte_mbuf *m = rte_pktmbuf_alloc(bench->server.pools.packets);

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, size), (int)++serial, size);
	if (message_put(path(), m, stream, group_kit_clock(bench)->now, slack))
		return true;
	rte_pktmbuf_free(m);
	serial--;
	return false;
}

static inline bool put(uint16_t stream, uint16_t size) {
	return put_until(stream, size, MESSAGE_ANY_TIME);
}

/* What came out, one DEPI frame. */
struct seen {
	uint32_t session;
	struct psp psp;
	unsigned segments;
	struct psp_segment first;
	uint8_t frame[2048];
};

static inline bool take(struct seen *s) {
	struct psp_cursor cursor = {0};
	struct l2tp_data l2tp;
	struct rte_mbuf *m;
	uint32_t size;
	bool extra;

	if (rte_eth_rx_burst(bench->rphy, 0, &m, 1) == 0)
		return false;
	size = m->pkt_len;
	assert_in_range(size, 40, ETHERNET_HEADER + 1500);
	memmove(s->frame, rte_pktmbuf_read(m, 0, size, s->frame), size);
	rte_pktmbuf_free(m);
	assert_int_equal(l2tp_parse(s->frame, size, &l2tp), L2TP_OK);
	s->session = l2tp.session;
	extra = s->session != PSEUDOWIRE && s->session != bench->sg.channels[2].session;
	assert_int_equal(psp_parse(l2tp.payload, l2tp.payload_size, extra ? 2 : 0, &s->psp),
			 PSP_OK);
	s->segments = s->psp.count;
	assert_true(psp_next(&s->psp, &cursor, &s->first));
	return true;
}

/* What is there, or comes with the next round. */
static inline void take_next(struct seen *s) {
	if (take(s))
		return;
	group_kit_round(bench);
	assert_true(take(s));
}

static inline void messages_close(void) {
	struct seen s;

	for (unsigned quiet = 0; quiet < 20; quiet++) {
		while (take(&s))
			quiet = 0;
		pass_time(20000);
		group_kit_round(bench);
	}
	assert_int_equal(downstream_messages_pending(bench->group->downstream), 0);
	assert_int_equal(counted(COUNTER_MESSAGES), counted(COUNTER_MESSAGES_SENT) +
							    counted(COUNTER_MESSAGES_LOST) +
							    counted(COUNTER_MESSAGES_LATE));
	group_kit_close(bench);
}
