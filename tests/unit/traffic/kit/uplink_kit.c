/* SPDX-License-Identifier: BSD-3-Clause */
#include "uplink_kit.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "fixture.h"
#include "model/load/loader.h"
#include "packets.h"
#include "platform/port.h"
#include "test.h"
#include "uplink_kit_config.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

struct uplink_kit rig;

int uplink_kit_open(void **state) {
	fixture_start_eal(256);
	rig.crypto = crypto_standalone_open(SOCKET_ID_ANY);
	assert_non_null(rig.crypto);
	rig.pool = fixture_pool_create("uplink_kit", 63, 2048);
	assert_int_equal(
		port_pair("uplink", rig.pool, rig.ring_size > 0 ? rig.ring_size : 1024, rig.ports),
		0);
	return 0;
}

int uplink_kit_close(void **state) {
	for (int i = 0; i < 2; i++)
		port_close(rig.ports[i]);
	crypto_close(rig.crypto);
	return fixture_stop(state);
}

int uplink_kit_set_up(void **state) {
	group_load_text(&rig.sg, uplink_kit_config);
	rig.sg.modems[4].address_count = 0; /* as before DHCP */
	memset(&rig.received, 0, sizeof(rig.received));
	rig.uplink = NULL;
	rig.scheduled = false;
	rig.refuse_every = rig.reorder_every = 0;
	rig.impair = (struct impair_shares){0};
	return 0;
}

int uplink_kit_tear_down(void **state) {
	uplink_kit_receive();
	uplink_free(rig.uplink);
	service_group_free(&rig.sg);
	assert_int_equal(rig.crypto->keys, 0);
	for (size_t i = 0; i < rig.received.burst_count; i++)
		free(rig.received.bursts[i]);
	free(rig.received.bursts);
	free(rig.received.records);
	return 0;
}

struct uplink *uplink_kit_create(const char *mix, uint64_t rate, uint32_t grant) {
	struct uplink_options options = {
		.rphy_port = rig.ports[0],
		.crypto = rig.crypto,
		.rate = rate,
		.grant = grant,
		.seed = UPLINK_KIT_SEED,
		.streams = rig.stream_capacity,
		.scheduled = rig.scheduled,
		.refuse_every = rig.refuse_every,
		.reorder_every = rig.reorder_every,
		.impair = rig.impair,
	};
	char error[128];

	assert_int_equal(mix_parse(mix, PACKET_SIZE_MAX, &options.mix, error, sizeof(error)), 0);
	return uplink_create(&rig.sg, &options);
}

void uplink_kit_start(const char *mix, uint64_t rate) {
	rig.uplink = uplink_kit_create(mix, rate, 0);
	assert_non_null(rig.uplink);
}

static struct rig_burst *start_burst(uint32_t channel, enum rig_session kind,
				     const struct psp_segment *segment, enum uepi_format format) {
	struct rig_burst *b = calloc(1, sizeof(*b) + UPLINK_KIT_BURST_MAX);

	assert_non_null(b);
	b->channel = channel;
	b->kind = kind;
	assert_int_equal(uepi_header_parse(format, segment->data, segment->length, &b->header),
			 UEPI_OK);
	assert_true(!b->header.no_burst || rig.scheduled);
	if (b->header.no_burst)
		b->kind = RIG_UNUSED;
	else if (kind == RIG_DATA && b->header.iuc == 1)
		b->kind = RIG_REQUEST_BURST;
	rig.received.bursts = realloc(rig.received.bursts, (rig.received.burst_count + 1) *
								   sizeof(*rig.received.bursts));
	rig.received.bursts[rig.received.burst_count++] = b;
	return b;
}

static void receive_record(uint32_t channel, const struct psp_segment *segment,
			   enum uepi_format format) {
	assert_true(segment->begin && segment->end);
	rig.received.records = realloc(rig.received.records, (rig.received.record_count + 1) *
								     sizeof(*rig.received.records));
	assert_int_equal(uepi_request_parse(format, segment->data, segment->length,
					    &rig.received.records[rig.received.record_count]),
			 UEPI_OK);
	assert_int_equal(rig.received.records[rig.received.record_count].session,
			 rig.sg.upstream_channels[channel].session);
	rig.received.record_count++;
}

static void receive_segment(uint32_t channel, enum rig_session kind,
			    const struct psp_segment *segment) {
	enum uepi_format format =
		rig.sg.upstream_channels[channel].type == UPSTREAM_OFDMA ? UEPI_OFDMA : UEPI_SC_QAM;
	struct rig_burst **open = &rig.received.sessions[channel][kind].open;

	if (kind == RIG_REQUESTS) {
		receive_record(channel, segment, format);
	} else if (segment->begin) {
		assert_null(*open);
		assert_false(segment->end);
		*open = start_burst(channel, kind, segment, format);
	} else if (segment->end) {
		assert_non_null(*open);
		assert_int_equal(uepi_trailer_parse(format, segment->data, segment->length,
						    &(*open)->trailer),
				 UEPI_OK);
		assert_int_equal((*open)->trailer.burst_id, (*open)->header.burst_id);
		*open = NULL;
	} else {
		assert_non_null(*open);
		assert_true((*open)->size + segment->length <= UPLINK_KIT_BURST_MAX);
		assert_true(segment->length > 0);
		memcpy((*open)->payload + (*open)->size, segment->data, segment->length);
		(*open)->size += segment->length;
	}
}

static void find_session(uint32_t id, uint32_t *channel, enum rig_session *kind) {
	for (*channel = 0; *channel < UPLINK_KIT_CHANNELS; (*channel)++) {
		const struct upstream_channel *c = &rig.sg.upstream_channels[*channel];
		const uint32_t ids[] = {c->session, c->request_session, c->ranging_session};

		for (int k = 0; k < UPLINK_KIT_KINDS; k++) {
			*kind = (enum rig_session)k;
			if (ids[k] == id)
				return;
		}
	}
	fail_msg("session 0x%08x belongs to no upstream channel", id);
}

static void receive_packet(const uint8_t *frame, size_t size) {
	struct psp_cursor cursor = {0};
	struct psp_segment segment;
	struct l2tp_data l2tp;
	unsigned ends = 0;
	enum rig_session kind;
	uint32_t channel;
	struct psp psp;

	assert_int_equal(l2tp_parse(frame, size, &l2tp), L2TP_OK);
	assert_true(size <= 14 + rig.sg.rphy.mtu);
	find_session(l2tp.session, &channel, &kind);
	assert_int_equal(psp_parse(l2tp.payload, l2tp.payload_size, 0, &psp), PSP_OK);
	assert_true(psp.sequence_valid);
	assert_int_equal(psp.flow, 0);
	assert_int_equal(psp.sequence, rig.received.sessions[channel][kind].psp++);
	while (psp_next(&psp, &cursor, &segment)) {
		ends += segment.end;
		receive_segment(channel, kind, &segment);
	}
	if (psp.count > rig.received.max_segments)
		rig.received.max_segments = psp.count;
	if (kind == RIG_DATA && ends > rig.received.max_ends)
		rig.received.max_ends = ends;
	if (size > rig.received.longest)
		rig.received.longest = (uint32_t)size;
}

unsigned uplink_kit_receive(void) {
	struct rte_mbuf *packets[64];
	unsigned total = 0;
	unsigned n;

	while ((n = rte_eth_rx_burst(rig.ports[1], 0, packets, 64)) > 0) {
		for (unsigned i = 0; i < n; i++)
			receive_packet(rte_pktmbuf_mtod(packets[i], const uint8_t *),
				       rte_pktmbuf_data_len(packets[i]));
		rte_pktmbuf_free_bulk(packets, n);
		total += n;
	}
	return total;
}

uint64_t uplink_kit_made(void) {
	uint64_t made = 0;

	for (uint32_t s = 0; s < uplink_stream_count(rig.uplink); s++)
		made += uplink_made(rig.uplink, s);
	return made;
}

void uplink_kit_run(uint64_t packets) {
	while (uplink_kit_made() < packets) {
		uplink_send(rig.uplink, rte_rdtsc());
		uplink_kit_receive();
	}
	uplink_stop(rig.uplink);
	packets = uplink_kit_made();
	while (!uplink_empty(rig.uplink)) {
		uplink_send(rig.uplink, rte_rdtsc());
		uplink_kit_receive();
	}
	assert_int_equal(uplink_kit_made(), packets);
	assert_int_equal(uplink_sent(rig.uplink), packets);
}

/* Asserts that the data grants of a channel do not overlap. */
static void check_grants_are_disjoint(void) {
	const struct rig_burst *last[UPLINK_KIT_CHANNELS] = {0};

	for (size_t i = 0; i < rig.received.burst_count; i++) {
		const struct rig_burst *b = rig.received.bursts[i];
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

/* Asserts that each request record names the grant of one data burst. */
static void check_records(void) {
	for (size_t i = 0; i < rig.received.record_count; i++) {
		const struct uepi_request *q = &rig.received.records[i];
		unsigned matches = 0;

		for (size_t k = 0; k < rig.received.burst_count; k++) {
			const struct rig_burst *b = rig.received.bursts[k];

			matches += b->kind == RIG_DATA &&
				   rig.sg.upstream_channels[b->channel].session == q->session &&
				   b->header.sid == q->scheduled_sid && b->header.iuc == q->iuc &&
				   b->header.start_minislot == q->start_minislot;
		}
		assert_int_equal(matches, 1);
	}
}

void uplink_kit_check_bursts(uint32_t grant) {
	for (size_t i = 0; i < rig.received.burst_count; i++) {
		const struct rig_burst *b = rig.received.bursts[i];
		bool ofdma = rig.sg.upstream_channels[b->channel].type == UPSTREAM_OFDMA;

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
	check_grants_are_disjoint();
	check_records();
}
