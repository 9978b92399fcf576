/* SPDX-License-Identifier: BSD-3-Clause */
/* What vcmtsd has to drop, of both directions, and how much of it was sent. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum refused_kind {
#define REFUSED(enumerator, reason, shared, meaning) REFUSED_##enumerator,
#include "refused/downstream.def"
	REFUSED_DOWNSTREAM, /* so many */
	REFUSED_BEFORE_UPSTREAM = REFUSED_DOWNSTREAM - 1,
#include "refused/upstream.def"
#undef REFUSED
	REFUSED_KINDS,
};

/* What was sent of each kind, [0] by the reasons of a group, [1] by those of a port that several share. */
struct refused_counts {
	uint64_t packets[2][REFUSED_KINDS];
	uint64_t bytes[2][REFUSED_KINDS]; /* without VLAN tag and CRC */
	uint64_t ipv4[2][REFUSED_KINDS], ipv6[2][REFUSED_KINDS]; /* packets by their Ethertype */
};

/* Under which reason vcmtsd counts a kind. */
const char *refused_reason(enum refused_kind kind, bool shared);

void refused_count(struct refused_counts *c, enum refused_kind kind, bool shared, uint32_t bytes);

void refused_add(struct refused_counts *sum, const struct refused_counts *part);
