/* SPDX-License-Identifier: BSD-3-Clause */
#include "uplink_rig.h"

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "model/load/loader.h"
#include "platform/platform.h"
#include "platform/port.h"
#include "test.h"
#include "uplink_rig_config.h"
#include "wire/ip.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

void uplink_rig_open(struct uplink_rig *r, unsigned depth) {
	struct platform_options options = {.program = "test", .memory_mb = 256};

	assert_int_equal(platform_start(&options), 0);
	r->crypto = crypto_apart_open(SOCKET_ID_ANY);
	assert_non_null(r->crypto);
	r->pool = rte_pktmbuf_pool_create("uplink_rig", 63, 0, 0, 2048, SOCKET_ID_ANY);
	assert_non_null(r->pool);
	assert_int_equal(port_pair("uplink", r->pool, depth, r->ports), 0);
}

void uplink_rig_close(struct uplink_rig *r) {
	for (int i = 0; i < 2; i++)
		port_close(r->ports[i]);
	crypto_close(r->crypto);
	platform_stop();
}

void uplink_rig_begin(struct uplink_rig *r) {
	assert_int_equal(service_group_load_text("uplink", uplink_rig_config,
						 sizeof(uplink_rig_config) - 1, &r->sg, stderr),
			 0);
	r->sg.modems[4].address_count = 0; /* as DHCP gave it none yet */
	memset(&r->came, 0, sizeof(r->came));
	r->uplink = NULL;
	r->scheduled = false;
	r->impair = (struct impair_shares){0};
}

void uplink_rig_end(struct uplink_rig *r) {
	uplink_rig_receive(r);
	uplink_free(r->uplink);
	service_group_free(&r->sg);
	assert_int_equal(r->crypto->keys, 0);
	for (size_t i = 0; i < r->came.burst_count; i++)
		free(r->came.bursts[i]);
	free(r->came.bursts);
	free(r->came.records);
}

void uplink_rig_start(struct uplink_rig *r, const char *mix, uint64_t rate) {
	struct uplink_options options = {
		.rphy_port = r->ports[0],
		.crypto = r->crypto,
		.rate = rate,
		.seed = UPLINK_RIG_SEED,
		.streams = r->room,
		.scheduled = r->scheduled,
		.impair = r->impair,
	};
	char error[128];

	assert_int_equal(mix_parse(mix, PACKET_SIZE_MAX, &options.mix, error, sizeof(error)), 0);
	r->uplink = uplink_create(&r->sg, &options);
	assert_non_null(r->uplink);
}

struct uplink *uplink_rig_create(struct uplink_rig *r, const char *mix, uint32_t grant) {
	struct uplink_options options = {
		.rphy_port = r->ports[0],
		.crypto = r->crypto,
		.grant = grant,
	};
	char error[128];

	assert_int_equal(mix_parse(mix, PACKET_SIZE_MAX, &options.mix, error, sizeof(error)), 0);
	return uplink_create(&r->sg, &options);
}

static struct rig_burst *burst_begin(struct uplink_rig *r, uint32_t channel, enum rig_session kind,
				     const struct psp_segment *segment, enum uepi_format format) {
	struct rig_burst *b = calloc(1, sizeof(*b) + UPLINK_RIG_BURST_MAX);

	assert_non_null(b);
	b->channel = channel;
	b->kind = kind;
	assert_int_equal(uepi_header_parse(format, segment->data, segment->length, &b->header),
			 UEPI_OK);
	assert_true(!b->header.no_burst || r->scheduled);
	if (b->header.no_burst)
		b->kind = RIG_UNUSED;
	else if (kind == RIG_DATA && b->header.iuc == 1)
		b->kind = RIG_ASKING;
	r->came.bursts =
		realloc(r->came.bursts, (r->came.burst_count + 1) * sizeof(*r->came.bursts));
	r->came.bursts[r->came.burst_count++] = b;
	return b;
}

static void record_take(struct uplink_rig *r, uint32_t channel, const struct psp_segment *segment,
			enum uepi_format format) {
	assert_true(segment->begin && segment->end);
	r->came.records =
		realloc(r->came.records, (r->came.record_count + 1) * sizeof(*r->came.records));
	assert_int_equal(uepi_request_parse(format, segment->data, segment->length,
					    &r->came.records[r->came.record_count]),
			 UEPI_OK);
	assert_int_equal(r->came.records[r->came.record_count].session,
			 r->sg.upstream_channels[channel].session);
	r->came.record_count++;
}

static void segment_take(struct uplink_rig *r, uint32_t channel, enum rig_session kind,
			 const struct psp_segment *segment) {
	enum uepi_format format =
		r->sg.upstream_channels[channel].type == UPSTREAM_OFDMA ? UEPI_OFDMA : UEPI_SC_QAM;
	struct rig_burst **open = &r->came.sessions[channel][kind].open;

	if (kind == RIG_REQUESTS) {
		record_take(r, channel, segment, format);
	} else if (segment->begin) {
		assert_null(*open);
		assert_false(segment->end);
		*open = burst_begin(r, channel, kind, segment, format);
	} else if (segment->end) {
		assert_non_null(*open);
		assert_int_equal(uepi_trailer_parse(format, segment->data, segment->length,
						    &(*open)->trailer),
				 UEPI_OK);
		assert_int_equal((*open)->trailer.burst_id, (*open)->header.burst_id);
		*open = NULL;
	} else {
		assert_non_null(*open);
		assert_true((*open)->size + segment->length <= UPLINK_RIG_BURST_MAX);
		assert_true(segment->length > 0);
		memcpy((*open)->payload + (*open)->size, segment->data, segment->length);
		(*open)->size += segment->length;
	}
}

static void session_find(const struct uplink_rig *r, uint32_t id, uint32_t *channel,
			 enum rig_session *kind) {
	for (*channel = 0; *channel < UPLINK_RIG_CHANNELS; (*channel)++) {
		const struct upstream_channel *c = &r->sg.upstream_channels[*channel];
		const uint32_t ids[] = {c->session, c->request_session, c->ranging_session};

		for (int k = 0; k < UPLINK_RIG_KINDS; k++) {
			*kind = (enum rig_session)k;
			if (ids[k] == id)
				return;
		}
	}
	fail_msg("session 0x%08x", id);
}

static void packet_check(const struct uplink_rig *r, const uint8_t *frame, size_t size,
			 const struct l2tp_data *l2tp) {
	size_t address = ip_address_size(l2tp->family);

	assert_memory_equal(frame, r->sg.rphy.core_mac, 6);
	assert_memory_equal(frame + 6, r->sg.rphy.rpd_mac, 6);
	assert_int_equal(l2tp->family, r->sg.rphy.core_ip.family);
	assert_memory_equal(l2tp->source_ip, r->sg.rphy.rpd_ip.bytes, address);
	assert_memory_equal(l2tp->destination_ip, r->sg.rphy.core_ip.bytes, address);
	assert_true(size <= 14 + r->sg.rphy.mtu);
	assert_ptr_equal(l2tp->payload + l2tp->payload_size, frame + size);
}

static void packet_take(struct uplink_rig *r, const uint8_t *frame, size_t size) {
	struct psp_cursor cursor = {0};
	struct psp_segment segment;
	struct l2tp_data l2tp;
	unsigned ends = 0;
	enum rig_session kind;
	uint32_t channel;
	struct psp psp;

	assert_int_equal(l2tp_parse(frame, size, &l2tp), L2TP_OK);
	packet_check(r, frame, size, &l2tp);
	session_find(r, l2tp.session, &channel, &kind);
	assert_int_equal(psp_parse(l2tp.payload, l2tp.payload_size, 0, &psp), PSP_OK);
	assert_true(psp.sequence_valid);
	assert_int_equal(psp.flow, 0);
	assert_int_equal(psp.sequence, r->came.sessions[channel][kind].psp++);
	while (psp_next(&psp, &cursor, &segment)) {
		ends += segment.end;
		segment_take(r, channel, kind, &segment);
	}
	if (kind == RIG_DATA)
		r->came.short_packets += size + 64 <= 14 + r->sg.rphy.mtu;
	if (psp.count > r->came.most_segments)
		r->came.most_segments = psp.count;
	if (kind == RIG_DATA && ends > r->came.most_ends)
		r->came.most_ends = ends;
	if (size > r->came.longest)
		r->came.longest = (uint32_t)size;
	r->came.packets++;
	r->came.bytes += size;
}

unsigned uplink_rig_receive(struct uplink_rig *r) {
	struct rte_mbuf *packets[64];
	unsigned total = 0;
	unsigned n;

	while ((n = rte_eth_rx_burst(r->ports[1], 0, packets, 64)) > 0) {
		for (unsigned i = 0; i < n; i++)
			packet_take(r, rte_pktmbuf_mtod(packets[i], const uint8_t *),
				    rte_pktmbuf_data_len(packets[i]));
		rte_pktmbuf_free_bulk(packets, n);
		total += n;
	}
	return total;
}

uint64_t uplink_rig_made(const struct uplink_rig *r) {
	uint64_t made = 0;

	for (uint32_t s = 0; s < uplink_stream_count(r->uplink); s++)
		made += uplink_made(r->uplink, s);
	return made;
}

void uplink_rig_run(struct uplink_rig *r, uint64_t packets) {
	while (uplink_rig_made(r) < packets) {
		uplink_send(r->uplink, rte_rdtsc());
		uplink_rig_receive(r);
	}
	uplink_stop(r->uplink);
	packets = uplink_rig_made(r);
	while (!uplink_empty(r->uplink)) {
		uplink_send(r->uplink, rte_rdtsc());
		uplink_rig_receive(r);
	}
	assert_int_equal(uplink_rig_made(r), packets);
	assert_int_equal(uplink_sent(r->uplink), packets);
}

/* Grants do not overlap; those of ranging lie between those of data. */
static void times_check(const struct uplink_rig *r) {
	const struct rig_burst *last[UPLINK_RIG_CHANNELS] = {0};

	for (size_t i = 0; i < r->came.burst_count; i++) {
		const struct rig_burst *b = r->came.bursts[i];
		const struct rig_burst *before = last[b->channel];

		if (b->kind != RIG_DATA)
			continue;
		last[b->channel] = b;
		if (before == NULL)
			continue;
		assert_true(b->header.start_minislot >=
			    before->header.start_minislot + (before->size + 15) / 16);
	}
}

/* Each record belongs to the burst whose grant it names. */
static void records_check(const struct uplink_rig *r) {
	for (size_t i = 0; i < r->came.record_count; i++) {
		const struct uepi_request *q = &r->came.records[i];
		unsigned found = 0;

		for (size_t k = 0; k < r->came.burst_count; k++) {
			const struct rig_burst *b = r->came.bursts[k];

			found += b->kind == RIG_DATA &&
				 r->sg.upstream_channels[b->channel].session == q->session &&
				 b->header.sid == q->scheduled_sid && b->header.iuc == q->iuc &&
				 b->header.start_minislot == q->start_minislot;
		}
		assert_int_equal(found, 1);
	}
}

void uplink_rig_check(const struct uplink_rig *r, uint32_t grant) {
	for (size_t i = 0; i < r->came.burst_count; i++) {
		const struct rig_burst *b = r->came.bursts[i];
		bool ofdma = r->sg.upstream_channels[b->channel].type == UPSTREAM_OFDMA;

		if (b->kind == RIG_RANGING)
			assert_int_equal(b->header.iuc, 4);
		if (b->kind != RIG_DATA)
			continue;
		assert_in_range(b->size, 1, grant);
		assert_true(b->trailer.fec_good > 0);
		assert_true((b->trailer.flags & UEPI_FEC_VALID) != 0);
		if (ofdma)
			assert_int_equal(b->header.grant_size, b->size);
	}
	times_check(r);
	records_check(r);
}
