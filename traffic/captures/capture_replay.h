/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads a capture for replay to the modems (core/replayed.h) and counts the packets left out. */
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
	uint64_t packets; /* replayed */
	uint64_t bytes; /* of these as sent: Ethernet frames without CRC */
	uint64_t lengthened; /* of these, packets whose payload was too short for a tag */
	uint64_t untagged; /* had VLAN tags, which are removed */
	uint64_t destinations; /* distinct ones in the capture */
	uint64_t skipped[CAPTURE_SKIPS];
};

struct capture_replay {
	struct replayed replayed;
	uint32_t largest; /* bytes of the largest packet */
	struct capture_counts counts;
};

/*
 * Reads the capture `name`. Returns 0, or -1 after a message on stderr if it cannot be read, has too many
 * packets or none for these modems, or memory is short. The caller frees it with capture_replay_free().
 */
int capture_replay_load(struct capture_replay *r, const char *name, const struct service_group *sg);

/* Reads a capture that is open; the caller keeps `in`. */
int capture_replay_read(struct capture_replay *r, pcap_t *in, const char *name,
			const struct service_group *sg);

void capture_replay_free(struct capture_replay *r);

/* Prints one line: the number of packets replayed, and of packets skipped by reason. `name` NULL: only the
 * latter. */
void capture_replay_describe(const struct capture_replay *r, const char *name, FILE *out);

/* Mean size of a packet, in bytes. */
double capture_replay_mean(const struct capture_replay *r);
