/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/frames.h"

#include "upstream/stream.h"
#include "wire/crc32.h"
#include "wire/ip.h"

static enum us_frame_action header_dropped(const struct us_streams *all,
					   const struct us_cursor *cursor, enum drop_reason reason,
					   const struct docsis_mac *mac) {
	drop_count(all->counters, cursor->segment, reason);
	return mac->frame_size != 0 ? US_FRAME_SKIP : US_FRAME_RESYNC;
}

/* Whether the burst came from a ranging session or a request opportunity. */
static bool cursor_is_ranging(const struct us_streams *all, const struct us_cursor *cursor) {
	return all->tables->flows[cursor->stream->flow].modem == PENDING_NO_MODEM;
}

static void header_request(const struct us_streams *all, const struct us_cursor *cursor,
			   enum us_request_kind kind, uint16_t size, uint16_t sid) {
	const struct us_stream *s;

	if (us_request_is_repeated(all->requests, cursor->channel))
		return;
	s = us_stream_of_sid(all->tables, cursor->channel, sid);
	if (s == NULL || (s->modem != cursor->stream->modem && !cursor->request)) {
		count(all->counters, COUNTER_BAD_REQUESTS, 1);
		return;
	}
	us_request_put(all->requests, s,
		       &(struct us_request){
			       .channel = cursor->channel,
			       .size = size,
			       .kind = (uint8_t)kind,
			       .cluster = s->cluster,
			       .n_bytes = kind == REQUEST_QUEUE_DEPTH,
			       .contended = kind == REQUEST_FRAME || kind == REQUEST_QUEUE_DEPTH,
		       });
}

static enum us_request_kind header_request_kind(const struct docsis_mac *mac) {
	if (mac->kind == DOCSIS_KIND_REQUEST)
		return REQUEST_FRAME;
	return mac->kind == DOCSIS_KIND_QUEUE_REQUEST ? REQUEST_QUEUE_DEPTH : REQUEST_ELEMENT;
}

void us_frame_requests(const struct us_streams *all, const struct us_cursor *cursor,
		       const struct docsis_mac *mac) {
	if (mac->piggyback != 0)
		header_request(all, cursor, REQUEST_PIGGYBACK, mac->piggyback, mac->said_or_sid);
	if (mac->request)
		header_request(all, cursor, header_request_kind(mac), mac->request_size,
			       mac->request_sid);
}

static enum us_frame_action header_is_frame(const struct us_streams *all,
					    const struct us_cursor *cursor,
					    const struct docsis_mac *mac) {
	if (cursor_is_ranging(all, cursor) && !cursor->request)
		return header_dropped(all, cursor, DROP_NOT_RANGING, mac);
	us_frame_requests(all, cursor, mac);
	count(all->counters, COUNTER_REQUEST_FRAMES, 1);
	return US_FRAME_HEADER;
}

/* Checks the length of a frame with a PDU, and whether its stream may carry such a frame. */
static enum us_frame_action header_with_pdu(const struct us_streams *all,
					    const struct us_cursor *cursor,
					    const struct docsis_mac *mac) {
	bool fragment = mac->kind == DOCSIS_KIND_FRAGMENT;
	uint32_t min = fragment ? ETHERNET_CRC_SIZE + 1 : ETHERNET_HEADER + ETHERNET_CRC_SIZE;
	uint32_t max = fragment ? US_FRAME_SIZE : all->max_pdu;

	if (cursor_is_ranging(all, cursor) && mac->kind != DOCSIS_KIND_MANAGEMENT)
		return header_dropped(all, cursor, DROP_NOT_RANGING, mac);
	if (fragment && cursor->joined)
		return header_dropped(all, cursor, DROP_FRAME_RESERVED, mac);
	if (mac->phsi != 0 && !fragment && mac->kind != DOCSIS_KIND_MANAGEMENT)
		return header_dropped(all, cursor, DROP_FRAME_PHS, mac);
	if (us_frame_pdu(mac) < min)
		return header_dropped(all, cursor, DROP_FRAME_RUNT, mac);
	if (us_frame_pdu(mac) > max)
		return header_dropped(all, cursor, DROP_FRAME_TOO_LONG, mac);
	us_frame_requests(all, cursor, mac);
	return US_FRAME_FORWARD;
}

enum us_frame_action us_frame_check(const struct us_streams *all, const struct us_cursor *cursor,
				    enum docsis_verdict verdict, const struct docsis_mac *mac) {
	switch (verdict) {
	case DOCSIS_BAD_HCS:
		return header_dropped(all, cursor, DROP_FRAME_HCS, &(struct docsis_mac){0});
	case DOCSIS_BAD_EHDR: return header_dropped(all, cursor, DROP_FRAME_EHDR, mac);
	case DOCSIS_BAD_LENGTH: return header_dropped(all, cursor, DROP_FRAME_LENGTH, mac);
	case DOCSIS_RESERVED: return header_dropped(all, cursor, DROP_FRAME_RESERVED, mac);
	case DOCSIS_OK:
	case DOCSIS_TRUNCATED: break;
	}
	switch (mac->kind) {
	case DOCSIS_KIND_PACKET:
	case DOCSIS_KIND_ISOLATION:
	case DOCSIS_KIND_MANAGEMENT:
	case DOCSIS_KIND_FRAGMENT: return header_with_pdu(all, cursor, mac);
	case DOCSIS_KIND_REQUEST:
	case DOCSIS_KIND_QUEUE_REQUEST: return header_is_frame(all, cursor, mac);
	case DOCSIS_KIND_CONCATENATION:
		count(all->counters, COUNTER_CONCATENATIONS, 1);
		return US_FRAME_HEADER;
	case DOCSIS_KIND_RESERVED:
	case DOCSIS_KIND_TIMING: break;
	}
	return header_dropped(all, cursor, DROP_FRAME_RESERVED, mac);
}

uint32_t us_frame_header_needs(const uint8_t *header, uint32_t have) {
	if (have < DOCSIS_MAC_HEADER)
		return DOCSIS_MAC_HEADER;
	if ((header[0] & (DOCSIS_FC_TYPE | DOCSIS_FC_PARM)) == DOCSIS_FC_QUEUE_REQUEST)
		return DOCSIS_QUEUE_REQUEST_SIZE;
	return DOCSIS_MAC_HEADER + header[1];
}

bool us_frame_is_header(const struct docsis_mac *mac) {
	return mac->kind == DOCSIS_KIND_REQUEST || mac->kind == DOCSIS_KIND_QUEUE_REQUEST ||
	       mac->kind == DOCSIS_KIND_CONCATENATION;
}

void us_frame_describe(struct rte_mbuf *m, const struct us_cursor *cursor,
		       const struct docsis_mac *mac) {
	struct us_meta *meta = us_meta(m);
	bool privacy = mac->privacy == PRIVACY_BP_UP || mac->privacy == PRIVACY_BP_UP2;

	meta->frame.flow = cursor->stream->flow & 0xffffff;
	meta->frame.channel = cursor->channel & 0xff;
	meta->frame.sid = mac->said_or_sid;
	meta->frame.management = mac->kind == DOCSIS_KIND_MANAGEMENT;
	meta->frame.fragment = mac->kind == DOCSIS_KIND_FRAGMENT;
	meta->frame.fragment_first = mac->fragment_first;
	meta->frame.fragment_last = mac->fragment_last;
	meta->frame.fragment_sequence = mac->fragment_sequence & 0xf;
	meta->frame.privacy = privacy;
	meta->frame.encrypted = privacy && mac->encrypted;
	meta->frame.toggle = mac->toggle;
	meta->frame.key_sequence = mac->key_sequence & 0xf;
	meta->frame.joined = false; /* not the chain of fragments */
}
