/* SPDX-License-Identifier: BSD-3-Clause */
/* What a packet upstream is of, by its fields and the headers in front of it. No EAL is needed. */
#include "test_main.h"

#include <string.h>

#include "capture/live/facts.h"
#include "upstream/upstream.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#define FLOWS 2
#define SESSION 0x20001
#define RANGING 0x20009
#define PAYLOAD 40
#define HEADERS (14 + 20 + 4) /* Ethernet, IPv4, the session of L2TPv3 (RFC 3931, 4.1.1) */

static struct us_session sessions[2] = {{.id = SESSION}, {.id = RANGING}};
static struct us_channel channels[1] = {{{0, US_NONE, 1}}};
static struct us_flow flows[FLOWS + 1] = {{.modem = 7}, {.modem = HOLD_NOBODY}, {.modem = 9}};
static struct us_stream streams[1] = {{.flow = 0}};
static struct upstream up;
static struct rte_mbuf buffer;
static uint8_t bytes[512];

static int begin(void **state) {
	packet_meta_offset = RTE_ALIGN(offsetof(struct rte_mbuf, dynfield1), PACKET_META_ALIGN);
	up.tables.sessions = sessions;
	up.tables.session_count = 2;
	up.tables.channels = channels;
	up.tables.channel_count = 1;
	up.tables.flows = flows;
	up.tables.flow_count = FLOWS;
	up.tables.streams = streams;
	up.tables.stream_count = 1;
	memset(&buffer, 0, sizeof(buffer));
	memset(bytes, 0, sizeof(bytes));
	buffer.buf_addr = bytes;
	buffer.buf_len = sizeof(bytes);
	buffer.data_off = RTE_PKTMBUF_HEADROOM + HEADERS;
	buffer.data_len = PAYLOAD;
	return 0;
}

static struct tap_facts read_as(enum tap_kind kind) {
	const struct tap_tables tables = {.u = &up};
	struct tap_facts f;

	tap_facts_read(&tables, kind, &buffer, &f);
	return f;
}

TEST(bursts_have_sessions) {
	struct tap_facts f;

	f = read_as(TAP_BURST);
	assert_int_equal(f.known, TAP_KNOWS_SESSION);
	assert_int_equal(f.session, SESSION);
	us_meta(&buffer)->burst.ranging = true;
	assert_int_equal(read_as(TAP_BURST).session, RANGING);
	us_meta(&buffer)->burst.channel = 1; /* there is none */
	assert_int_equal(read_as(TAP_BURST).known, 0);
}

TEST(segments_have_flows) {
	struct tap_facts f = read_as(TAP_SEGMENT);

	assert_int_equal(f.known, TAP_KNOWS_MODEM | TAP_KNOWS_FLOW | TAP_KNOWS_SESSION);
	assert_int_equal(f.modem, 7);
	us_meta(&buffer)->segment.stream = 1;
	assert_int_equal(read_as(TAP_SEGMENT).known, TAP_KNOWS_SESSION);
}

TEST(flows_are_those_there_are) {
	assert_int_equal(read_as(TAP_PDU).known, tap_kind_knows(TAP_PDU));
	us_meta(&buffer)->frame.flow = 1; /* it has gone */
	assert_int_equal(read_as(TAP_PDU).known, TAP_KNOWS_SESSION);
	us_meta(&buffer)->frame.flow = FLOWS; /* there is none */
	assert_int_equal(read_as(TAP_PDU).known, TAP_KNOWS_SESSION);
}

static void frame_write(uint8_t *frame, uint16_t payload) {
	uint8_t *ip = frame + 14;

	store_be16(frame + 12, 0x0800);
	memset(ip, 0, 20);
	ip[0] = 0x45;
	store_be16(ip + 2, (uint16_t)(20 + 4 + payload));
	ip[8] = 64;
	ip[9] = 115;
	store_be16(ip + 10, 0);
	store_be16(ip + 10, ipv4_checksum(ip, 20));
	store_be32(ip + 20, SESSION);
}

/* They stand in front of what is left of the packet, where they are whole. */
TEST(headers_in_front) {
	uint8_t *frame = bytes + RTE_PKTMBUF_HEADROOM;
	struct tap_facts f = {0};
	struct tap_shape s;

	frame_write(frame, PAYLOAD);
	tap_shape_read(TAP_PSP, &buffer, &f, &s);
	assert_int_equal(s.form, TAP_ETHERNET);
	assert_int_equal(s.before, HEADERS);
	assert_int_equal(f.session, SESSION);
	frame_write(frame, PAYLOAD + 1); /* longer than what is there */
	f = (struct tap_facts){0};
	tap_shape_read(TAP_PSP, &buffer, &f, &s);
	assert_int_equal(s.form, TAP_PIECE);
	assert_int_equal(f.known, 0);
}

EACH_TEST(begin, NULL)
