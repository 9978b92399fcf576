/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes upstream traffic as the input says. */
#include "upstream_writer.h"

#include <string.h>

#include "wire/bytes.h"
#include "wire/crc32.h"
#include "wire/hcs.h"
#include "wire/ip.h"

#include "reference_aes.h"

#define HEADERS 58 /* Ethernet, IPv4 or IPv6, session ID */
#define FRAME_MAX 2200

static const uint32_t session_ids[5] = {KIT_SC_QAM, KIT_OFDMA, KIT_OFDMA_2, KIT_REQUESTS,
					KIT_RANGING};

void writer_open(struct writer *w, const struct service_group *sg) {
	w->sg = sg;
	for (unsigned s = 0; s < 5; s++)
		w->sessions[s].session = session_ids[s];
}

static size_t write_encap(const struct writer *w, size_t size, uint8_t *out) {
	const struct rphy_config *rphy = &w->sg->rphy;
	struct depi_encap e = {.family = 4, .ttl = 64, .session = w->sessions[w->session].session};

	memcpy(e.source_ip, rphy->rpd_ip.bytes, 4);
	memcpy(e.destination_ip, rphy->core_ip.bytes, 4);
	return depi_encap_write(&e, size, out);
}

/* Corrects the length and the checksum of the IP header. */
static void correct_ip(uint8_t *frame, size_t size) {
	store_be16(frame + 16, (uint16_t)(size - ETHERNET_HEADER));
	store_be16(frame + 24, ipv4_checksum(frame + ETHERNET_HEADER, IPV4_HEADER));
}

/* Sends a packet to the core, with the chosen fault. */
static void forward(struct writer *w, uint8_t *frame, size_t size) {
	enum writer_fault fault = w->fault;
	uint8_t how;

	w->fault = FAULT_NONE;
	switch (fault) {
	case FAULT_DAMAGED:
		how = input_byte(&w->in);
		frame[input_word(&w->in) % (how & 1 ? 60 : size)] ^= input_byte(&w->in);
		if ((how & 2) != 0)
			correct_ip(frame, size);
		break;
	case FAULT_TRUNCATED:
		size = ETHERNET_HEADER + IPV4_HEADER + input_word(&w->in) % (size - 34);
		correct_ip(frame, size);
		break;
	case FAULT_LATE:
		memcpy(w->late, frame, size);
		w->late_size = size;
		return;
	case FAULT_DUPLICATED: w->packet(w->ctx, frame, size); break;
	case FAULT_NONE:
	case FAULTS: break;
	}
	w->packet(w->ctx, frame, size);
	if (w->late_size > 0)
		w->packet(w->ctx, w->late, w->late_size);
	w->late_size = 0;
}

void writer_flush(struct writer *w) {
	uint8_t frame[HEADERS + PSP_HEADER_FIXED + sizeof(w->table) + sizeof(w->data)], *at;
	size_t table = 2 * (size_t)w->count;

	if (w->count == 0)
		return;
	at = frame + write_encap(w, PSP_HEADER_FIXED + table + w->size, frame);
	psp_header_write(at, w->flow, w->count, w->sessions[w->session].sequence[w->flow]++);
	memcpy(at + PSP_HEADER_FIXED, w->table, table);
	memcpy(at + PSP_HEADER_FIXED + table, w->data, w->size);
	at += PSP_HEADER_FIXED + table + w->size;
	w->count = 0;
	w->size = 0;
	forward(w, frame, (size_t)(at - frame));
}

void writer_fault(struct writer *w) {
	w->fault = (enum writer_fault)(input_byte(&w->in) % FAULTS);
}

/* Adds a PSP segment to the packet. Sends a full packet first. */
static void add_segment(struct writer *w, bool begin, bool end, const uint8_t *bytes, size_t size) {
	if (w->count == PSP_COUNT_MAX || w->size + size > sizeof(w->data))
		writer_flush(w);
	psp_entry_write(w->table + 2 * w->count++, begin, end, (uint16_t)size);
	memcpy(w->data + w->size, bytes, size);
	w->size += size;
}

static void choose_session(struct writer *w, unsigned session, uint8_t flow) {
	if (session == w->session && flow == w->flow)
		return;
	writer_flush(w);
	w->session = session;
	w->flow = flow;
}

static enum uepi_format session_format(const struct writer *w) {
	return w->sessions[w->session].session == KIT_SC_QAM ? UEPI_SC_QAM : UEPI_OFDMA;
}

/* Bits of `faults`: 1 no header, 2 no trailer, 4 truncated, 8 an extra segment, 16 not sent. */
static void write_burst(struct writer *w, uint16_t sid, const uint8_t *payload, size_t size,
			uint8_t faults) {
	struct uepi_header h = {.iuc = 5, .sid = sid, .burst_id = ++w->burst_id};
	struct uepi_trailer t = {.burst_id = w->burst_id, .flags = UEPI_FEC_VALID};
	size_t step = input_byte(&w->in) * 8u + 16;
	uint8_t bytes[UEPI_TRAILER_MAX];

	if ((faults & 4) != 0)
		size = size * input_byte(&w->in) / 256;
	if ((faults & 1) == 0)
		add_segment(w, true, false, bytes, uepi_header_write(session_format(w), &h, bytes));
	for (size_t at = 0; at < size; at += step)
		add_segment(w, false, false, payload + at, size - at < step ? size - at : step);
	if ((faults & 8) != 0)
		add_segment(w, (input_byte(&w->in) & 1) != 0, (input_byte(&w->in) & 1) != 0, bytes,
			    input_byte(&w->in));
	if ((faults & 2) == 0)
		add_segment(w, false, true, bytes,
			    uepi_trailer_write(session_format(w), &t, bytes));
	if ((faults & 16) != 0) {
		w->sessions[w->session].sequence[w->flow] += input_byte(&w->in) & 63;
		w->count = 0;
		w->size = 0;
	}
}

/* Writes a packet of the modem: IPv4, IPv6, or bytes of the input. */
static size_t write_ethernet(struct writer *w, const struct modem *m, uint8_t *out) {
	uint8_t what = input_byte(&w->in);
	size_t size = what < 0x80 ? 14u + what : 14u + 8u * (what & 0x7f);
	uint8_t kind = input_byte(&w->in);

	for (size_t i = 0; i < size; i++)
		out[i] = (uint8_t)(what + i);
	memcpy(out + 6, m->mac, 6);
	if ((kind & 1) != 0 && size >= 54) {
		store_be16(out + 12, ETHERTYPE_IPV6);
		memset(out + 14, 0, 40);
		out[14] = 0x60;
		out[20] = kind;
		store_be16(out + 18, (uint16_t)(size - 54));
		memcpy(out + 22, m->addresses[1].bytes, 16);
	} else if (size >= 34) {
		store_be16(out + 12, ETHERTYPE_IPV4);
		memset(out + 14, 0, 20);
		out[14] = 0x45;
		out[23] = kind;
		store_be16(out + 16, (uint16_t)(size - 14));
		memcpy(out + 26, m->addresses[0].bytes, 4);
	}
	if ((kind & 0x80) != 0)
		out[input_byte(&w->in) % size] ^= input_byte(&w->in);
	return size;
}

static void frames_add(struct writer_queue *queue, const uint8_t *bytes, size_t size) {
	if (queue->size + size > sizeof(queue->bytes) || queue->frames == 64)
		return;
	queue->begins[queue->frames++] = (uint16_t)queue->size;
	memcpy(queue->bytes + queue->size, bytes, size);
	queue->size += (uint32_t)size;
}

static size_t write_mac_frame(const struct modem *m, const struct docsis_up_header *h, uint8_t *pdu,
			      size_t size, uint8_t *out) {
	const struct security_association *sa = &m->security;
	size_t clear = h->kind == DOCSIS_KIND_FRAGMENT ? DOCSIS_FRAGMENT_CLEAR : DOCSIS_CLEAR_SIZE;
	size_t header = docsis_up_header_write(h, size + ETHERNET_CRC_SIZE, out);

	ethernet_crc_write(pdu, size);
	size += ETHERNET_CRC_SIZE;
	if (h->encrypted && size > clear)
		bpi_encrypt(sa->key, sa->iv, pdu + clear, size - clear);
	memcpy(out + header, pdu, size);
	return header + size;
}

static size_t write_fragment(struct writer *w, struct writer_queue *queue, const struct modem *m,
			     struct docsis_up_header *h, uint8_t *out) {
	struct docsis_up_header inner = {.kind = DOCSIS_KIND_PACKET};
	uint8_t unit[FRAME_MAX], pdu[FRAME_MAX];
	uint8_t flags = input_byte(&w->in);
	size_t size = 0;

	for (int i = 0; i <= flags >> 6; i++) {
		size_t frame = write_ethernet(w, m, pdu);

		if (size + frame + 32 > 1900)
			break;
		size += write_mac_frame(m, &inner, pdu, frame, unit + size);
	}
	h->kind = DOCSIS_KIND_FRAGMENT;
	h->privacy = PRIVACY_BP_UP;
	h->fragment_first = (flags & 1) != 0;
	h->fragment_last = (flags & 2) != 0;
	h->fragment_sequence = (queue->fragment++ + (flags >> 2 & 1)) & 0xf;
	if (!h->fragment_last) /* the rest is lost, unless it comes by chance */
		size = size / 2 + 1;
	return write_mac_frame(m, h, unit, size, out);
}

/* Changes a byte of a frame. The HCS may be corrected. */
static void damage_frame(struct writer *w, uint8_t *frame, size_t size) {
	uint8_t how = input_byte(&w->in);
	struct docsis_mac mac;

	docsis_mac_parse(frame, size, &mac);
	if (mac.header_size == 0 || (how & 1) != 0) {
		frame[input_word(&w->in) % size] ^= input_byte(&w->in);
		return;
	}
	frame[input_byte(&w->in) % mac.header_size] ^= input_byte(&w->in);
	docsis_hcs_write(frame, mac.header_size - DOCSIS_HCS_SIZE);
}

void writer_frame(struct writer *w) {
	unsigned stream = input_byte(&w->in) % KIT_STREAMS;
	const struct kit_stream *s = &kit_streams[stream];
	const struct modem *m = &w->sg->modems[s->modem];
	struct writer_queue *queue = &w->queues[stream];
	uint8_t kind = input_byte(&w->in), pdu[FRAME_MAX], out[2 * FRAME_MAX];
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_PACKET,
		.privacy = kind & 0x10 ? PRIVACY_BP_UP2 : PRIVACY_BP_UP,
		.encrypted = m->security.cipher != CIPHER_NONE,
		.key_sequence = m->security.key_sequence,
		.sid = s->sid,
		.piggyback = kind & 0x20 ? 9 : 0,
		.request = (kind & 0x40) != 0,
	};
	size_t size = 0;

	switch (kind & 7) {
	case 0: size = docsis_request_write(kind, s->sid, out); break;
	case 1: size = docsis_queue_request_write(kind, s->sid, out); break;
	case 2: size = docsis_concatenation_write(2, kind * 8u, out); break;
	case 3:
		h = (struct docsis_up_header){.kind = DOCSIS_KIND_MANAGEMENT};
		size = write_mac_frame(m, &h, pdu, write_ethernet(w, m, pdu), out);
		break;
	case 4: size = write_fragment(w, queue, m, &h, out); break;
	default: size = write_mac_frame(m, &h, pdu, write_ethernet(w, m, pdu), out);
	}
	if ((kind & 0x80) != 0)
		damage_frame(w, out, size);
	frames_add(queue, out, size);
}

/* Removes the first `size` bytes. */
static void frames_remove(struct writer_queue *queue, uint32_t size) {
	uint32_t kept = 0;

	memmove(queue->bytes, queue->bytes + size, queue->size - size);
	queue->size -= size;
	for (uint32_t f = 0; f < queue->frames; f++) {
		if (queue->begins[f] >= size)
			queue->begins[kept++] = (uint16_t)(queue->begins[f] - size);
	}
	queue->frames = kept;
}

/* Bits of `faults`: 1 number, 2 pointer, 4 any byte. */
static void write_segment(struct writer *w, const struct kit_stream *s, struct writer_queue *queue,
			  uint32_t size, uint8_t faults, uint8_t *out) {
	struct segment_header h = {.sid_cluster = s->cluster, .request = faults};

	if ((faults & 1) != 0)
		queue->sequence += (uint16_t)(int8_t)input_byte(&w->in);
	h.sequence = queue->sequence++;
	if (queue->frames > 0 && queue->begins[0] < size) {
		h.pointer_valid = true;
		h.pointer = queue->begins[0];
	}
	if ((faults & 2) != 0) {
		h.pointer_valid = (faults & 8) != 0;
		h.pointer = input_word(&w->in);
	}
	segment_header_write(&h, out);
	if ((faults & 4) != 0) {
		out[input_byte(&w->in) % 6] ^= input_byte(&w->in);
		docsis_hcs_write(out, 6);
	}
}

void writer_burst(struct writer *w) {
	uint8_t which = input_byte(&w->in), faults = input_byte(&w->in);
	unsigned stream = which % KIT_STREAMS;
	const struct kit_stream *s = &kit_streams[stream];
	struct writer_queue *queue = &w->queues[stream];
	uint8_t out[SEGMENT_HEADER_SIZE + WRITER_QUEUE];
	uint32_t size = input_byte(&w->in) * 16u, header = 0;
	uint8_t broken = (faults & 0xf0) != 0 ? input_byte(&w->in) & 31 : 0;

	size = size > queue->size || size == 0 ? queue->size : size;
	choose_session(w, s->channels[which >> 7], which >> 4 & 1 ? which & 7 : 0);
	if (s->segment_header) {
		write_segment(w, s, queue, size, faults & 0xf, out);
		header = SEGMENT_HEADER_SIZE;
	} else if ((faults & 3) != 1) {
		size = queue->size; /* all frames, whole */
	}
	memcpy(out + header, queue->bytes, size);
	frames_remove(queue, size);
	write_burst(w, s->sid, out, header + size, broken);
	if ((which & 0x40) != 0)
		writer_flush(w);
}

void writer_records(struct writer *w) {
	uint8_t what = input_byte(&w->in), bytes[UEPI_REQUEST_SIZE];
	struct uepi_request r = {
		.sid = kit_streams[what % KIT_STREAMS].sid,
		.size = what,
		.n_bytes = (what & 0x40) != 0,
		.cluster_valid = (what & 0x20) != 0,
	};

	choose_session(w, 3, 0);
	uepi_request_write(UEPI_OFDMA, &r, bytes);
	if ((what & 0x80) != 0)
		bytes[what & 15] ^= input_byte(&w->in);
	add_segment(w, true, true, bytes, sizeof(bytes));
}

void writer_raw(struct writer *w) {
	uint8_t what = input_byte(&w->in), bytes[256], frame[HEADERS + 256];
	size_t size = input_byte(&w->in), headers = 0;

	if (size > (size_t)(w->in.end - w->in.at))
		size = (size_t)(w->in.end - w->in.at);
	memcpy(bytes, w->in.at, size);
	w->in.at += size;
	switch (what & 3) {
	case 0: /* a burst, also on the ranging session */
		choose_session(w, what >> 2 & 1 ? 4 : what >> 3 & 3, 0);
		write_burst(w, kit_streams[what % KIT_STREAMS].sid, bytes, size, 0);
		break;
	case 1: frames_add(&w->queues[what % KIT_STREAMS], bytes, size); break;
	case 2: /* a PSP packet */
		writer_flush(w);
		w->session = (what >> 2) % 5;
		headers = write_encap(w, size, frame);
		/* fall through */
	default: /* a whole Ethernet frame */
		memcpy(frame + headers, bytes, size);
		w->packet(w->ctx, frame, headers + size);
	}
}
