/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test kit: the DEPI stage alone, with channels and pools. Test frames are
 *
 *     number (4 bytes), size (2 bytes), bytes derived from both
 */
#pragma once

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "wire/bytes.h"

#include "depi_reader.h"
#include "fixture.h"
#include "test.h"

#define CHANNELS 5
#define FLUSH_NS 50000
#define SESSION 0x10000

struct depi_kit_config {
	uint32_t mtu; /* 0: 1500 */
	uint32_t max_segments; /* 0: 16 */
	uint8_t family; /* 0: 4 */
	enum psp_extra extra;
	uint16_t vlan;
	unsigned packets, headers, fragments; /* buffers in the pools; 0: 1023 */
};

static struct depi_kit {
	struct service_group sg;
	struct channel channels[CHANNELS];
	struct clock clock;
	struct ds_lower lower;
	struct rte_mempool *packets, *headers, *fragments;
	uint32_t sent[CHANNELS], received[CHANNELS]; /* number of the next frame */
	bool lossy; /* frames may be missing */
	struct depi_reader readers[CHANNELS];
	uint64_t in; /* DOCSIS frames passed to the stage */
} kit;

static inline void fill_frame(uint8_t *out, uint32_t number, uint32_t size) {
	store_be32(out, number);
	store_be16(out + 4, (uint16_t)size);
	for (uint32_t i = 6; i < size; i++)
		out[i] = (uint8_t)(number * 31 + i * 7 + (i >> 8) * 13 + size);
}

static inline void check_frame(void *received, const uint8_t *bytes, size_t size) {
	uint8_t expected[DEPI_READER_FRAME];
	uint32_t number = load_be32(bytes), *next = received;

	assert_int_equal(load_be16(bytes + 4), size);
	fill_frame(expected, number, (uint32_t)size);
	assert_memory_equal(bytes, expected, size);
	assert_in_range(number, *next, kit.lossy ? kit.sent[next - kit.received] - 1 : *next);
	*next = number + 1;
}

static inline void kit_open(const struct depi_kit_config *c) {
	const uint8_t family = c->family == 6 ? 6 : 4;

	kit = (struct depi_kit){
		.sg.rphy =
			{
				.core_mac = {2, 0, 0, 0, 0, 1},
				.rpd_mac = {2, 0, 0, 0, 0, 2},
				.core_ip = {family, {10, 0, 0, 1}},
				.rpd_ip = {family, {10, 0, 0, 2}},
				.mtu = c->mtu ? c->mtu : 1500,
				.ttl = 64,
				.flush_ns = FLUSH_NS,
				.max_segments = c->max_segments ? c->max_segments : 16,
			},
		.sg.rphy_port.vlan = c->vlan,
		.sg.channels = kit.channels,
		.sg.channel_count = CHANNELS,
		.lower.clock = &kit.clock,
		.packets = fixture_pool_create("packets", c->packets ? c->packets : 1023,
					       FIXTURE_BUFFER_SIZE),
		.headers = fixture_pool_create("headers", c->headers ? c->headers : 1023,
					       RTE_PKTMBUF_HEADROOM + 640),
		.fragments =
			fixture_pool_create("fragments", c->fragments ? c->fragments : 1023, 0),
	};
	for (unsigned i = 0; i < CHANNELS; i++) {
		kit.channels[i] = (struct channel){
			.id = i + 1,
			.session = SESSION + i,
			.psp_extra = c->extra,
			.profile = (uint8_t)(3 * i % 16),
		};
		kit.readers[i] = depi_reader_create(&kit.sg, i);
		kit.readers[i].frame = check_frame;
		kit.readers[i].ctx = &kit.received[i];
	}
	assert_int_equal(depi_create(&kit.lower.depi, &kit.sg, 0, kit.headers, kit.fragments), 0);
}

/* Frees everything. Fails on leaked buffers. */
static inline void kit_close(void) {
	depi_free(&kit.lower.depi);
	fixture_pool_free(kit.fragments);
	fixture_pool_free(kit.headers);
	fixture_pool_free(kit.packets);
}

/* The channel's next DOCSIS frame of `size` bytes, at least 6. NULL if the pool is empty. */
static inline struct rte_mbuf *kit_create_frame(uint32_t channel, uint32_t size) {
	struct rte_mbuf *m = rte_pktmbuf_alloc(kit.packets);

	if (m == NULL)
		return NULL;
	fill_frame((uint8_t *)rte_pktmbuf_append(m, (uint16_t)size), kit.sent[channel]++, size);
	packet_meta(m)->channel = (uint16_t)channel;
	return m;
}

/* Reads and checks a DEPI frame and its metadata. Does not free it. */
static inline struct depi_contents kit_read(struct rte_mbuf *m) {
	uint32_t c = depi_session(m) - SESSION;
	struct depi_contents contents;

	assert_in_range(c, 0, CHANNELS - 1);
	contents = depi_read(&kit.readers[c], m);
	assert_int_equal(contents.ends, packet_meta(m)->ends);
	return contents;
}

/* Runs the stage on `n` DOCSIS frames in `pkts`. Returns the number of DEPI frames that replace them. */
static inline uint16_t kit_run(struct rte_mbuf **pkts, uint16_t n) {
	kit.in += n;
	return ds_depi(&kit.lower, pkts, n);
}

/* Checks counters against read and pending frames. */
static inline void kit_check(void) {
	const struct counters *c = &kit.lower.counters;
	uint64_t packets = 0, segments = 0, frames = 0, fragments = 0;

	for (unsigned i = 0; i < CHANNELS; i++) {
		packets += kit.readers[i].packets;
		segments += kit.readers[i].segments;
		frames += kit.readers[i].frames;
		fragments += kit.readers[i].fragments;
	}
	assert_int_equal(kit.in, frames + kit.lower.depi.ends_open + c->drops[DROP_NO_BUFFER]);
	assert_int_equal(counters_dropped(c), c->drops[DROP_NO_BUFFER]);
	assert_int_equal(c->values[COUNTER_DEPI_FRAMES], packets);
	assert_int_equal(c->values[COUNTER_DEPI_FULL] + c->values[COUNTER_DEPI_FLUSHED], packets);
	assert_int_equal(c->values[COUNTER_PSP_SEGMENTS], segments);
	/* includes frames that are still open */
	assert_true(c->values[COUNTER_PSP_FRAGMENTS] >= fragments);
}
