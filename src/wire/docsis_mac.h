/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DOCSIS MAC frame (MULPI, MAC frame formats; SEC, privacy extended headers).
 *
 *     +---------+----------+---------+------------+---------+--------------------------+
 *     | FC (1)  | MAC_PARM | LEN (2) | EHDR       | HCS (2) | PDU                      |
 *     |         | (1)      |         | 0..240     | low 1st | DA SA type .. CRC        |
 *     +---------+----------+---------+------------+---------+--------------------------+
 *      FC = type(2) parameter(5) EHDR_ON(1)
 *      MAC_PARM = ELEN, the bytes of EHDR, if EHDR_ON
 *      LEN = ELEN + bytes behind the HCS; so the whole frame always has 6 + LEN bytes
 *
 * The extended header is a list of elements, type(4) length(4) and then `length` bytes:
 *
 *     0x44  key sequence(4) version(4) | EN(1) toggle(1) SAID(14) | 0(8)          BP_DOWN
 *     0x8n  priority(3) change(1) DSID(20) | sequence(16)   n = 1, 3, 5           DS EHDR
 *
 *     01 0B 0067  44 51 C123 00  85 61 2345 0007  BDD3      header of a 92-byte PDU, encrypted with
 *                                                           key 5 of SAID 0x123, priority 3,
 *                                                           DSID 0x12345, sequence 7
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/bytes.h"
#include "wire/hcs.h"

#define DOCSIS_FC_TYPE 0xc0
#define DOCSIS_FC_PARM 0x3e
#define DOCSIS_FC_EHDR_ON 0x01

#define DOCSIS_FC_PACKET 0x00
#define DOCSIS_FC_ISOLATION 0x80
#define DOCSIS_FC_TIMING 0xc0
#define DOCSIS_FC_MANAGEMENT 0xc2
#define DOCSIS_FC_REQUEST 0xc4
#define DOCSIS_FC_FRAGMENT 0xc6 /* without EHDR_ON, which is always set */
#define DOCSIS_FC_QUEUE_REQUEST 0xc8
#define DOCSIS_FC_CONCATENATION 0xf8

#define DOCSIS_EH_NULL 0
#define DOCSIS_EH_REQUEST 1
#define DOCSIS_EH_ACK_REQUEST 2
#define DOCSIS_EH_BP_UP 3
#define DOCSIS_EH_BP_DOWN 4
#define DOCSIS_EH_SERVICE_FLOW_DOWN 5
#define DOCSIS_EH_SERVICE_FLOW_UP 6
#define DOCSIS_EH_BP_UP2 7
#define DOCSIS_EH_DS 8
#define DOCSIS_EH_PATH_VERIFY 9
#define DOCSIS_EH_EXTENDED 15

#define DOCSIS_PRIVACY_VERSION 1
#define DOCSIS_SAID_MASK 0x3fff
#define DOCSIS_DSID_MASK 0xfffff
#define DOCSIS_DS_PRIORITY 0xe0 /* bits of the first byte of a DS EHDR's value */

#define DOCSIS_MAC_HEADER 6 /* bytes without extended header, HCS included */
#define DOCSIS_BP_DOWN_SIZE 5 /* bytes in the extended header, with the type byte */
#define DOCSIS_DOWN_HEADER_MAX 17 /* MAC header, BP_DOWN and DS EHDR of 5 */
#define DOCSIS_EHDR_MAX 240
#define DOCSIS_HEADER_MAX (DOCSIS_MAC_HEADER + DOCSIS_EHDR_MAX)
#define DOCSIS_QUEUE_REQUEST_SIZE 7
#define DOCSIS_LEN_MAX 65535
#define DOCSIS_FRAME_MAX (DOCSIS_MAC_HEADER + DOCSIS_LEN_MAX) /* the limit of LEN */
#define DOCSIS_PDU_MAX 2000 /* Ethernet frame with its CRC in DOCSIS 3.1 */

#define DOCSIS_LEN_OFFSET 2
#define DOCSIS_EHDR_OFFSET 4
#define DOCSIS_CLEAR_SIZE 12 /* DA and SA, the bytes of a PDU that are never encrypted */
#define DOCSIS_FRAGMENT_CLEAR 0 /* the same of a fragment; assumed, as SEC was not available */

enum docsis_ds_ehdr {
	DS_EHDR_NONE,
	DS_EHDR_PRIORITY, /* 1 byte: traffic priority */
	DS_EHDR_DSID, /* 3 bytes: and DSID */
	DS_EHDR_SEQUENCE, /* 5 bytes: and packet sequence number, for resequencing */
};

/* The fields of a downstream MAC header. */
struct docsis_down_header {
	bool privacy; /* BP_DOWN is present */
	bool encrypted; /* EN; may be 0 with the element present */
	uint8_t key_sequence; /* 4 bits; the lowest is also sent as the toggle */
	uint16_t said; /* 14 bits */
	enum docsis_ds_ehdr ds;
	uint8_t priority; /* 0..7 */
	bool sequence_change; /* lowest bit of the sequence change count */
	uint32_t dsid; /* 20 bits */
	uint16_t sequence;
};

/* Bytes of the MAC header, HCS included: 6..17. */
size_t docsis_down_header_size(const struct docsis_down_header *h);

/*
 * Writes the MAC header of a packet PDU of `pdu_length` bytes (CRC included) and returns its size.
 * The privacy element comes first. Values are truncated to the width of their fields. Returns 0 and
 * writes nothing if LEN cannot hold the frame.
 */
size_t docsis_down_header_write(const struct docsis_down_header *h, size_t pdu_length,
				uint8_t *out);

/* Sets LEN in a written header. The HCS must be written again after this. */
static inline void docsis_len_patch(uint8_t *header, size_t header_size, size_t pdu_length) {
	store_be16(header + DOCSIS_LEN_OFFSET,
		   (uint16_t)(header_size - DOCSIS_MAC_HEADER + pdu_length));
}

/* The offset of the packet sequence number of a DS_EHDR_SEQUENCE header: right before the HCS. */
static inline size_t docsis_sequence_offset(size_t header_size) {
	return header_size - DOCSIS_HCS_SIZE - 2;
}

/* Sets the packet sequence number. The HCS must be written again after this. */
static inline void docsis_sequence_patch(uint8_t *header, size_t header_size, uint16_t sequence) {
	store_be16(header + docsis_sequence_offset(header_size), sequence);
}

enum docsis_kind {
	DOCSIS_KIND_RESERVED,
	DOCSIS_KIND_PACKET,
	DOCSIS_KIND_ISOLATION,
	DOCSIS_KIND_TIMING,
	DOCSIS_KIND_MANAGEMENT,
	DOCSIS_KIND_REQUEST,
	DOCSIS_KIND_QUEUE_REQUEST,
	DOCSIS_KIND_FRAGMENT,
	DOCSIS_KIND_CONCATENATION,
};

enum docsis_privacy {
	PRIVACY_NONE,
	PRIVACY_BP_UP,
	PRIVACY_BP_UP2,
	PRIVACY_BP_DOWN,
};

enum docsis_verdict {
	DOCSIS_OK,
	DOCSIS_TRUNCATED, /* more bytes are needed */
	DOCSIS_BAD_HCS,
	DOCSIS_BAD_EHDR, /* not allowed, over 240 bytes, or its elements do not fit */
	DOCSIS_BAD_LENGTH, /* LEN is too short for the header or PDU */
	DOCSIS_RESERVED, /* a valid header of a reserved frame type */
};

struct docsis_mac {
	enum docsis_kind kind;
	uint8_t fc;
	uint8_t mac_parm; /* ELEN; for a concatenation the number of frames */
	uint16_t header_size; /* bytes up to the PDU, HCS included; 0 = not known */
	uint32_t frame_size; /* bytes of the whole frame; 0 = not known */
	const uint8_t *pdu; /* into the frame; NULL unless the verdict is DOCSIS_OK */
	size_t pdu_size; /* CRC included */

	enum docsis_privacy privacy;
	uint8_t privacy_version;
	uint8_t key_sequence;
	bool encrypted;
	bool toggle;
	uint16_t said_or_sid; /* SAID downstream, SID upstream */
	uint8_t piggyback; /* BP_UP: minislots requested */
	bool fragment_first; /* BP_UP of a fragment */
	bool fragment_last;
	uint8_t fragment_sequence;

	enum docsis_ds_ehdr ds;
	uint8_t priority;
	bool sequence_change;
	uint32_t dsid;
	uint16_t sequence;

	uint8_t phsi; /* payload header suppression index, of the service flow element; 0: none */

	bool request; /* a request frame, a queue-depth request frame, or a request element */
	uint16_t request_size; /* minislots; in a queue-depth request the flow's N-byte units */
	uint16_t request_sid;
};

/*
 * Parses the frame at `frame`. `length` bytes are available; they may go beyond the frame, as in a
 * stream, but are not read there. The HCS is checked before any element is used.
 *
 * When the header is complete and its HCS is good, header_size and frame_size are set, whatever the
 * verdict, if the header determines them. DOCSIS_TRUNCATED with frame_size = 0 means that the
 * header is incomplete. After DOCSIS_RESERVED or DOCSIS_BAD_EHDR a stream may continue behind
 * frame_size, unless that is 0.
 *
 * The PDU is not checked: it may be empty.
 */
enum docsis_verdict docsis_mac_parse(const uint8_t *frame, size_t length, struct docsis_mac *out);
