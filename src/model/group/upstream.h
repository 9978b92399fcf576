/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of the whole upstream of a group. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/group/grants.h"

/* What PSP sequence numbers count; the text of R-UEPI was not available. */
enum psp_numbering {
	PSP_NUMBERING_FLOW, /* the packets of each PSP flow of a session */
	PSP_NUMBERING_SESSION, /* all packets of a session */
};

struct upstream_config {
	bool verify_source; /* a packet's source address must belong to its modem */
	bool verify_crc; /* of decrypted frames */
	enum psp_numbering psp_numbering;
	/* reorder timer: the wait for a missing PSP packet or segment */
	uint64_t reorder_timeout_ns;
	uint64_t frame_timeout_ns; /* reassembly timer: the wait for the rest of a frame or burst */
	uint32_t held_by_modem; /* limit in bytes of pending buffers per modem */
	uint32_t pending; /* limit of all modems and bursts together */
	bool held_given; /* by the file; else the groups of a server divide their common limit */
	bool scheduled; /* false: requests are counted, and nothing is granted */
	struct grants_config scheduler;
};
