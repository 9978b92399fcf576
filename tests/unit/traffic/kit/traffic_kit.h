/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CMTS in a few lines, for tests of the traffic program: takes the packets that it sends, frames
 * and encrypts them one by one, and sends them back as DEPI, with whatever mistake is asked for.
 */
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
#define RIG_MODEMS_MAX 8 /* of a service group that changes */
#define RIG_FLOWS_MAX 4
#define RIG_NOBODY UINT32_MAX

struct rig_frame {
	uint32_t modem;
	uint32_t flow; /* index in the modem */
	uint32_t channel;
	size_t header_size;
	size_t size;
	uint8_t bytes[RIG_FRAME_MAX];
};

/*
 * What is done wrong to one frame: the first one in the second half of a burst that carries UDP over
 * IPv4 to this modem and flow. NULL and false: nothing.
 */
struct rig_fault {
	uint32_t modem;
	uint32_t flow;
	void (*header)(struct docsis_down_header *h); /* before the HCS is made */
	void (*plain)(uint8_t *frame, size_t size); /* the IP packet, before its CRC is made */
	void (*wire)(struct rig_frame *frame); /* the finished DOCSIS frame */
	bool wrong_key;
};

struct rig {
	struct service_group sg;
	struct crypto_provider *crypto;
	struct rte_mempool *pool;
	uint16_t network[2]; /* the traffic's end, our end */
	uint16_t rphy[2];
	struct traffic *traffic;
	struct groups groups; /* of rig_groups() */
	uint16_t numbers[RIG_MODEMS_MAX][RIG_FLOWS_MAX]; /* next packet sequence number */
	uint16_t psp[RIG_CHANNELS]; /* next PSP sequence number */
	uint8_t counters[RIG_CHANNELS];
	bool follows; /* packets may be for no modem: they are dropped */
	unsigned unknown; /* that were */
	unsigned turn; /* spreads a bonding group's frames */
};

/* What is wrong with packets of a run, and whether anything else is. */
struct rig_wrong {
	uint64_t lost, corrupted, undecipherable, overtaken, duplicated, reordered;
	bool more;
};

struct rig_segment {
	const uint8_t *bytes;
	size_t size;
	bool begin;
	bool end;
};

extern struct rig rig;

/* Once a program. */
int rig_open(void **state);
int rig_close(void **state);

/* The kit's traffic as the only group of a run. */
static inline struct groups *rig_groups(struct rig *r) {
	groups_of_one(&r->groups, r->traffic);
	return &r->groups;
}

/* The text of a group that differs from the kit's by its ID, and by more where it is not the same. To be freed. */
char *rig_second_config(bool same_sessions, bool same_addresses, bool same_modems);

/* Traffic from the start, with `mix`, as fast as it is asked for. */
void rig_start(struct rig *r, const char *mix, uint64_t seed);

/* The same in steps, with other options; or for traffic that was made otherwise: its modems wait as long as the test does. */
struct traffic_options rig_options(const struct rig *r, const char *mix, uint64_t seed);
void rig_create(struct rig *r, const struct traffic_options *options);
void rig_ready(struct rig *r);

/*
 * Lets traffic send until there are `n` packets, and encodes them, one with `fault` unless that is
 * NULL. Returns the index of that one.
 */
unsigned rig_take(struct rig *r, struct rig_frame *frames, unsigned n,
		  const struct rig_fault *fault);

/* A DEPI frame of `channel` with the PSP numbers that come next. */
size_t rig_depi(struct rig *r, uint32_t channel, const struct rig_segment *segments, unsigned count,
		uint8_t *out);

/* Sends a frame in a chain of mbufs, as the pipeline in the same process does. */
void rig_send(struct rig *r, const uint8_t *depi, size_t size);

/* One frame in one segment, or in two DEPI frames where it does not fit the MTU. */
void rig_send_frame(struct rig *r, const struct rig_frame *f);
void rig_send_frames(struct rig *r, const struct rig_frame *frames, unsigned n);

/* Ends the run: what has not come by now is lost. The sums always hold. rig_finish() frees the traffic. */
struct traffic_result rig_result(struct rig *r);

/* That much is wrong, and all else was proven or counted. What was overtaken by a change is not wrong. */
void rig_expect(const struct traffic_result *r, struct rig_wrong wrong);
struct traffic_result rig_finish(struct rig *r);

/* The same of all groups and of each; until the next call, and to be freed by totals_free(). */
struct totals *rig_totals(struct groups *groups);
