/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings of the upstream scheduler: for the group, per upstream channel, and per upstream service
 * flow. Numbers that a file does not give are zero; grants_times.h derives the effective values.
 * The structs hold no pointers, as objects in service are copied and compared as bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRANTS_MAP_CHANNELS 8 /* downstream channels that carry the MAPs of an upstream channel */

/* Limits for MAPs and grants, of the upstream scheduler (src/scheduler/maps) and the upstream. */
#define GRANTS_MIN 128 /* bytes of a grant that must fit into each MAP */
#define GRANTS_MAP_BYTES (8u << 20) /* limit of bytes that a MAP describes */
#define GRANTS_BURST 60000 /* limit of bytes of one grant */
#define GRANTS_PROACTIVE_MAX UINT64_C(100000000) /* limit of ns between proactive grants */

/* How a service flow gets its grants (MULPI 3.1, 7.2.3). */
enum upstream_scheduling {
	SCHEDULING_BEST_EFFORT,
	SCHEDULING_NON_REAL_TIME_POLLING,
	SCHEDULING_REAL_TIME_POLLING,
	SCHEDULING_UNSOLICITED_GRANT,
	SCHEDULING_UNSOLICITED_GRANT_ACTIVITY,
	SCHEDULING_PROACTIVE_GRANT,
};

/* For the group; times in ns. */
struct grants_config {
	uint64_t map_interval;
	uint64_t ucd_interval;
	uint64_t modem_processing; /* time to process a MAP, in addition to the OFDMA frame time */
	uint64_t cmts_processing; /* from the start of making a MAP until it is sent */
	/* from a request's last symbol until the R-PHY device sends it; 0: default of the channel
	 * type */
	uint64_t request_processing;
	uint64_t interleaver; /* interleaver and other delays of a downstream channel */
	uint64_t round_trip; /* of the farthest modem */
	uint64_t transport; /* one way between the core and the R-PHY device */
	uint8_t psp_flow; /* PSP flow of MAPs in the sessions of downstream channels */
};

struct upstream_physical {
	/* Hz: centre frequency, or that of subcarrier 0 of an OFDMA channel; 0: unknown */
	uint32_t frequency;
	uint16_t minislot_bytes; /* data bytes per minislot; 0: derived from the other settings */
	/* SC-QAM */
	uint8_t minislot_ticks; /* units of 6.25 us */
	uint8_t modulation; /* bits per symbol */
	uint16_t symbol_rate; /* thousands per second */
	uint16_t burst_minislots; /* preamble and guard time of each grant */
	/* OFDMA */
	uint16_t cyclic_prefix; /* samples of 102.4 MHz */
	uint16_t frame_minislots;
	uint8_t frame_symbols;
	uint8_t subcarrier_spacing; /* kHz */
	uint8_t bits; /* per subcarrier; 0: minislot_bytes follows from the rate */
	uint8_t data_iuc;
};

struct upstream_contention {
	uint16_t request_minislots; /* per opportunity */
	uint16_t request_opportunities; /* per MAP, at the least */
	uint8_t backoff_start, backoff_end; /* exponents of 2 */
};

struct upstream_maintenance {
	uint64_t initial_interval; /* ns; 0: no initial maintenance */
	uint16_t initial_minislots; /* 0: default of the channel type, as for the next member */
	uint16_t station_minislots;
	uint8_t backoff_start, backoff_end;
};

/* Per upstream channel. */
struct channel_grants {
	/* L2TPv3, downstream; 0: not given. With a scheduler, the check sets a default */
	uint32_t map_session;
	uint32_t map_channels[GRANTS_MAP_CHANNELS]; /* IDs of downstream channels */
	size_t map_channel_count; /* 0: only the group's first channel carries the MAPs */
	struct upstream_physical physical;
	struct upstream_contention contention;
	struct upstream_maintenance maintenance;
};

#define GRANTS_MAP_SESSION 0x00030000

/* Per service flow; parameters as in MULPI, annex C.2.2. */
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
	uint32_t concatenated_burst; /* bytes per grant; 0: no limit */
	uint32_t grant_size; /* bytes of an unsolicited grant */
	uint8_t scheduling; /* enum upstream_scheduling */
	uint8_t priority; /* 0..7 */
	uint8_t request_multiplier; /* N: a request counts in units of N bytes */
	uint8_t grants_per_interval;
	uint8_t pad[4];
};
