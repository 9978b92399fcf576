/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts packets that vcmtsd must drop, and names the drop reason of each kind. */
#include "refused/kinds.h"

const char *refused_reason(enum refused_kind kind, bool shared) {
	static const char *const reasons[REFUSED_KINDS][2] = {
#define REFUSED(enumerator, reason, shared, meaning) [REFUSED_##enumerator] = {reason, shared},
#include "refused/downstream.def"
#include "refused/upstream.def"
#undef REFUSED
	};

	return reasons[kind][shared];
}

void refused_count(struct refused_counts *c, enum refused_kind kind, bool shared, uint32_t bytes) {
	c->packets[shared][kind]++;
	c->bytes[shared][kind] += bytes;
}

void refused_add(struct refused_counts *sum, const struct refused_counts *part) {
	for (int shared = 0; shared < 2; shared++) {
		for (int kind = 0; kind < REFUSED_KINDS; kind++) {
			sum->packets[shared][kind] += part->packets[shared][kind];
			sum->bytes[shared][kind] += part->bytes[shared][kind];
			sum->ipv4[shared][kind] += part->ipv4[shared][kind];
			sum->ipv6[shared][kind] += part->ipv6[shared][kind];
		}
	}
}
