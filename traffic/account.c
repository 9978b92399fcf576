/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of packets that came, and how long they took. */
#include "account.h"

#include <stdlib.h>

#define LATENCY_MAX_NS 60000000000 /* longer counts as this */
#define LATENCY_DIGITS 3

const char *const corruption_names[CORRUPTIONS] = {
#define CORRUPTION(enumerator, name, meaning) name,
#include "corruption.def"
#undef CORRUPTION
};

const char *const unexpected_names[UNEXPECTEDS] = {
#define UNEXPECTED(enumerator, name, meaning) name,
#include "unexpected.def"
#undef UNEXPECTED
};

const char *const violation_names[VIOLATIONS] = {
#define VIOLATION(enumerator, name, meaning) name,
#include "violation.def"
#undef VIOLATION
};

int account_create(struct account *a, uint32_t streams, uint64_t tsc_hz) {
	*a = (struct account){
		.streams = calloc(streams + 1, sizeof(*a->streams)),
		.tsc_to_ns_q32 = (uint64_t)(((unsigned __int128)1000000000 << 32) / tsc_hz),
	};
	if (a->streams != NULL && hdr_init(1, LATENCY_MAX_NS, LATENCY_DIGITS, &a->latency) == 0)
		return 0;
	free(a->streams);
	return -1;
}

void account_free(struct account *a) {
	free(a->streams);
	if (a->latency != NULL)
		hdr_close(a->latency);
	*a = (struct account){0};
}

static void record_latency(struct account *a, uint64_t made, uint64_t now) {
	uint64_t cycles = now > made ? now - made : 0; /* TSCs of two cores may differ a little */
	uint64_t ns = (uint64_t)(((unsigned __int128)cycles * a->tsc_to_ns_q32) >> 32);

	hdr_record_value(a->latency, (int64_t)(ns < LATENCY_MAX_NS ? ns : LATENCY_MAX_NS));
}

void account_deliver(void *account, const struct arrived *packet, uint64_t now) {
	struct account *a = account;
	uint32_t gap;

	switch (window_arrive(&a->streams[packet->stream], packet->sequence, &gap)) {
	case ARRIVAL_IN_ORDER: break;
	case ARRIVAL_GAP: a->missing += gap; break;
	case ARRIVAL_LATE:
		a->reordered++;
		a->missing--;
		break;
	case ARRIVAL_DUPLICATE: a->duplicated++; return;
	case ARRIVAL_TOO_OLD: a->unexpected[UNEXPECTED_TOO_OLD]++; return;
	}
	a->proven++;
	a->proven_bytes += packet->bytes;
	a->last_tsc = now;
	record_latency(a, packet->tsc, now);
}

uint64_t account_corrupted(const struct account *a) {
	uint64_t sum = 0;

	for (int i = 0; i < CORRUPTIONS; i++)
		sum += a->corrupted[i];
	return sum;
}
