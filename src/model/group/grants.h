/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a service group says of its upstream scheduler: for the whole group, of each upstream channel, and of each
 * upstream service flow. Numbers that a file does not give are zero here; what they come to says grants_times.h.
 * Structs hold no pointers: objects of a group in service are copied and compared as bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRANTS_MAP_CHANNELS 8 /* downstream channels that carry the MAPs of an upstream channel */

/* What the upstream scheduler (src/scheduler/maps) and the upstream behind it make of MAPs and grants. */
#define GRANTS_LEAST 128 /* bytes that a grant has room for, in each MAP */
#define GRANTS_MAP_BYTES (8u << 20) /* that a MAP describes, at most */
#define GRANTS_BURST 60000 /* of one grant, at most */
#define GRANTS_PROACTIVE_MOST UINT64_C(100000000) /* ns between proactive grants */

/* How a service flow gets its grants (MULPI 3.1, 7.2.3). */
enum upstream_scheduling {
	SCHEDULING_BEST_EFFORT,
	SCHEDULING_NON_REAL_TIME_POLLING,
	SCHEDULING_REAL_TIME_POLLING,
	SCHEDULING_UNSOLICITED_GRANT,
	SCHEDULING_UNSOLICITED_GRANT_ACTIVITY,
	SCHEDULING_PROACTIVE_GRANT,
};

/* Of the group, in ns. */
struct grants_config {
	uint64_t map_interval;
	uint64_t ucd_interval;
	uint64_t modem_processing; /* of a MAP, beside that of an OFDMA frame */
	uint64_t cmts_processing; /* from when a MAP is made until it is on the wire */
	uint64_t
		request_processing; /* from a request's last symbol until it is asked; 0: by the channel */
	uint64_t interleaver; /* and what else delays a downstream channel */
	uint64_t round_trip; /* of the farthest modem */
	uint64_t transport; /* one way between here and the R-PHY device */
	uint8_t psp_flow; /* of MAPs in the sessions of downstream channels */
};

struct upstream_physical {
	uint32_t
		frequency; /* Hz, of the centre, or of an OFDMA channel's subcarrier 0; 0: none known */
	uint16_t minislot_bytes; /* of data; 0: by the rate */
	/* SC-QAM */
	uint8_t minislot_ticks; /* of 6.25 us */
	uint8_t modulation; /* bits of a symbol */
	uint16_t symbol_rate; /* thousands a second */
	uint16_t burst_minislots; /* preamble and guard time of each grant */
	/* OFDMA */
	uint16_t cyclic_prefix; /* samples of 102.4 MHz */
	uint16_t frame_minislots;
	uint8_t frame_symbols;
	uint8_t subcarrier_spacing; /* kHz */
	uint8_t bits; /* of a subcarrier; 0: by the rate */
	uint8_t data_iuc;
};

struct upstream_contention {
	uint16_t request_minislots; /* of one opportunity */
	uint16_t request_opportunities; /* in each MAP, at least */
	uint8_t backoff_start, backoff_end; /* exponents of 2 */
};

struct upstream_maintenance {
	uint64_t initial_interval; /* ns; 0: no initial maintenance */
	uint16_t initial_minislots; /* 0: by the channel, as the next */
	uint16_t station_minislots;
	uint8_t backoff_start, backoff_end;
};

/* Of an upstream channel. */
struct channel_grants {
	uint32_t map_session; /* L2TPv3, downstream; 0: by the id, without a scheduler alone */
	uint32_t map_channels[GRANTS_MAP_CHANNELS]; /* ids of downstream channels */
	size_t map_channel_count; /* 0: the group's first */
	struct upstream_physical physical;
	struct upstream_contention contention;
	struct upstream_maintenance maintenance;
};

#define GRANTS_MAP_SESSION 0x00030000

/* Of a service flow; the parameters are those of MULPI, annex C.2.2. */
struct flow_grants {
	uint64_t sustained_rate; /* bits per second; 0: no limit */
	uint64_t peak_rate; /* 0: none */
	uint64_t reserved_rate; /* 0: none */
	uint64_t guaranteed_rate; /* of proactive grants */
	uint64_t poll_interval; /* ns */
	uint64_t grant_interval;
	uint64_t grant_jitter;
	uint64_t active_timeout;
	uint32_t traffic_burst; /* bytes */
	uint32_t concatenated_burst; /* bytes of one grant; 0: no limit */
	uint32_t grant_size; /* bytes of an unsolicited grant */
	uint8_t scheduling; /* enum upstream_scheduling */
	uint8_t priority; /* 0..7 */
	uint8_t request_multiplier; /* N of requests in N bytes */
	uint8_t grants_per_interval;
	uint8_t pad[4];
};
