/* SPDX-License-Identifier: BSD-3-Clause */
/* A capture, made ready to be sent to the modems (core/replayed.h), and what of it was left out. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "capture/capture.h"
#include "captures/capture_rewrite.h"
#include "core/replayed.h"
#include "model/service_group.h"

#define CAPTURE_PACKETS_MAX 8388608
#define CAPTURE_BYTES_MAX 2147483648

struct capture_counts {
	uint64_t packets; /* taken */
	uint64_t bytes; /* of these, as they are sent: Ethernet frames without CRC */
	uint64_t lengthened;
	uint64_t untagged; /* had VLAN tags */
	uint64_t destinations; /* different ones in the capture */
	uint64_t skipped[CAPTURE_SKIPS];
};

struct capture_replay {
	struct replayed replayed;
	uint32_t largest; /* bytes of a packet */
	struct capture_counts counts;
};

/*
 * Reads the capture `name`. Returns 0, or -1 after a message on stderr: it cannot be read, has no
 * packet for these modems or too many, or memory is short. To be freed by capture_replay_free().
 */
int capture_replay_load(struct capture_replay *r, const char *name, const struct service_group *sg);

/* The same of a capture that is open, and remains the caller's. */
int capture_replay_read(struct capture_replay *r, pcap_t *in, const char *name,
			const struct service_group *sg);

void capture_replay_free(struct capture_replay *r);

/* One line: what of the capture is replayed, and what is not, and why. */
void capture_replay_describe(const struct capture_replay *r, const char *name, FILE *out);

/* Bytes of the mean packet. */
double capture_replay_mean(const struct capture_replay *r);
