/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels and flows for tests of the upstream scheduler, and what holds of every MAP. */
#pragma once

#include "scheduler/maps/maps.h"

#define US(n) ((uint64_t)(n) * 2048 / 10) /* microseconds in samples */
#define MS(n) ((uint64_t)(n) * 204800)
#define RIG_CHANNELS 8
#define RIG_SIDS (MAP_SID_BROADCAST + 1)

struct rig {
	struct maps *m;
	struct maps_channel channels[RIG_CHANNELS];
	uint32_t count;
	uint64_t now;
	/* Of each channel: where the latest MAP ended, and its minislots by SID. */
	uint64_t ends[RIG_CHANNELS];
	bool begun[RIG_CHANNELS];
	uint64_t granted[RIG_CHANNELS][RIG_SIDS]; /* minislots of data */
	uint64_t longest[RIG_CHANNELS][RIG_SIDS]; /* of one grant */
	uint64_t polls[RIG_CHANNELS][RIG_SIDS], pendings[RIG_CHANNELS][RIG_SIDS];
	uint64_t idle, requests, maps; /* minislots for all, and MAPs */
	/* What looks on at each MAP; may be NULL. */
	void (*on_map)(struct rig *r, uint32_t channel, const struct map *map);
	void *own;
};

/* An OFDMA channel of 235 minislots of 48 bytes in a frame of 135 us; MAPs of 15 frames. */
struct maps_channel rig_ofdma(uint8_t id);
/* A SC-QAM channel of 5.12 Msym/s and 64-QAM: minislots of 6.25 us and 24 bytes, MAPs of 2 ms. */
struct maps_channel rig_sc_qam(uint8_t id);

void rig_create(struct rig *r, const struct maps_channel *channels, uint32_t count, uint32_t flows);
void rig_free(struct rig *r);

/* Sets a flow on the channels of `mask`, with SID flow + 1 on each. Returns what maps_set_flow() does. */
const char *rig_flow(struct rig *r, uint32_t flow, uint32_t mask, struct maps_flow settings);
enum maps_verdict rig_ask(struct rig *r, uint32_t flow, uint32_t bytes);

/* Makes all MAPs that are due until then, each checked. */
void rig_run(struct rig *r, uint64_t until);

/* Fails where a MAP breaks a rule of its format, or describes minislots again. */
void rig_check_map(struct rig *r, uint32_t channel, const struct map *map);

/* All minislots of data that the SID flow + 1 was granted, on all channels. */
uint64_t rig_granted(const struct rig *r, uint32_t flow);
struct maps_counts rig_counts(const struct rig *r);
/* owed = asked - granted on request - forgotten; kinds of minislots are no more than all. */
void rig_check_counts(const struct rig *r);
