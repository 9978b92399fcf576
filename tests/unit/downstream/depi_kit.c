/* SPDX-License-Identifier: BSD-3-Clause */
#include "depi_kit.h"

#include <string.h>

#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "wire/bytes.h"

#include "fixture.h"
#include "test.h"

#define HEADER_ROOM (RTE_PKTMBUF_HEADROOM + 640)
#define SESSION 0x10000
#define BUFFERS 1023

struct depi_kit depi_kit;

static void fill(uint8_t *out, uint32_t number, uint32_t size) {
	store_be32(out, number);
	store_be16(out + 4, (uint16_t)size);
	for (uint32_t i = 6; i < size; i++)
		out[i] = (uint8_t)(number * 31 + i * 7 + (i >> 8) * 13 + size);
}

static void frame_is_back(void *ctx, const uint8_t *bytes, size_t size) {
	struct depi_kit_channel *end = ctx;
	uint8_t expected[DEPI_READER_FRAME];
	uint32_t number = load_be32(bytes);

	assert_int_equal(load_be16(bytes + 4), size);
	fill(expected, number, (uint32_t)size);
	assert_memory_equal(bytes, expected, size);
	if (end->lossy)
		assert_in_range(number, end->back, end->sent - 1);
	else
		assert_int_equal(number, end->back);
	end->back = number + 1;
}

void depi_kit_open(const struct depi_kit_config *c) {
	struct depi_kit *k = &depi_kit;
	const uint8_t family = c->family == 6 ? 6 : 4;

	*k = (struct depi_kit){
		.sg.rphy =
			{
				.core_mac = {2, 0, 0, 0, 0, 1},
				.rpd_mac = {2, 0, 0, 0, 0, 2},
				.core_ip = {family, {10, 0, 0, 1}},
				.rpd_ip = {family, {10, 0, 0, 2}},
				.mtu = c->mtu ? c->mtu : 1500,
				.ttl = 64,
				.flush_ns = DEPI_KIT_FLUSH_NS,
				.max_segments = c->max_segments ? c->max_segments : 16,
			},
		.sg.rphy_port.vlan = c->vlan,
		.sg.channels = k->channels,
		.sg.channel_count = DEPI_KIT_CHANNELS,
		.lower.clock = &k->clock,
		.packets = fixture_pool("packets", c->packets ? c->packets : BUFFERS, FIXTURE_ROOM),
		.headers = fixture_pool("headers", c->headers ? c->headers : BUFFERS, HEADER_ROOM),
		.fragments = fixture_pool("fragments", c->fragments ? c->fragments : BUFFERS, 0),
	};
	for (unsigned i = 0; i < DEPI_KIT_CHANNELS; i++) {
		k->channels[i] = (struct channel){
			.id = i + 1,
			.session = SESSION + i,
			.psp_extra = c->extra,
			.profile = (uint8_t)(3 * i % 16),
		};
		k->readers[i] = depi_reader_of(&k->sg, i);
		k->readers[i].frame = frame_is_back;
		k->readers[i].ctx = &k->ends[i];
	}
	assert_int_equal(depi_create(&k->lower.depi, &k->sg, 0, k->headers, k->fragments), 0);
}

void depi_kit_close(void) {
	depi_free(&depi_kit.lower.depi);
	fixture_pool_end(depi_kit.fragments);
	fixture_pool_end(depi_kit.headers);
	fixture_pool_end(depi_kit.packets);
}

struct rte_mbuf *depi_kit_frame(uint16_t channel, uint32_t size) {
	struct rte_mbuf *m = rte_pktmbuf_alloc(depi_kit.packets);

	if (m == NULL)
		return NULL;
	fill((uint8_t *)rte_pktmbuf_append(m, (uint16_t)size), depi_kit.ends[channel].sent++, size);
	packet_meta(m)->channel = channel;
	return m;
}

uint16_t depi_kit_run(struct rte_mbuf **pkts, uint16_t n) {
	depi_kit.in += n;
	return ds_depi(&depi_kit.lower, pkts, n);
}

uint16_t depi_kit_put(uint16_t channel, uint32_t size, struct rte_mbuf **pkts) {
	if (size == 0)
		return depi_kit_run(pkts, 0);
	pkts[0] = depi_kit_frame(channel, size);
	assert_non_null(pkts[0]);
	return depi_kit_run(pkts, 1);
}

struct depi_seen depi_kit_read(struct rte_mbuf *m, uint32_t *channel) {
	uint32_t c = depi_session(m) - SESSION;
	struct depi_seen seen;

	assert_in_range(c, 0, DEPI_KIT_CHANNELS - 1);
	seen = depi_read(&depi_kit.readers[c], m);
	assert_int_equal(seen.ends, packet_meta(m)->ends);
	if (channel != NULL)
		*channel = c;
	return seen;
}

void depi_kit_check(void) {
	const struct counters *c = &depi_kit.lower.counters;
	uint64_t packets = 0, segments = 0, frames = 0, fragments = 0;

	for (unsigned i = 0; i < DEPI_KIT_CHANNELS; i++) {
		packets += depi_kit.readers[i].packets;
		segments += depi_kit.readers[i].segments;
		frames += depi_kit.readers[i].frames;
		fragments += depi_kit.readers[i].fragments;
	}
	assert_int_equal(depi_kit.in,
			 frames + depi_kit.lower.depi.ends_open + c->drops[DROP_NO_BUFFER]);
	assert_int_equal(counters_dropped(c), c->drops[DROP_NO_BUFFER]);
	assert_int_equal(c->values[COUNTER_DEPI_FRAMES], packets);
	assert_int_equal(c->values[COUNTER_DEPI_FULL] + c->values[COUNTER_DEPI_FLUSHED], packets);
	assert_int_equal(c->values[COUNTER_PSP_SEGMENTS], segments);
	assert_true(c->values[COUNTER_PSP_FRAGMENTS] >= fragments); /* and those still open */
}
