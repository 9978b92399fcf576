/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of packets that vcmtsd must drop in both directions, and counts of those sent. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum refused_kind {
#define REFUSED(enumerator, reason, shared, meaning) REFUSED_##enumerator,
#include "refused/downstream.def"
	REFUSED_DOWNSTREAM, /* number of downstream kinds */
	REFUSED_BEFORE_UPSTREAM = REFUSED_DOWNSTREAM - 1, /* upstream kinds continue the numbers */
#include "refused/upstream.def"
#undef REFUSED
	REFUSED_KINDS,
};

/* Packets sent by kind: [0] counted by the drop reasons of a group, [1] by those of a shared port. */
struct refused_counts {
	uint64_t packets[2][REFUSED_KINDS];
	/* packets: without VLAN tag and CRC; frames of modems: with MAC header and CRC */
	uint64_t bytes[2][REFUSED_KINDS];
	uint64_t ipv4[2][REFUSED_KINDS], ipv6[2][REFUSED_KINDS]; /* by EtherType; downstream only */
};

/* The drop reason that counts a kind; `shared`: on a shared port. */
const char *refused_reason(enum refused_kind kind, bool shared);

/* Counts a packet of `bytes` bytes, but not in `ipv4` and `ipv6`. */
void refused_count(struct refused_counts *c, enum refused_kind kind, bool shared, uint32_t bytes);

void refused_add(struct refused_counts *sum, const struct refused_counts *part);
