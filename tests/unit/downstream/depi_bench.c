/* SPDX-License-Identifier: BSD-3-Clause */
#include "depi_bench.h"

#include <string.h>

#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "wire/bytes.h"

#include "fixture.h"
#include "test.h"

#define HEADER_ROOM (RTE_PKTMBUF_HEADROOM + 640)

static void fill(uint8_t *out, uint32_t number, uint32_t size) {
	store_be32(out, number);
	store_be16(out + 4, (uint16_t)size);
	for (uint32_t i = 6; i < size; i++)
		out[i] = (uint8_t)(number * 31 + i * 7 + (i >> 8) * 13 + size);
}

static void frame_is_back(void *ctx, const uint8_t *bytes, size_t size) {
	struct depi_bench_channel *end = ctx;
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

static void channel_make(struct depi_bench *b, unsigned i, const struct depi_bench_config *c) {
	b->channels[i] = (struct channel){
		.id = i + 1,
		.session = DEPI_SESSION + i,
		.psp_extra = c->extra,
		.profile = (uint8_t)(3 * i % 16),
	};
	b->readers[i] = (struct depi_reader){
		.session = DEPI_SESSION + i,
		.extra = c->extra,
		.profile = b->channels[i].profile,
		.family = c->family,
		.mtu = c->mtu,
		.max_segments = c->max_segments,
		.frame = frame_is_back,
		.ctx = &b->ends[i],
	};
}

void depi_bench_open(struct depi_bench *b, const struct depi_bench_config *c) {
	memset(b, 0, sizeof(*b));
	for (unsigned i = 0; i < DEPI_CHANNELS; i++)
		channel_make(b, i, c);
	b->sg = (struct service_group){
		.rphy =
			{
				.core_mac = {2, 0, 0, 0, 0, 1},
				.rpd_mac = {2, 0, 0, 0, 0, 2},
				.core_ip = {c->family, {10, 0, 0, 1}},
				.rpd_ip = {c->family, {10, 0, 0, 2}},
				.mtu = c->mtu,
				.ttl = 64,
				.flush_ns = c->flush_ns,
				.max_segments = c->max_segments,
			},
		.channels = b->channels,
		.channel_count = DEPI_CHANNELS,
	};
	b->packets = fixture_pool("packets", c->packets, FIXTURE_ROOM);
	b->headers = fixture_pool("headers", c->headers, HEADER_ROOM);
	b->fragments = fixture_pool("fragments", c->fragments, 0);
	b->lower.clock = &b->clock;
	assert_int_equal(depi_create(&b->lower.depi, &b->sg, 0, b->headers, b->fragments), 0);
}

void depi_bench_open_roomy(struct depi_bench *b) {
	const struct depi_bench_config c = {
		.mtu = 1500,
		.max_segments = 16,
		.family = 4,
		.extra = PSP_EXTRA_COUNTER,
		.flush_ns = DEPI_BENCH_FLUSH_NS,
		.packets = 255,
		.headers = 255,
		.fragments = 255,
	};

	depi_bench_open(b, &c);
}

void depi_bench_close(struct depi_bench *b) {
	depi_free(&b->lower.depi);
	fixture_pool_end(b->fragments);
	fixture_pool_end(b->headers);
	fixture_pool_end(b->packets);
}

struct rte_mbuf *depi_bench_frame(struct depi_bench *b, uint16_t channel, uint32_t size) {
	struct rte_mbuf *m = rte_pktmbuf_alloc(b->packets);

	if (m == NULL)
		return NULL;
	fill((uint8_t *)rte_pktmbuf_append(m, (uint16_t)size), b->ends[channel].sent++, size);
	packet_meta(m)->channel = channel;
	return m;
}

struct depi_seen depi_bench_read(struct depi_bench *b, struct rte_mbuf *m) {
	uint32_t channel = depi_session(m) - DEPI_SESSION;
	struct depi_seen seen;

	assert_in_range(channel, 0, DEPI_CHANNELS - 1);
	seen = depi_read(&b->readers[channel], m);
	assert_int_equal(seen.ends, packet_meta(m)->ends);
	return seen;
}

uint16_t depi_bench_put(struct depi_bench *b, uint16_t channel, uint32_t size,
			struct rte_mbuf **pkts) {
	pkts[0] = depi_bench_frame(b, channel, size);
	assert_non_null(pkts[0]);
	return ds_depi(&b->lower, pkts, 1);
}

uint32_t depi_bench_take(struct depi_bench *b, struct rte_mbuf *m) {
	uint32_t channel = depi_session(m) - DEPI_SESSION;

	depi_bench_read(b, m);
	rte_pktmbuf_free(m);
	return channel;
}

void depi_bench_check(const struct depi_bench *b, uint64_t in) {
	const struct counters *c = &b->lower.counters;
	uint64_t packets = 0, segments = 0, frames = 0;

	for (unsigned i = 0; i < DEPI_CHANNELS; i++) {
		packets += b->readers[i].packets;
		segments += b->readers[i].segments;
		frames += b->readers[i].frames;
	}
	assert_int_equal(in, frames + b->lower.depi.ends_open + c->drops[DROP_NO_BUFFER]);
	assert_int_equal(counters_dropped(c), c->drops[DROP_NO_BUFFER]);
	assert_int_equal(c->values[COUNTER_DEPI_FRAMES], packets);
	assert_int_equal(c->values[COUNTER_DEPI_FULL] + c->values[COUNTER_DEPI_FLUSHED], packets);
	assert_int_equal(c->values[COUNTER_PSP_SEGMENTS], segments);
}
