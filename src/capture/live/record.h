/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy of a packet, as a worker leaves it for the capture's thread. */
#pragma once

#include <stdint.h>

/* How its bytes are to be read. */
enum tap_form {
	TAP_ETHERNET,
	TAP_ETHERNET_FCS, /* with the Ethernet CRC at its end */
	TAP_DOCSIS, /* from its MAC header on */
	TAP_PIECE, /* a burst, a segment, a part of a frame */
	TAP_FORMS,
};

/* What is known of it: bits. */
enum {
	TAP_KNOWS_MODEM = 1,
	TAP_KNOWS_FLOW = 2,
	TAP_KNOWS_SESSION = 4,
};

struct tap_record {
	uint64_t tsc;
	uint32_t size; /* bytes that were copied */
	uint32_t wire_size; /* bytes that there were */
	uint32_t sfid;
	uint32_t session; /* of L2TPv3 */
	uint16_t reason; /* enum drop_reason; DROP_NONE: it goes on */
	uint8_t stage; /* number in its direction; TAP_STAGES: none */
	uint8_t side; /* enum tap_side */
	uint8_t form;
	uint8_t known;
	uint8_t mac[6]; /* of the modem */
	uint8_t bytes[];
};
