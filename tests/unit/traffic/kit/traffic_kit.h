/* SPDX-License-Identifier: BSD-3-Clause */
/* A minimal CMTS for tests of downstream traffic. It receives packets from the traffic program and
 * returns them as encrypted DOCSIS frames in DEPI, with faults if requested. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/providers.h"
#include "directions/traffic.h"
#include "groups/groups.h"
#include "groups/totals.h"
#include "model/service_group.h"
#include "wire/docsis_mac.h"
#include "wire/psp.h"

#define RIG_FRAME_MAX 2048
#define RIG_MTU 1500

#define RIG_MODEMS 3
#define RIG_CHANNELS 3
#define RIG_MODEMS_MAX 8 /* while the service group changes */
#define RIG_FLOWS_MAX 4
#define RIG_NO_MODEM UINT32_MAX

struct rig_frame {
	uint32_t modem;
	uint32_t flow; /* index in the modem */
	uint32_t channel;
	size_t header_size;
	size_t size;
	uint8_t bytes[RIG_FRAME_MAX];
};

/* A fault in one frame: the first one in the second half of a burst that contains UDP over IPv4 for
 * this modem and flow. NULL and false: no fault. */
struct rig_fault {
	uint32_t modem;
	uint32_t flow;
	void (*header)(struct docsis_down_header *h); /* changes the header before the HCS */
	void (*plain)(uint8_t *frame, size_t size); /* changes the packet before CRC, encryption */
	void (*wire)(struct rig_frame *frame); /* changes the encoded frame */
	bool wrong_key;
};

struct rig {
	struct service_group sg;
	struct crypto_provider *crypto;
	struct rte_mempool *pool;
	uint16_t network[2]; /* port of the traffic program, port of the rig */
	uint16_t rphy[2];
	struct traffic *traffic;
	struct groups groups; /* see rig_groups() */
	uint16_t sequences[RIG_MODEMS_MAX][RIG_FLOWS_MAX]; /* next packet sequence number */
	uint16_t psp[RIG_CHANNELS]; /* next PSP sequence number */
	uint8_t counters[RIG_CHANNELS];
	bool follows; /* the group changes: packets for no modem are dropped */
	unsigned unmatched; /* packets that were dropped so */
	unsigned round_robin; /* spreads the frames of a bonding group over channels */
};

/* Expected verdicts of a run; all other packets must be proven or counted. */
struct rig_errors {
	uint64_t lost, corrupted, undecipherable, overtaken, duplicated, reordered;
	bool other; /* the run fails for another reason */
};

struct rig_segment {
	const uint8_t *bytes;
	size_t size;
	bool begin;
	bool end;
};

extern struct rig rig;

/* Fixtures of a program: EAL, crypto provider, pool and ports. */
int rig_open(void **state);
int rig_close(void **state);

/* The rig's traffic as the only group of a run. */
static inline struct groups *rig_groups(struct rig *r) {
	groups_of_one(&r->groups, r->traffic);
	return &r->groups;
}

/* The text of a second group with other sessions etc. unless `same_`. The caller frees it. */
char *rig_second_config(bool same_sessions, bool same_addresses, bool same_modems);

/* Creates traffic with this packet size mix, without a rate limit. */
void rig_start(struct rig *r, const char *mix, uint64_t seed);

/* The steps of rig_start(), for other options. rig_prepare() resets sequence numbers and disables
 * the reorder timer of modems. */
struct traffic_options rig_options(const struct rig *r, const char *mix, uint64_t seed);
void rig_create(struct rig *r, const struct traffic_options *options);
void rig_prepare(struct rig *r);

/* Has the traffic send `n` packets, a multiple of 32, and encodes them, one with `fault` unless
 * that is NULL. Returns the index of that one, or `n`. */
unsigned rig_collect(struct rig *r, struct rig_frame *frames, unsigned n,
		     const struct rig_fault *fault);

/* Writes a DEPI frame of `channel` with the next PSP sequence number. Returns its size. */
size_t rig_build_depi(struct rig *r, uint32_t channel, const struct rig_segment *segments,
		      unsigned count, uint8_t *out);

/* Sends a DEPI frame to the traffic in a chain of mbufs, as the data plane may do. */
void rig_send_depi(struct rig *r, const uint8_t *depi, size_t size);

/* Sends a DOCSIS frame in one DEPI frame, or in two if it exceeds the MTU. */
void rig_send_frame(struct rig *r, const struct rig_frame *f);
void rig_send_frames(struct rig *r, const struct rig_frame *frames, unsigned n);

/* Ends the run and asserts that the counters add up. rig_finish() also frees the traffic. */
struct traffic_result rig_end_run(struct rig *r);
struct traffic_result rig_finish(struct rig *r);

/* Asserts the verdicts. `overtaken` (by a change) is no failure of the run. */
void rig_assert_result(const struct traffic_result *r, struct rig_errors wrong);

/* Ends a run of several groups. The result is static; the caller calls totals_free() on it. */
struct totals *rig_totals(struct groups *groups);
