/* SPDX-License-Identifier: BSD-3-Clause */
/* Test kit: sends messages of the upstream scheduler through the downstream of a server, and reads
 * the frames that its R-PHY port transmits. */
#pragma once

#include "test_main.h"

#include <rte_ethdev.h>

#include "fixture.h"
#include "group_kit.h"
#include "scheduler/report.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

#define RPHY_DEPTH 64 /* descriptors; the port keeps one frame less */
#define PSEUDOWIRE 0x00030001

static struct group_kit storage, *const kit = &storage;

/* Opens the server. `more` has additional lines of the configuration. */
static inline void open_server(const char *more, unsigned rphy_depth) {
	char text[8192];

	snprintf(text, sizeof(text), "%srphy: {mtu: 1500, max_segments: 16}\n%s", group_kit_text,
		 more);
	group_kit_open(kit, text, rphy_depth);
}

#define UPSTREAM "upstream_channels: [{id: 1, type: ofdma, rate: 600 Mbps, session: 0x20001}]\n"

/* Opens a server with an upstream scheduler; `scheduler` has its settings. */
static inline void messages_open(const char *scheduler) {
	char more[512];

	snprintf(more, sizeof(more), UPSTREAM "upstream: {scheduler: {%s}}\n", scheduler);
	open_server(more, RPHY_DEPTH);
	assert_non_null(kit->group->upstream);
	upstream_stop_granting(kit->group->upstream); /* only the test sends messages */
}

static inline struct message_path *path(void) {
	return downstream_messages(kit->group->downstream);
}

static inline uint64_t read_counter(enum counter which) {
	return group_kit_counters(kit).values[which];
}

static inline void advance_clock(uint64_t ns) {
	group_kit_clock(kit)->now += ns;
}

/* Number of the latest message, all bytes of which are its low byte. */
static uint64_t serial;

/* Sends a message to a stream; `slack` in us. Returns false if the ring is full. */
static inline bool put_message_with_slack(uint16_t stream, uint16_t size, uint16_t slack) {
	struct rte_mbuf *m = rte_pktmbuf_alloc(kit->server.pools.packets);

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, size), (int)++serial, size);
	if (message_put(path(), m, stream, group_kit_clock(kit)->now, slack))
		return true;
	rte_pktmbuf_free(m);
	serial--;
	return false;
}

static inline bool put_message(uint16_t stream, uint16_t size) {
	return put_message_with_slack(stream, size, MESSAGE_ANY_TIME);
}

/* A transmitted DEPI frame. */
struct depi_frame {
	uint32_t session;
	struct psp psp;
	unsigned segments;
	struct psp_segment first;
	uint8_t frame[2048];
};

/* Receives a frame of the R-PHY port. Returns false if there is none. */
static inline bool receive_frame(struct depi_frame *s) {
	struct psp_cursor cursor = {0};
	struct l2tp_data l2tp;
	struct rte_mbuf *m;
	uint32_t size;
	bool extra;

	if (rte_eth_rx_burst(kit->rphy, 0, &m, 1) == 0)
		return false;
	size = m->pkt_len;
	assert_in_range(size, 40, ETHERNET_HEADER + 1500);
	memmove(s->frame, rte_pktmbuf_read(m, 0, size, s->frame), size);
	rte_pktmbuf_free(m);
	assert_int_equal(l2tp_parse(s->frame, size, &l2tp), L2TP_OK);
	s->session = l2tp.session;
	extra = s->session != PSEUDOWIRE && s->session != kit->sg.channels[2].session;
	assert_int_equal(psp_parse(l2tp.payload, l2tp.payload_size, extra ? 2 : 0, &s->psp),
			 PSP_OK);
	s->segments = s->psp.count;
	assert_true(psp_next(&s->psp, &cursor, &s->first));
	return true;
}

/* Receives the next frame, after a round if necessary. */
static inline void receive_next_frame(struct depi_frame *s) {
	if (receive_frame(s))
		return;
	group_kit_round(kit);
	assert_true(receive_frame(s));
}

/* Completes all messages, checks their counters, and closes the server. */
static inline void messages_close(void) {
	struct depi_frame s;

	for (unsigned idle = 0; idle < 20; idle++) {
		while (receive_frame(&s))
			idle = 0;
		advance_clock(20000);
		group_kit_round(kit);
	}
	assert_int_equal(downstream_messages_pending(kit->group->downstream), 0);
	assert_int_equal(read_counter(COUNTER_MESSAGES),
			 read_counter(COUNTER_MESSAGES_SENT) + read_counter(COUNTER_MESSAGES_LOST) +
				 read_counter(COUNTER_MESSAGES_LATE));
	group_kit_close(kit);
}
