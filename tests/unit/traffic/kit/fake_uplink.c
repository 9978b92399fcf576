/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_uplink.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "fixture.h"
#include "test.h"
#include "wire/ip.h"

#define FAKE_PACKETS_MAX 65536 /* per stream */

struct fake_plan fake_plan;

struct uplink {
	struct pattern pattern;
	struct packet_template templates[FAKE_STREAMS];
	uint32_t magic;
	uint32_t first_magic;
	uint32_t made[FAKE_STREAMS];
	uint64_t sent_at[FAKE_STREAMS][FAKE_PACKETS_MAX];
	uint64_t sent;
	uint64_t sent_bytes;
	uint64_t discarded;
	bool stopped;
	unsigned incomplete;
	uint32_t next_stream;
};

static const uint16_t sizes[] = {84, 256, 1280, 1996, 85, 1281};

static uint32_t packet_size(uint32_t sequence) {
	return sizes[sequence % ARRAY_COUNT(sizes)];
}

struct uplink *uplink_create(const struct service_group *sg, const struct uplink_options *options) {
	static const uint8_t cpe[6] = {0x06, 1}, router[6] = {0x02, 2};
	struct packet_address addresses[FAKE_STREAMS] = {
		{4, {10, 0, 0, 1}, {198, 18, 0, 1}, IP_PROTOCOL_UDP, 0, 5000, 443},
		{4, {10, 0, 0, 2}, {198, 18, 0, 2}, IP_PROTOCOL_TCP, 0, 5001, 443},
		{6, {0x20, 1}, {0x20, 2}, IP_PROTOCOL_UDP, 0, 5002, 443},
	};
	struct uplink *u = calloc(1, sizeof(*u));
	struct random random = {options->seed};

	assert_non_null(u);
	u->first_magic = u->magic = (uint32_t)random_next(&random);
	pattern_create(&u->pattern, &random);
	for (int s = 0; s < FAKE_STREAMS; s++)
		packet_template_create(&u->templates[s], &addresses[s], cpe, router);
	return u;
}

void uplink_free(struct uplink *u) {
	free(u);
}

int uplink_restart(struct uplink *u, const struct service_group *sg, const struct mix *mix,
		   uint64_t rate, uint64_t now) {
	assert_true(u->sent == 0 || uplink_empty(u));
	memset(u->made, 0, sizeof(u->made));
	u->sent = u->sent_bytes = 0;
	u->stopped = mix == NULL;
	u->magic++;
	return 0;
}

void uplink_wire(struct uplink *u, const struct shape *shape, bool drop, uint64_t now) {
	assert_true(shape == NULL && !drop);
}

bool uplink_has_made(const struct uplink *u, const struct packet_tag *tag) {
	return tag->magic == u->magic;
}

bool uplink_made_earlier(const struct uplink *u, const struct packet_tag *tag) {
	return tag->magic != u->magic;
}

bool uplink_is_earlier(const struct uplink *u, const struct packet_tag *tag) {
	return tag->magic - u->first_magic < u->magic - u->first_magic;
}

static void packet_write(const struct uplink *u, const struct packet_tag *tag, uint8_t *out) {
	const struct packet_template *t = &u->templates[tag->target];
	uint32_t start = pattern_start(tag->target, tag->sequence);
	uint32_t headers = t->size + PACKET_TAG_SIZE;
	uint32_t size = packet_size(tag->sequence);

	packet_start_write(t, tag, &u->pattern, start, size, out);
	memcpy(out + headers, u->pattern.bytes + start, size - headers);
}

uint32_t fake_uplink_make(struct uplink *u, uint32_t stream, uint64_t tsc, uint64_t sent_at,
			  uint8_t *out) {
	struct packet_tag tag = {
		.magic = u->magic,
		.target = stream,
		.sequence = u->made[stream]++,
		.tsc = tsc,
	};
	uint32_t size = packet_size(tag.sequence);

	assert_true(tag.sequence < FAKE_PACKETS_MAX);
	packet_write(u, &tag, out);
	u->sent_at[stream][tag.sequence] = sent_at;
	u->sent++;
	u->sent_bytes += size;
	return size;
}

static void send_packet(struct uplink *u, uint64_t now) {
	uint8_t frame[FAKE_FRAME_MAX];
	uint32_t size = fake_uplink_make(u, u->next_stream++ % FAKE_STREAMS, now, now, frame);
	struct rte_mbuf *m = fixture_packet_create(fake_plan.pool, frame, size);

	if (fake_plan.lose_every != 0 && u->sent % fake_plan.lose_every == 0)
		rte_pktmbuf_free(m);
	else
		assert_int_equal(rte_eth_tx_burst(fake_plan.port, 0, &m, 1), 1);
}

void uplink_begin(struct uplink *u, uint64_t now) {
}

unsigned uplink_send(struct uplink *u, uint64_t now) {
	unsigned n = fake_plan.burst;

	if (fake_plan.discard && u->discarded == 0) {
		u->made[0]++;
		u->discarded++;
	}
	if (u->stopped)
		n = fake_plan.stuck || u->incomplete == 0 ? 0 : 1;
	else if (u->made[0] == FAKE_PACKETS_MAX - FAKE_INCOMPLETE)
		n = 0;
	for (unsigned i = 0; i < n; i++)
		send_packet(u, now);
	if (u->stopped)
		u->incomplete -= n;
	return n;
}

void uplink_stop(struct uplink *u) {
	u->stopped = true;
	u->incomplete = FAKE_INCOMPLETE;
}

bool uplink_empty(const struct uplink *u) {
	return u->stopped && u->incomplete == 0;
}

uint32_t uplink_stream_count(const struct uplink *u) {
	return FAKE_STREAMS;
}

uint32_t uplink_made(const struct uplink *u, uint32_t stream) {
	assert_true(stream < FAKE_STREAMS);
	return u->made[stream];
}

uint32_t uplink_ended(const struct uplink *u, uint32_t stream) {
	return uplink_made(u, stream);
}

uint64_t uplink_sent(const struct uplink *u) {
	return u->sent;
}

struct refused_counts uplink_refused_sent(const struct uplink *u) {
	return (struct refused_counts){0};
}

uint64_t uplink_sent_bytes(const struct uplink *u) {
	return u->sent_bytes;
}

bool uplink_matches(const struct uplink *u, const struct packet_tag *tag, const uint8_t *frame,
		    uint32_t size) {
	uint8_t expected[FAKE_FRAME_MAX];

	assert_true(tag->target < FAKE_STREAMS && tag->sequence < u->made[tag->target]);
	assert_true(size <= PACKET_SIZE_MAX);
	if (size != packet_size(tag->sequence) || tag->magic != u->magic)
		return false;
	packet_write(u, tag, expected);
	return memcmp(frame, expected, size) == 0;
}

void uplink_prefetch(const struct uplink *u, const struct packet_tag *tag) {
	assert_true(tag->target < uplink_stream_count(u));
}

uint64_t uplink_sent_at(const struct uplink *u, uint32_t stream, uint32_t sequence) {
	assert_true(stream < FAKE_STREAMS && sequence < u->made[stream]);
	return u->sent_at[stream][sequence];
}

bool uplink_scheduled(const struct uplink *u) {
	return u->discarded > 0;
}

unsigned uplink_receive_maps(struct uplink *u, struct rte_mbuf **frames, unsigned n) {
	return n;
}

void uplink_grants(const struct uplink *u, struct grants_result *out) {
	*out = (struct grants_result){.given_up = u->discarded};
}

bool uplink_impaired(const struct uplink *u) {
	return false;
}

const uint64_t *uplink_hits(const struct uplink *u) {
	return NULL;
}

const struct expected *uplink_expected(const struct uplink *u) {
	return NULL;
}

bool uplink_delivers(const struct uplink *u, uint32_t stream, uint32_t sequence) {
	assert_true(stream < FAKE_STREAMS && sequence < u->made[stream]);
	return true;
}

void uplink_counts(const struct uplink *u, struct uplink_counts *out) {
	*out = (struct uplink_counts){.packets = u->sent, .bytes = u->sent_bytes};
}
