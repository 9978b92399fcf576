/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the upstream scheduler on their way through a server's downstream, and what comes out of its port. */
#pragma once

#include "test.h"

#include <string.h>

#include <rte_ethdev.h>

#include "fixture.h"
#include "scheduler/report.h"
#include "server_bench.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

#define RPHY_DEPTH 64 /* one less fits */
#define PSEUDOWIRE 0x00030001

static struct server_bench storage, *const bench = &storage;

/* `upstream`: a line, or nothing. */
static inline void bench_open_with(const char *upstream) {
	char text[8192];

	snprintf(text, sizeof(text),
		 "%srphy: {mtu: 1500, max_segments: 16}\n%s"
		 "upstream_channels: [{id: 1, type: ofdma, rate: 600 Mbps, session: 0x20001}]\n",
		 server_bench_text, upstream);
	server_bench_open(bench, text, RPHY_DEPTH);
	assert_non_null(bench->group->upstream);
}

static inline void bench_open(const char *scheduler) {
	char upstream[256];

	snprintf(upstream, sizeof(upstream), "upstream: {scheduler: {%s}}\n", scheduler);
	bench_open_with(upstream);
	upstream_stop_granting(bench->group->upstream); /* the messages here are the test's */
}

static inline struct message_path *path(void) {
	return downstream_messages(bench->group->downstream);
}

static inline uint64_t counted(enum counter which) {
	return server_bench_counters(bench).values[which];
}

static uint64_t serial; /* of messages */

/* Its bytes tell which one it is. */
static inline bool put_until(uint16_t stream, uint16_t size, uint16_t slack) {
	struct rte_mbuf *m = rte_pktmbuf_alloc(bench->server.pools.packets);

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, size), (int)++serial, size);
	if (message_put(path(), m, stream, server_bench_clock(bench)->now, slack))
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

	if (rte_eth_rx_burst(bench->rphy, 0, &m, 1) == 0)
		return false;
	size = m->pkt_len;
	assert_in_range(size, 40, sizeof(s->frame));
	memmove(s->frame, rte_pktmbuf_read(m, 0, size, s->frame), size);
	rte_pktmbuf_free(m);
	assert_int_equal(l2tp_parse(s->frame, size, &l2tp), L2TP_OK);
	assert_in_range(size - ETHERNET_HEADER, 0, 1500);
	s->session = l2tp.session;
	assert_int_equal(psp_parse(l2tp.payload, l2tp.payload_size,
				   l2tp.session == PSEUDOWIRE ||
						   l2tp.session == bench->sg.channels[2].session
					   ? 0
					   : 2,
				   &s->psp),
			 PSP_OK);
	s->segments = s->psp.count;
	assert_true(psp_next(&s->psp, &cursor, &s->first));
	return true;
}

static inline void drain(void) {
	struct seen s;

	for (unsigned quiet = 0; quiet < 20; quiet++) {
		while (take(&s))
			quiet = 0;
		server_bench_clock(bench)->now += 20000;
		server_bench_round(bench);
	}
}

static inline void close_all(void) {
	drain();
	assert_int_equal(downstream_messages_held(bench->group->downstream), 0);
	assert_int_equal(counted(COUNTER_MESSAGES), counted(COUNTER_MESSAGES_SENT) +
							    counted(COUNTER_MESSAGES_LOST) +
							    counted(COUNTER_MESSAGES_LATE));
	server_bench_close(bench);
}

/* As one that has no link yet, until it is taken from. */
static inline void port_fill(void) {
	for (unsigned i = 0; i + 1 < RPHY_DEPTH; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(bench->server.pools.packets);

		assert_non_null(m);
		assert_int_equal(packet_sink_burst(&bench->group->downstream->lower.rphy, &m, 1),
				 1);
	}
}

static inline void port_empty(void) {
	struct rte_mbuf *m;

	while (rte_eth_rx_burst(bench->rphy, 0, &m, 1) == 1)
		rte_pktmbuf_free(m);
}
