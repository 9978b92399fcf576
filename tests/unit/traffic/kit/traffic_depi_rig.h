/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig with some packets taken, for tests that choose how these travel in DEPI frames. */
#pragma once

#include "traffic_rig.h"

#define DEPI_RIG_PACKETS 32

struct depi_rig {
	struct rig rig;
	struct rig_frame frames[DEPI_RIG_PACKETS];
	uint8_t depi[RIG_FRAME_MAX * 4]; /* room for a DEPI frame */
};

/* Set-up and tear-down of a group of tests, whose state is the `struct depi_rig`. */
int depi_rig_open(void **state);

int depi_rig_close(void **state);

/* Traffic from the start, with `mix`, until all packets are taken. */
void depi_rig_start(struct depi_rig *d, const char *mix);

/*
 * Puts the bonded modems' frames on channel 0, so that segments of different frames can meet; the
 * others are sent. Returns how many are in `out`, which has room for all.
 */
unsigned depi_rig_bonded(struct depi_rig *d, const struct rig_frame **out);

/* Fails where a packet was not sent, or did not come back once, whole and in its place. */
void depi_rig_check_proven(const struct traffic_result *r);

/* The segment that is all of a frame. */
struct rig_segment rig_whole(const struct rig_frame *f);

/* Violations of every kind together. */
uint64_t rig_violations(const struct traffic_result *r);
