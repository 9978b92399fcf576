/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of the whole upstream of a group. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/group/grants.h"

/* The scope of PSP sequence numbers. It is configurable, as the text of R-UEPI was not
 * available. */
enum psp_numbering {
	PSP_NUMBERING_FLOW, /* the packets of each PSP flow of a session */
	PSP_NUMBERING_SESSION, /* all packets of a session */
};

struct upstream_config {
	bool verify_source; /* a packet's source address must belong to its modem */
	bool verify_crc; /* of decrypted frames */
	enum psp_numbering psp_numbering;
	/* reorder timer: limit of the wait for a missing PSP packet or segment */
	uint64_t reorder_timeout_ns;
	/* reassembly timer: limit of the wait for the rest of a frame or burst */
	uint64_t frame_timeout_ns;
	uint32_t modem_pending_limit; /* limit in bytes of pending buffers per modem */
	uint32_t pending; /* limit in bytes of pending buffers of all modems and bursts together */
	/* the file gives `pending`; else the groups of a server divide a common limit */
	bool pending_given;
	bool scheduled; /* there is an upstream scheduler; else requests are only counted */
	struct grants_config scheduler;
};
