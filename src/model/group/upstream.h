/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for the whole upstream of a group. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/group/grants.h"

/* What the sequence numbers of PSP count; R-UEPI's text could not be read. */
enum psp_numbering {
	PSP_NUMBERING_FLOW, /* the packets of each PSP flow of a session */
	PSP_NUMBERING_SESSION, /* all packets of a session */
};

struct upstream_config {
	bool verify_source; /* a packet's source address must belong to its modem */
	bool verify_crc; /* of decrypted frames */
	enum psp_numbering psp_numbering;
	uint64_t reorder_timeout_ns; /* a missing PSP packet or segment is waited for so long */
	uint64_t frame_timeout_ns; /* an incomplete frame or burst is kept so long */
	uint32_t held_by_modem; /* bytes of buffers that wait for the missing parts of a modem */
	uint32_t held; /* of all modems and bursts together */
	bool held_given; /* by the file; else groups of a server divide what is theirs together */
	bool scheduled; /* else requests are counted, and nobody grants */
	struct grants_config scheduler;
};
