/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decoders on what a real CMTS core sent to an R-PHY device: every frame of its downstream
 * sessions has a good HCS and CRC, every MAP and UCD comes back byte for byte. The capture stands in
 * VCMTS_CAPTURES, or beside the checkout in shared/captures; without it the test is skipped.
 */
#include "test_main.h"

#include <stdio.h>
#include <stdlib.h>

#include <pcap/pcap.h>

#include "wire/crc32.h"
#include "wire/docsis_mac.h"
#include "wire/l2tpv3.h"
#include "wire/management.h"
#include "wire/map.h"
#include "wire/psp.h"
#include "wire/ucd.h"

#define FRAMES 8636 /* in the downstream sessions */
#define MAP_LENGTH 320 /* minislots */
#define MAPS 8439 /* in the MAP session; the capture ends before the last one is a frame too */
#define UCDS 66
#define SESSIONS_MAX 16
#define EXTRA 2 /* bytes behind the segment table of the downstream sessions */

struct session {
	uint32_t id;
	bool downstream;
	uint16_t next; /* sequence number */
};

struct seen {
	struct session sessions[SESSIONS_MAX];
	unsigned session_count;
	unsigned frames, maps;
	unsigned frame_maps, ucds; /* among the frames */
};

static pcap_t *capture_find(void) {
	const char *folder = getenv("VCMTS_CAPTURES");
	char path[4096], error[PCAP_ERRBUF_SIZE];

	snprintf(path, sizeof(path), "%s/rpd-session.pcap", folder ? folder : CAPTURES_DIR);
	return pcap_open_offline(path, error);
}

/* A session is a downstream one when its first packet holds a DOCSIS frame behind extra bytes. */
static struct session *session_find(struct seen *seen, const struct l2tp_data *data) {
	struct docsis_mac mac;
	struct psp psp;
	struct session *s;

	for (unsigned i = 0; i < seen->session_count; i++) {
		if (seen->sessions[i].id == data->session)
			return &seen->sessions[i];
	}
	assert_true(seen->session_count < SESSIONS_MAX);
	s = &seen->sessions[seen->session_count++];
	s->id = data->session;
	s->downstream = psp_parse(data->payload, data->payload_size, EXTRA, &psp) == PSP_OK &&
			docsis_mac_parse(psp.data, psp.data_size, &mac) == DOCSIS_OK;
	assert_int_equal(
		psp_parse(data->payload, data->payload_size, s->downstream ? EXTRA : 0, &psp),
		PSP_OK);
	s->next = psp.sequence;
	return s;
}

/* The body of a MAP keeps the rules, and is written as it was. */
static void map_comes_back(const struct management *m) {
	uint8_t written[MAP_BODY_MAX];
	struct map map;

	assert_int_equal(map_read(&map, m->version, m->body, m->body_size), MAP_OK);
	assert_int_equal(map_check(&map), MAP_OK);
	assert_int_equal(map_minislots(&map), MAP_LENGTH);
	assert_int_equal(map_write(written, sizeof(written), &map), m->body_size);
	assert_memory_equal(written, m->body, m->body_size);
}

static void ucd_comes_back(const struct management *m) {
	static struct ucd ucd;
	uint8_t written[MANAGEMENT_BODY_MAX];

	assert_int_equal(ucd_read(&ucd, m->type, m->body, m->body_size), UCD_OK);
	assert_int_equal(ucd_check(&ucd), UCD_OK);
	assert_int_equal(m->version, ucd_version(m->type));
	assert_int_equal(ucd_write(written, sizeof(written), &ucd), m->body_size);
	assert_memory_equal(written, m->body, m->body_size);
}

/* A message of either pseudowire; returns its type. */
static uint8_t message_comes_back(const struct psp_segment *segment, bool frame) {
	uint8_t written[MANAGEMENT_FRAME_MAX];
	struct management m;

	assert_int_equal(frame ? management_frame_read(segment->data, segment->length, &m)
			       : management_read(segment->data, segment->length, &m),
			 MANAGEMENT_OK);
	assert_int_equal(frame ? management_frame_write(&m, written, sizeof(written))
			       : management_write(&m, written, sizeof(written)),
			 segment->length);
	assert_memory_equal(written, segment->data, segment->length);
	if (m.type == MANAGEMENT_MAP)
		map_comes_back(&m);
	if (m.type == MANAGEMENT_UCD)
		ucd_comes_back(&m);
	return m.type;
}

static void frame_check(struct seen *seen, const struct psp_segment *segment) {
	struct docsis_mac mac;

	assert_true(segment->begin && segment->end);
	assert_int_equal(docsis_mac_parse(segment->data, segment->length, &mac), DOCSIS_OK);
	assert_int_equal(mac.frame_size, segment->length);
	assert_true(ethernet_crc_good(mac.pdu, mac.pdu_size));
	if (mac.kind != DOCSIS_KIND_MANAGEMENT)
		return;

	uint8_t type = message_comes_back(segment, true);

	seen->frame_maps += type == MANAGEMENT_MAP;
	seen->ucds += type == MANAGEMENT_UCD;
}

static void packet_check(struct seen *seen, const uint8_t *frame, size_t size) {
	struct psp_cursor cursor = {0};
	struct psp_segment segment;
	struct l2tp_data data;
	struct session *s;
	struct psp psp;

	if (l2tp_parse(frame, size, &data) != L2TP_OK)
		return; /* LAN traffic, L2TPv3 control */
	s = session_find(seen, &data);
	assert_int_equal(
		psp_parse(data.payload, data.payload_size, s->downstream ? EXTRA : 0, &psp),
		PSP_OK);
	assert_int_equal(psp.sequence, s->next++);
	while (psp_next(&psp, &cursor, &segment)) {
		if (s->downstream) {
			frame_check(seen, &segment);
			seen->frames++;
		} else {
			assert_int_equal(message_comes_back(&segment, false), MANAGEMENT_MAP);
			seen->maps++;
		}
	}
}

TEST(every_frame_is_good) {
	struct seen seen = {0};
	struct pcap_pkthdr *header;
	const uint8_t *data;
	pcap_t *in = capture_find();

	if (in == NULL) {
		print_message("rpd-session.pcap is not there: skipped\n");
		skip();
	}
	while (pcap_next_ex(in, &header, &data) == 1) {
		assert_int_equal(header->caplen, header->len);
		packet_check(&seen, data, header->caplen);
	}
	pcap_close(in);
	assert_int_equal(seen.frames, FRAMES);
	assert_int_equal(seen.maps, MAPS);
	assert_int_equal(seen.frame_maps, MAPS - 1);
	assert_int_equal(seen.ucds, UCDS);
}
