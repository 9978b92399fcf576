/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes MAC frames and adds them to the encryptor. */
#include "modems/uplink_frames.h"

#include <stdio.h>

#include <rte_memcpy.h>
#include <rte_net_crc.h>

#include "wire/crc32.h"
#include "wire/ip.h"

#define MANAGEMENT_LLC_CONTROL 0x03
#define MANAGEMENT_VERSION 1
#define MANAGEMENT_RNG_REQ 4
#define MANAGEMENT_HEADER 6 /* bytes, from DSAP to the reserved byte */
#define RNG_REQ_BODY 4

static int key_create(struct uplink_modem *m, struct key_store *store, enum cipher cipher,
		      const uint8_t *key, const uint8_t *iv, unsigned sequence) {
	struct stored_key *stored = key_store_get(store, cipher, key);
	struct crypto_key *k = &m->keys[m->key_count];

	if (stored == NULL) {
		fprintf(stderr, "traffic: no memory or free crypto session for a modem's "
				"upstream key\n");
		return -1;
	}
	m->stored[m->key_count] = stored;
	k->schedule = stored->schedule;
	k->cipher = (uint8_t)cipher;
	memcpy(k->iv, iv, sizeof(k->iv));
	k->sequence = sequence & 0x0f;
	m->key_count++;
	return 0;
}

int uplink_modem_create(struct uplink_modem *m, const struct service_group *sg, uint32_t index,
			struct key_store *store) {
	const struct security_association *s = &sg->modems[index].security;

	m->index = index;
	memcpy(m->mac, sg->modems[index].mac, sizeof(m->mac));
	if (s->cipher == CIPHER_NONE)
		return 0;
	if (key_create(m, store, s->cipher, s->key, s->iv, s->key_sequence) != 0)
		return -1;
	if (!s->has_next_key)
		return 0;
	return key_create(m, store, s->cipher, s->next_key, s->next_iv, s->key_sequence + 1u);
}

void uplink_modem_free(struct uplink_modem *m, struct key_store *store) {
	while (m->key_count > 0)
		key_store_put(store, m->stored[--m->key_count]);
}

void uplink_frames_restart(struct uplink_frames *f) {
	f->management = f->requests = f->fragments = f->concatenations = 0;
	f->encryptor.errors = 0;
}

const struct crypto_key *uplink_key_next(struct uplink_modem *m) {
	uint32_t period = m->encrypted / UPLINK_KEY_FRAMES;

	if (m->key_count == 0)
		return NULL;
	m->encrypted++;
	if (m->newest)
		return &m->keys[m->key_count - 1];
	return &m->keys[m->key_count == 2 ? period % 2 : 0];
}

bool uplink_key_same(const struct uplink_modem *a, const struct uplink_modem *b) {
	const struct crypto_key *ka, *kb;

	if (a->key_count == 0 || b->key_count == 0)
		return a->key_count == b->key_count;
	ka = &a->keys[a->key_count - 1];
	kb = &b->keys[b->key_count - 1];
	return ka->schedule == kb->schedule && ka->sequence == kb->sequence &&
	       memcmp(ka->iv, kb->iv, sizeof(ka->iv)) == 0;
}

void uplink_key_name(struct docsis_up_header *h, const struct crypto_key *key) {
	h->encrypted = key != NULL;
	h->key_sequence = key != NULL ? key->sequence : 0;
}

uint32_t uplink_frame_size(const struct uplink_frames *f, const struct docsis_up_header *h,
			   uint32_t stream, uint32_t sequence) {
	return (uint32_t)docsis_up_header_size(h) +
	       uplink_packet_size(&f->packets, stream, sequence) + ETHERNET_CRC_SIZE;
}

/* zlib's CRC would cost more than the cipher. */
static void crc_write(uint8_t *data, uint32_t size) {
	store_le32(data + size, rte_net_crc_calc(data, size, RTE_NET_CRC32_ETH));
}

/* The size of the packet is computed first, as the header before the packet contains its length. */
static uint32_t packet_write(const struct uplink_frames *f, const struct docsis_up_header *h,
			     uint32_t modem, const struct packet_tag *tag, uint8_t *out,
			     uint32_t *header_size) {
	uint32_t size = uplink_packet_size(&f->packets, tag->target, tag->sequence);

	*header_size = (uint32_t)docsis_up_header_write(h, size + ETHERNET_CRC_SIZE, out);
	return uplink_packet_write(&f->packets, modem, tag, out + *header_size);
}

uint32_t uplink_frame_packet(struct uplink_frames *f, const struct docsis_up_header *h,
			     uint32_t modem, const struct packet_tag *tag,
			     const struct crypto_key *key, struct rte_mbuf *buffer, uint32_t at) {
	uint8_t *out = rte_pktmbuf_mtod_offset(buffer, uint8_t *, at);
	uint32_t header;
	uint32_t size = packet_write(f, h, modem, tag, out, &header);

	if (key == NULL) {
		crc_write(out + header, size);
	} else {
		uplink_encrypt_add(&f->encryptor,
				   &(struct uplink_piece){
					   .data = out + header,
					   .key = key,
					   .size = (uint16_t)(size + ETHERNET_CRC_SIZE),
					   .clear = DOCSIS_CLEAR_SIZE,
					   .has_crc = true,
				   });
	}
	return header + size + ETHERNET_CRC_SIZE;
}

uint32_t uplink_frame_clear(struct uplink_frames *f, const struct docsis_up_header *h,
			    uint32_t modem, const struct packet_tag *tag, uint8_t *out) {
	uint32_t header;
	uint32_t size = packet_write(f, h, modem, tag, out, &header);

	crc_write(out + header, size);
	return header + size + ETHERNET_CRC_SIZE;
}

/* SEC: payload and CRC of a fragment are encrypted as one piece. */
uint32_t uplink_frame_fragment(struct uplink_frames *f, const struct docsis_up_header *h,
			       const uint8_t *payload, uint32_t size, const struct crypto_key *key,
			       struct rte_mbuf *buffer, uint32_t at) {
	uint8_t *out = rte_pktmbuf_mtod_offset(buffer, uint8_t *, at);
	uint32_t header = (uint32_t)docsis_up_header_write(h, size + ETHERNET_CRC_SIZE, out);

	rte_memcpy(out + header, payload, size);
	crc_write(out + header, size);
	if (key != NULL)
		uplink_encrypt_add(&f->encryptor,
				   &(struct uplink_piece){
					   .data = out + header,
					   .key = key,
					   .size = (uint16_t)(size + ETHERNET_CRC_SIZE),
					   .clear = DOCSIS_FRAGMENT_CLEAR,
				   });
	f->fragments++;
	return header + size + ETHERNET_CRC_SIZE;
}

uint32_t uplink_frame_ranging(struct uplink_frames *f, const struct uplink_modem *m, uint16_t sid,
			      uint8_t *out) {
	static const struct docsis_up_header header = {.kind = DOCSIS_KIND_MANAGEMENT};
	uint32_t pdu = ETHERNET_HEADER + MANAGEMENT_HEADER + RNG_REQ_BODY;
	uint8_t *p = out + docsis_up_header_write(&header, pdu + ETHERNET_CRC_SIZE, out);

	memset(p, 0, pdu);
	memcpy(p, f->cmts_mac, 6);
	memcpy(p + 6, m->mac, 6);
	store_be16(p + 12, MANAGEMENT_HEADER + RNG_REQ_BODY);
	p[ETHERNET_HEADER + 2] = MANAGEMENT_LLC_CONTROL;
	p[ETHERNET_HEADER + 3] = MANAGEMENT_VERSION;
	p[ETHERNET_HEADER + 4] = MANAGEMENT_RNG_REQ;
	store_be16(p + ETHERNET_HEADER + MANAGEMENT_HEADER, sid);
	p[ETHERNET_HEADER + MANAGEMENT_HEADER + 2] = 1; /* downstream channel ID */
	crc_write(p, pdu);
	f->management++;
	return UPLINK_RANGING_SIZE;
}
