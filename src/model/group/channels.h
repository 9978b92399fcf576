/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels of both directions, and downstream bonding groups. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/group/grants.h"

#define SG_MAX_CHANNELS 256
#define SG_MAX_UPSTREAM_CHANNELS 64

enum channel_type {
	CHANNEL_OFDM,
	CHANNEL_SC_QAM,
};

/* L2TPv3 pseudowire subtypes for DOCSIS frames from the core to the R-PHY device (R-DEPI). */
enum pseudowire {
	PSEUDOWIRE_PSP_LEGACY = 2,
	PSEUDOWIRE_PSP_DEPI = 4,
};

/* The bytes between the PSP segment table and the first segment. */
enum psp_extra {
	PSP_EXTRA_NONE, /* nothing */
	PSP_EXTRA_COUNTER, /* two bytes: 0x00, then a 4-bit packet counter and the 4-bit profile */
	PSP_EXTRA_STATIC, /* two bytes: 0x00, then 0 and the 4-bit profile */
};

/* The modulation of an upstream channel, which also determines the UEPI format of its bursts. */
enum upstream_type {
	UPSTREAM_SC_QAM,
	UPSTREAM_OFDMA,
};

struct channel {
	uint32_t id;
	enum channel_type type;
	uint64_t rate; /* bits per second */
	uint32_t session; /* L2TPv3 session ID, not 0 */
	enum pseudowire pseudowire;
	enum psp_extra psp_extra;
	uint8_t profile; /* 4 bits, in the extra bytes */
};

struct upstream_channel {
	uint32_t id;
	enum upstream_type type;
	uint64_t rate; /* bits per second */
	/* L2TPv3 session IDs, assigned by the core, unique among all upstream sessions */
	uint32_t session; /* data */
	uint32_t request_session; /* bandwidth requests; 0: they are taken from the bursts */
	uint32_t ranging_session; /* 0: none */
	struct channel_grants grants;
};

struct bonding_group {
	uint32_t id;
	uint32_t *channels; /* indices */
	size_t channel_count;
};
