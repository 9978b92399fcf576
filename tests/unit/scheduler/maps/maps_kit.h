/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels and flows for tests of the upstream scheduler, and what holds of every MAP. */
#pragma once

#include "scheduler/maps/maps.h"

#define US(n) ((uint64_t)(n) * 2048 / 10) /* microseconds in samples */
#define MS(n) ((uint64_t)(n) * 204800)
#define KIT_CHANNELS 8
#define KIT_SIDS (MAP_SID_BROADCAST + 1)

struct kit {
	struct maps *m;
	struct maps_channel channels[KIT_CHANNELS];
	uint32_t count;
	uint64_t now;
	/* Of each channel: where the latest MAP ended, and its minislots by SID. */
	uint64_t ends[KIT_CHANNELS];
	bool begun[KIT_CHANNELS];
	uint64_t granted[KIT_CHANNELS][KIT_SIDS]; /* minislots of data */
	uint64_t pendings[KIT_CHANNELS][KIT_SIDS];
	struct maps_counts seen; /* in the MAPs: what can be counted there */
};

/* An OFDMA channel of 235 minislots of 48 bytes in a frame of 135 us; MAPs of 15 frames. */
struct maps_channel kit_ofdma(uint8_t id);
/* A SC-QAM channel of 5.12 Msym/s and 64-QAM: minislots of 6.25 us and 24 bytes, MAPs of 2 ms. */
struct maps_channel kit_sc_qam(uint8_t id);

void kit_create(struct kit *r, const struct maps_channel *channels, uint32_t count, uint32_t flows);
/* So many channels that differ by their ID alone, and MAPs of 10 ms. */
void kit_create_alike(struct kit *r, struct maps_channel channel, uint32_t count, uint32_t flows);
void kit_free(struct kit *r);

/* Sets a flow on the channels of `mask`, with SID flow + 1 on each. Returns what maps_set_flow() does. */
const char *kit_flow(struct kit *r, uint32_t flow, uint32_t mask, struct maps_flow settings);
enum maps_verdict kit_ask(struct kit *r, uint32_t flow, uint32_t bytes);

/* Makes all MAPs that are due until then, each checked. */
void kit_run(struct kit *r, uint64_t until);

/* The next round of MAPs, and no more. */
void kit_next(struct kit *r);

/* Fails where a MAP breaks a rule of its format, or describes minislots again. */
void kit_check_map(struct kit *r, uint32_t channel, const struct map *map);

/* All minislots of data that the SID flow + 1 was granted, on all channels. */
uint64_t kit_granted(const struct kit *r, uint32_t flow);
struct maps_counts kit_counts(const struct kit *r);
/* owed = asked - granted on request - forgotten; and what was counted is what was seen in the MAPs. */
void kit_check_counts(const struct kit *r);
