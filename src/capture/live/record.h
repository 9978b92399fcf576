/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy of a packet, on its way from a worker to the capture thread. */
#pragma once

#include <stdint.h>

/* Format of the bytes. */
enum tap_form {
	TAP_ETHERNET,
	TAP_ETHERNET_FCS, /* ends with the Ethernet CRC */
	TAP_DOCSIS, /* starts with its MAC header */
	TAP_PIECE, /* a burst, a segment, a part of a frame */
	TAP_FORMS,
};

/* Bits of known fields. */
enum {
	TAP_KNOWS_MODEM = 1,
	TAP_KNOWS_FLOW = 2,
	TAP_KNOWS_SESSION = 4,
};

struct tap_record {
	uint64_t tsc;
	uint32_t size; /* copied bytes */
	uint32_t wire_size; /* bytes of the packet */
	uint32_t sfid;
	uint32_t session; /* L2TPv3 */
	uint16_t reason; /* enum drop_reason; DROP_NONE: not dropped */
	uint8_t stage; /* number in its direction; TAP_STAGES: none */
	uint8_t side; /* enum tap_side */
	uint8_t form;
	uint8_t known;
	uint8_t mac[6]; /* of the modem */
	uint8_t bytes[];
};
