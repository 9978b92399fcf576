/* SPDX-License-Identifier: BSD-3-Clause */
/* From frames to packets, by the rules of MULPI and SEC and with as little cleverness as possible. */
#include <string.h>

#include "plain_aes_inverse.h"
#include "test.h"
#include "uplink_rig_reader.h"
#include "wire/crc32.h"
#include "wire/ip.h"

static void sid_check(const struct reader *reader, uint16_t sid) {
	bool known = false;

	for (size_t i = 0; i < reader->cluster->sid_count; i++)
		known = known || reader->cluster->sids[i].sid == sid;
	assert_true(known);
}

/* Decrypts with the key that the header names. */
static void decrypt(struct reader *reader, const struct docsis_mac *mac, uint8_t *data,
		    size_t size) {
	const struct security_association *s = &reader->modem->security;
	int next = mac->key_sequence != s->key_sequence;

	assert_int_equal(s->cipher, CIPHER_AES_128);
	assert_int_equal(mac->privacy_version, DOCSIS_PRIVACY_VERSION);
	assert_int_equal(mac->toggle, mac->key_sequence & 1);
	sid_check(reader, mac->said_or_sid);
	if (next) {
		assert_true(s->has_next_key);
		assert_int_equal(mac->key_sequence, (s->key_sequence + 1) % 16);
	}
	bpi_decrypt(next ? s->next_key : s->key, next ? s->next_iv : s->iv, data, size);
	if (reader->stream->by_key[0] + reader->stream->by_key[1] > 0)
		reader->stream->key_changes += next != reader->stream->last_key;
	reader->stream->last_key = next;
	reader->stream->by_key[next]++;
}

static void packet_note(struct rig_received *came, const struct reader *reader,
			const uint8_t *frame, size_t size) {
	bool v4 = load_be16(frame + 12) == ETHERTYPE_IPV4;
	uint8_t protocol = v4 ? frame[14 + 9] : frame[14 + 6];

	came->by_size[size]++;
	came->by_address[reader->modem - reader->r->sg.modems][v4 ? 0 : 1]++;
	came->tcp += protocol == IP_PROTOCOL_TCP;
	assert_true(protocol == IP_PROTOCOL_TCP || protocol == IP_PROTOCOL_UDP);
	if (v4 && protocol == IP_PROTOCOL_UDP) {
		memcpy(came->plain, frame, size);
		came->plain_size = (uint32_t)size;
	}
}

/* The source belongs to the modem, and IP finds nothing to complain about. */
static void source_check(const struct reader *reader, const uint8_t *frame, size_t size) {
	struct frame_fields fields;
	bool known = false;

	assert_int_equal(frame_parse(frame, size, &fields), FRAME_GOOD);
	assert_true(fields.family == 6 || ipv4_checksum_good(frame + ETHERNET_HEADER));
	for (size_t a = 0; a < reader->modem->address_count; a++) {
		const struct ip_address *address = &reader->modem->addresses[a];

		known = known || (address->family == fields.family &&
				  memcmp(address->bytes, fields.source,
					 ip_address_size(address->family)) == 0);
	}
	assert_true(known);
	assert_memory_not_equal(frame + 6, reader->modem->mac, 6);
	assert_int_equal(frame[6] & 1, 0);
}

static void prove(struct reader *reader, const uint8_t *frame, size_t size) {
	size_t at = packet_tag_find(frame, size);
	struct packet_tag tag;

	assert_true(at > 0);
	packet_tag_read(frame + at, &tag);
	assert_int_equal(tag.target, reader->index);
	assert_int_equal(tag.sequence, reader->stream->next);
	assert_true(uplink_matches(reader->r->uplink, &tag, frame, (uint32_t)size));
	source_check(reader, frame, size);
	packet_note(&reader->r->came, reader, frame, size);
	reader->stream->next++;
	reader->stream->packets++;
}

/* What is asked for: minislots of 16 bytes in eight bits. */
static uint32_t minislots(uint32_t bytes) {
	uint32_t n = (bytes + 15) / 16;

	return n < 255 ? n : 255;
}

static void packet_read(struct reader *reader, const struct docsis_mac *mac, bool joined) {
	bool encrypts = reader->modem->security.cipher == CIPHER_AES_128 && !joined;
	enum docsis_privacy up = reader->flow->segment_header ? PRIVACY_BP_UP2 : PRIVACY_BP_UP;
	uint8_t pdu[DOCSIS_PDU_MAX];

	assert_int_equal(mac->privacy, encrypts ? up : PRIVACY_NONE);
	assert_int_equal(mac->encrypted, encrypts);
	assert_true(mac->pdu_size > DOCSIS_CLEAR_SIZE && mac->pdu_size <= sizeof(pdu));
	memcpy(pdu, mac->pdu, mac->pdu_size);
	if (encrypts)
		decrypt(reader, mac, pdu + DOCSIS_CLEAR_SIZE, mac->pdu_size - DOCSIS_CLEAR_SIZE);
	assert_true(ethernet_crc_good(pdu, mac->pdu_size));
	if (mac->piggyback > 0 || mac->request) {
		assert_int_equal(mac->piggyback > 0 ? mac->piggyback : mac->request_size,
				 minislots(reader->r->grant));
		reader->stream->piggybacks++;
	}
	prove(reader, pdu, mac->pdu_size - ETHERNET_CRC_SIZE);
}

/* RNG-REQ: LLC 00 00 03, version 1, type 4; then SID, downstream channel, pending. */
static void management_read(struct reader *reader, const struct docsis_mac *mac) {
	static const uint8_t fixed[] = {0x00, 0x0a, 0x00, 0x00, 0x03, 0x01, 0x04, 0x00};

	assert_int_equal(mac->pdu_size, 14 + 10 + 4);
	assert_int_equal(mac->privacy, PRIVACY_NONE);
	assert_memory_equal(mac->pdu, reader->r->sg.rphy.core_mac, 6);
	assert_memory_equal(mac->pdu + 6, reader->modem->mac, 6);
	assert_memory_equal(mac->pdu + 12, fixed, sizeof(fixed));
	sid_check(reader, load_be16(mac->pdu + 20));
	assert_true(ethernet_crc_good(mac->pdu, mac->pdu_size));
	reader->stream->management++;
}

static void fragment_read(struct reader *reader, const struct docsis_mac *mac) {
	bool encrypts = reader->modem->security.cipher == CIPHER_AES_128;
	uint8_t *at = reader->unit + reader->unit_size;

	assert_int_equal(mac->encrypted, encrypts);
	assert_int_equal(mac->fragment_first, reader->fragments == 0);
	assert_int_equal(mac->fragment_sequence, reader->fragments % 16);
	assert_int_equal(mac->piggyback > 0, !mac->fragment_last);
	assert_true(reader->unit_size + mac->pdu_size <= sizeof(reader->unit));
	memcpy(at, mac->pdu, mac->pdu_size);
	if (encrypts)
		decrypt(reader, mac, at, mac->pdu_size);
	assert_true(ethernet_crc_good(at, mac->pdu_size));
	reader->unit_size += (uint32_t)mac->pdu_size - ETHERNET_CRC_SIZE;
	reader->fragments++;
	reader->stream->fragments++;
	reader->stream->piggybacks += mac->piggyback > 0;
	if (!mac->fragment_last)
		return;
	assert_int_equal(rig_frames_read(reader, reader->unit, reader->unit_size, true),
			 reader->unit_size);
	assert_true(reader->fragments > 1);
	reader->stream->units++;
	reader->unit_size = 0;
	reader->fragments = 0;
}

static void concatenation_read(struct reader *reader, const struct docsis_mac *mac, bool joined) {
	uint32_t before = reader->stream->packets;

	assert_int_equal(rig_frames_read(reader, mac->pdu, (uint32_t)mac->pdu_size, joined),
			 mac->pdu_size);
	assert_int_equal(reader->stream->packets - before, mac->mac_parm);
	assert_true(mac->mac_parm > 1);
	reader->stream->concatenations++;
}

uint32_t rig_frames_read(struct reader *reader, const uint8_t *bytes, uint32_t size, bool joined) {
	uint32_t done = 0;

	while (done < size) {
		struct docsis_mac mac;
		enum docsis_verdict verdict = docsis_mac_parse(bytes + done, size - done, &mac);

		if (verdict == DOCSIS_TRUNCATED)
			break;
		assert_int_equal(verdict, DOCSIS_OK);
		switch (mac.kind) {
		case DOCSIS_KIND_PACKET: packet_read(reader, &mac, joined); break;
		case DOCSIS_KIND_MANAGEMENT: management_read(reader, &mac); break;
		case DOCSIS_KIND_FRAGMENT: fragment_read(reader, &mac); break;
		case DOCSIS_KIND_CONCATENATION: concatenation_read(reader, &mac, joined); break;
		case DOCSIS_KIND_REQUEST:
			assert_false(reader->flow->segment_header);
			assert_int_equal(mac.request_size, minislots(reader->r->grant));
			sid_check(reader, mac.request_sid);
			reader->stream->request_frames++;
			break;
		case DOCSIS_KIND_QUEUE_REQUEST:
			assert_true(reader->flow->segment_header);
			assert_int_equal(mac.request_size, reader->r->grant / 4); /* N = 4 */
			sid_check(reader, mac.request_sid);
			reader->stream->request_frames++;
			break;
		default: fail_msg("frame control 0x%02x", mac.fc);
		}
		done += mac.frame_size;
	}
	return done;
}
