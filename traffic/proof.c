/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of packets that came, and how long they took. */
#include "proof.h"

#include <stdlib.h>
#include <string.h>

#define LATENCY_MAX_NS 60000000000 /* longer counts as this */
#define LATENCY_DIGITS 3

int proof_create(struct proof *p, uint32_t streams, uint64_t tsc_hz) {
	*p = (struct proof){
		.streams = calloc(streams + 1, sizeof(*p->streams)),
		.stream_count = streams,
		.tsc_to_ns_q32 = (uint64_t)(((unsigned __int128)1000000000 << 32) / tsc_hz),
	};
	if (p->streams != NULL && hdr_init(1, LATENCY_MAX_NS, LATENCY_DIGITS, &p->latency) == 0)
		return 0;
	free(p->streams);
	*p = (struct proof){0};
	return -1;
}

void proof_free(struct proof *p) {
	free(p->streams);
	if (p->latency != NULL)
		hdr_close(p->latency);
	*p = (struct proof){0};
}

void proof_restart(struct proof *p) {
	struct proof made = {
		.streams = p->streams,
		.stream_count = p->stream_count,
		.tsc_to_ns_q32 = p->tsc_to_ns_q32,
		.latency = p->latency,
	};

	memset(p->streams, 0, p->stream_count * sizeof(*p->streams));
	hdr_reset(p->latency);
	*p = made;
}

static void record_latency(struct proof *p, uint64_t since, uint64_t now) {
	uint64_t cycles = now > since ? now - since : 0; /* TSCs of two cores may differ a little */
	uint64_t ns = (uint64_t)(((unsigned __int128)cycles * p->tsc_to_ns_q32) >> 32);

	hdr_record_value(p->latency, (int64_t)(ns < LATENCY_MAX_NS ? ns : LATENCY_MAX_NS));
}

enum arrival proof_arrive(struct proof *p, const struct arrived *packet, uint64_t now) {
	uint32_t gap;
	enum arrival arrival = window_arrive(&p->streams[packet->stream], packet->sequence, &gap);

	switch (arrival) {
	case ARRIVAL_IN_ORDER: break;
	case ARRIVAL_GAP: p->missing += gap; break;
	case ARRIVAL_LATE:
		p->reordered++;
		p->missing--;
		break;
	case ARRIVAL_DUPLICATE: p->duplicated++; return arrival;
	case ARRIVAL_TOO_OLD: return arrival;
	}
	p->proven++;
	p->proven_bytes += packet->bytes;
	p->last_tsc = now;
	if (p->untimed)
		return arrival;
	if (packet->tsc == 0)
		p->latency_unknown++;
	else
		record_latency(p, packet->tsc, now);
	return arrival;
}

struct proof_balance proof_balance(const struct proof *p, uint64_t sent, uint64_t damaged) {
	uint64_t missing = sent > p->proven ? sent - p->proven : 0;
	uint64_t corrupted = damaged < missing ? damaged : missing;

	return (struct proof_balance){
		.lost = missing - corrupted,
		.duplicated = p->duplicated + damaged - corrupted,
		.corrupted = corrupted,
	};
}

struct proof_latency proof_latency_us(const struct proof *p) {
	if (p->latency->total_count == 0)
		return (struct proof_latency){0};
	return (struct proof_latency){
		.mean = hdr_mean(p->latency) / 1e3,
		.p50 = (double)hdr_value_at_percentile(p->latency, 50.0) / 1e3,
		.p99 = (double)hdr_value_at_percentile(p->latency, 99.0) / 1e3,
		.p99_9 = (double)hdr_value_at_percentile(p->latency, 99.9) / 1e3,
		.max = (double)hdr_max(p->latency) / 1e3,
	};
}
