/* SPDX-License-Identifier: BSD-3-Clause */
/* From bursts to streams of frames. */
#include <string.h>

#include "test.h"
#include "uplink_rig_reader.h"
#include "wire/segment.h"

static bool has_sid(const struct sid_cluster *cluster, uint32_t channel, uint16_t sid) {
	for (size_t i = 0; i < cluster->sid_count; i++) {
		if (cluster->sids[i].channel == channel && cluster->sids[i].sid == sid)
			return true;
	}
	return false;
}

/* The stream of a SID, numbered as the sender does: modems, flows, clusters. */
static bool reader_of(struct uplink_rig *r, uint32_t channel, uint16_t sid, struct reader *out) {
	uint32_t index = 0;

	for (size_t m = 0; m < r->sg.modem_count; m++) {
		const struct modem *modem = &r->sg.modems[m];

		for (size_t f = 0; modem->address_count > 0 && f < modem->upstream_flow_count;
		     f++) {
			const struct upstream_service_flow *flow = &modem->upstream_flows[f];

			for (size_t c = 0; c < flow->cluster_count; c++, index++) {
				if (!has_sid(&flow->clusters[c], channel, sid))
					continue;
				out->r = r;
				out->stream = &r->came.streams[index];
				out->index = index;
				out->modem = modem;
				out->flow = flow;
				out->cluster = &flow->clusters[c];
				return true;
			}
		}
	}
	return false;
}

/* Where the next frame starts at `done` of what was read, behind `front` bytes of one begun before. */
static void pointer_check(const uint8_t *stream, uint32_t begin, uint32_t size,
			  const struct segment_header *h) {
	uint32_t at = 0;

	while (at < begin) {
		struct docsis_mac mac;

		docsis_mac_parse(stream + at, size - at, &mac);
		assert_true(mac.frame_size > 0);
		at += mac.frame_size;
	}
	assert_int_equal(h->pointer_valid, at < size);
	assert_int_equal(h->pointer, at < size ? at - begin : 0);
}

/* The segments of a cluster in the order of their numbers, read as one stream. */
static void segments_read(struct reader *reader) {
	uint8_t stream[2 * UPLINK_RIG_BURST_MAX];
	uint32_t left = 0; /* of a frame begun */

	for (uint16_t sequence = 0;; sequence++) {
		const struct rig_burst *found = NULL;
		struct segment_header h, header = {0};

		for (size_t i = 0; i < reader->r->came.burst_count; i++) {
			const struct rig_burst *b = reader->r->came.bursts[i];

			if (b->kind != RIG_DATA ||
			    !has_sid(reader->cluster, b->channel, b->header.sid))
				continue;
			assert_int_equal(segment_header_parse(b->payload, b->size, &h), SEGMENT_OK);
			if (h.sequence != sequence % 8192)
				continue;
			assert_null(found);
			found = b;
			header = h;
		}
		if (found == NULL)
			break;
		assert_int_equal(header.sid_cluster, reader->cluster->id);
		memcpy(stream + left, found->payload + SEGMENT_HEADER_SIZE,
		       found->size - SEGMENT_HEADER_SIZE);

		uint32_t size = left + found->size - SEGMENT_HEADER_SIZE;
		uint32_t done;

		pointer_check(stream, left, size, &header);
		done = rig_frames_read(reader, stream, size, false);
		left = size - done;
		memmove(stream, stream + done, left);
		reader->stream->segments++;
		reader->stream->asking += header.request > 0;
		reader->stream->without_pointer += !header.pointer_valid;
	}
	assert_int_equal(left, 0);
}

static void ranging_read(struct uplink_rig *r, const struct rig_burst *b) {
	struct reader reader = {0};

	assert_true(reader_of(r, b->channel, b->header.sid, &reader));
	assert_false(b->header.segment_header);
	assert_int_equal(b->header.iuc, 4);
	assert_int_equal(rig_frames_read(&reader, b->payload, b->size, false), b->size);
}

static void burst_check(const struct uplink_rig *r, const struct rig_burst *b,
			const struct reader *reader) {
	bool ofdma = r->sg.upstream_channels[b->channel].type == UPSTREAM_OFDMA;

	assert_true(b->size > 0 && (b->size <= r->grant || r->scheduled));
	assert_true((b->trailer.flags & UEPI_FEC_VALID) != 0);
	assert_true(b->trailer.fec_good > 0);
	if (!ofdma)
		return;
	assert_int_equal(b->header.segment_header, reader->flow->segment_header);
	if (r->scheduled)
		assert_true(b->header.grant_size >= b->size);
	else
		assert_int_equal(b->header.grant_size, b->size);
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
		if (r->sg.upstream_channels[b->channel].type == UPSTREAM_OFDMA)
			assert_in_range(b->header.burst_id, before->header.burst_id + 1,
					before->header.burst_id + 2);
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

void uplink_rig_prove(struct uplink_rig *r) {
	struct reader readers[UPLINK_RIG_STREAMS] = {0};
	struct reader reader = {0};

	for (uint32_t c = 0; c < UPLINK_RIG_CHANNELS; c++) {
		for (int k = 0; k < UPLINK_RIG_KINDS; k++)
			assert_null(r->came.sessions[c][k].open);
	}
	for (size_t i = 0; i < r->came.burst_count; i++) {
		const struct rig_burst *b = r->came.bursts[i];

		if (b->kind == RIG_RANGING)
			ranging_read(r, b);
		if (b->kind != RIG_DATA)
			continue;
		assert_true(reader_of(r, b->channel, b->header.sid, &reader));
		burst_check(r, b, &reader);
		if (readers[reader.index].r == NULL) {
			readers[reader.index] = reader;
			if (reader.flow->segment_header)
				segments_read(&readers[reader.index]);
		}
		if (!reader.flow->segment_header)
			assert_int_equal(
				rig_frames_read(&readers[reader.index], b->payload, b->size, false),
				b->size);
	}
	for (uint32_t s = 0; s < UPLINK_RIG_STREAMS; s++)
		assert_int_equal(readers[s].unit_size, 0);
	if (r->scheduled)
		return;
	times_check(r);
	records_check(r);
}
