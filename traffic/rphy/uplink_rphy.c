/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds UEPI headers, trailers and request records to bursts. */
#include "rphy/uplink_rphy.h"

#include <stdio.h>
#include <stdlib.h>

#define IUC_STATION_MAINTENANCE 4
#define IUC_OFDMA_DATA 5
#define IUC_SC_QAM_DATA 10 /* advanced PHY, long grants */
#define MINISLOT_BYTES 16
#define SC_QAM_CODEWORD 232 /* codeword bytes including Reed-Solomon */
#define OFDMA_CODEWORD 1800 /* bytes of the long LDPC codeword */
#define SNR 146 /* 36.5 dB */
#define HEADER_VERSION_BIT 0x80

int uplink_rphy_create(struct uplink_rphy *r, const struct service_group *sg, uint16_t port,
		       struct rte_mempool *pool) {
	if (uplink_output_create(&r->output, sg, port, pool) != 0)
		return -1;
	r->channels = calloc(SG_MAX_UPSTREAM_CHANNELS, sizeof(*r->channels));
	if (r->channels == NULL) {
		fprintf(stderr, "traffic: no memory for the upstream channels\n");
		return -1;
	}
	uplink_rphy_set_channels(r, sg->upstream_channels, (uint32_t)sg->upstream_channel_count);
	return 0;
}

/* The open packet belongs to the previous session, so it is closed. */
static void session_set(struct uplink_rphy *r, struct uplink_session *s, uint32_t *id,
			uint32_t next) {
	if (*id == next)
		return;
	uplink_session_close(&r->output, s);
	*s = (struct uplink_session){0};
	uplink_session_create(s, &r->output, next);
	*id = next;
}

void uplink_rphy_set_channels(struct uplink_rphy *r, const struct upstream_channel *channels,
			      uint32_t count) {
	for (uint32_t c = 0; c < count; c++) {
		const struct upstream_channel *config = &channels[c];
		struct uplink_channel *channel = &r->channels[c];

		if (config->session == 0)
			continue; /* a free slot */
		channel->format = config->type == UPSTREAM_OFDMA ? UEPI_OFDMA : UEPI_SC_QAM;
		channel->has_requests = config->request_session != 0;
		channel->has_ranging = config->ranging_session != 0;
		session_set(r, &channel->data, &channel->session_id, config->session);
		session_set(r, &channel->requests, &channel->request_session_id,
			    config->request_session);
		session_set(r, &channel->ranging, &channel->ranging_session_id,
			    config->ranging_session);
	}
}

void uplink_rphy_free(struct uplink_rphy *r) {
	uplink_sessions_discard(&r->output);
	uplink_output_free(&r->output);
	free(r->channels);
}

void uplink_rphy_restart(struct uplink_rphy *r) {
	r->bursts = r->segments = r->request_records = 0;
	uplink_output_restart(&r->output);
}

static void header_send(struct uplink_rphy *r, struct uplink_channel *c, struct uplink_session *s,
			const struct uplink_burst *b, uint8_t iuc, uint64_t now) {
	struct uepi_header h = {
		.no_burst = b->unused,
		.iuc = iuc,
		.sid = b->foreign_sid != 0 ? b->foreign_sid : b->sid,
		.start_minislot = c->minislot,
		.segment_header = b->segment_header,
		.burst_id = c->burst_id,
		.grant_size = b->slot.from_map ? b->slot.size : b->size,
	};
	uint8_t bytes[UEPI_HEADER_MAX];
	size_t size = uepi_header_write(c->format, &h, bytes);

	if (b->header_damage && c->format == UEPI_OFDMA)
		bytes[0] ^= HEADER_VERSION_BIT;
	else if (b->header_damage)
		/* receivers accept any version of SC-QAM, so the length is the only field to damage */
		size--;
	uplink_session_unit(&r->output, s, true, false, bytes, (uint32_t)size, now);
}

static void trailer_send(struct uplink_rphy *r, struct uplink_channel *c, struct uplink_session *s,
			 const struct uplink_burst *b, uint64_t now) {
	bool ofdma = c->format == UEPI_OFDMA;
	uint32_t codeword = ofdma ? OFDMA_CODEWORD : SC_QAM_CODEWORD;
	struct uepi_trailer t = {
		.flags = UEPI_FEC_VALID | UEPI_SNR_VALID,
		.fec_good = (uint16_t)((b->size + codeword - 1) / codeword),
		.snr = SNR,
		.burst_id = c->burst_id ^ b->trailer_damage,
	};
	uint8_t bytes[UEPI_TRAILER_MAX];
	size_t size;

	if (ofdma)
		t.flags |= UEPI_POWER_VALID | UEPI_TIMING_VALID;
	size = uepi_trailer_write(c->format, &t, bytes);
	uplink_session_unit(&r->output, s, false, true, bytes, (uint32_t)size, now);
}

/* Uses the minislot of the MAP if there is one; otherwise the next minislot. */
static void slot_set(struct uplink_channel *c, const struct uplink_burst *b) {
	if (b->slot.from_map)
		c->minislot = b->slot.minislot;
}

static void rphy_burst_send(struct uplink_rphy *r, struct uplink_channel *c,
			    struct uplink_session *s, const struct uplink_burst *b, uint8_t iuc,
			    uint64_t now) {
	s->shadow = b->shadow;
	slot_set(c, b);
	header_send(r, c, s, b, iuc, now);
	uplink_session_payload(&r->output, s, b->payload, b->size - b->truncated, now);
	trailer_send(r, c, s, b, now);
	if (b->ended.packets > 0)
		uplink_session_ended(&r->output, s, &b->ended);
	if (c->format == UEPI_SC_QAM)
		uplink_session_close(&r->output, s);
	r->bursts++;
	r->segments += b->segment_header;
	c->burst_id++;
	if (!b->slot.from_map)
		c->minislot += (b->size + MINISLOT_BYTES - 1) / MINISLOT_BYTES;
}

static void request_send(struct uplink_rphy *r, struct uplink_channel *c,
			 const struct uplink_burst *b, uint8_t iuc, uint64_t now) {
	struct uepi_request record = b->request;
	uint8_t bytes[UEPI_REQUEST_SIZE];
	size_t size;

	slot_set(c, b);
	record.iuc = iuc;
	record.scheduled_sid = b->sid;
	record.sid = b->sid;
	record.start_minislot = c->minislot;
	record.session = c->session_id;
	size = uepi_request_write(c->format, &record, bytes);
	uplink_session_unit(&r->output, &c->requests, true, true, bytes, (uint32_t)size, now);
	r->request_records++;
}

static uint8_t iuc_of(const struct uplink_channel *c, const struct uplink_burst *b) {
	if (b->slot.from_map)
		return b->slot.iuc;
	return c->format == UEPI_OFDMA ? IUC_OFDMA_DATA : IUC_SC_QAM_DATA;
}

void uplink_rphy_data(struct uplink_rphy *r, uint32_t channel, const struct uplink_burst *b,
		      uint64_t now) {
	struct uplink_channel *c = &r->channels[channel];
	uint8_t iuc = iuc_of(c, b);

	if (b->request.size > 0 && c->has_requests)
		request_send(r, c, b, iuc, now);
	rphy_burst_send(r, c, &c->data, b, iuc, now);
}

void uplink_rphy_request(struct uplink_rphy *r, uint32_t channel, const struct uplink_burst *b,
			 uint64_t now) {
	struct uplink_channel *c = &r->channels[channel];

	if (c->has_requests)
		request_send(r, c, b, iuc_of(c, b), now);
	else
		rphy_burst_send(r, c, &c->data, b, iuc_of(c, b), now);
}

void uplink_rphy_ranging(struct uplink_rphy *r, uint32_t channel, const struct uplink_burst *b,
			 uint64_t now) {
	struct uplink_channel *c = &r->channels[channel];

	rphy_burst_send(r, c, &c->ranging, b, IUC_STATION_MAINTENANCE, now);
}
