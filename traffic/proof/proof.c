/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts received packets and records their latency. */
#include "proof/proof.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

int proof_create(struct proof *p, uint32_t streams, uint64_t tsc_hz, bool latency) {
	*p = (struct proof){
		.streams = calloc(streams + 1, sizeof(*p->streams)),
		.made = calloc(streams + 1, sizeof(*p->made)),
		.stream_count = streams,
		.tsc_to_ns_q32 = (uint64_t)(((unsigned __int128)1000000000 << 32) / tsc_hz),
	};
	if (p->streams != NULL && p->made != NULL && suspects_create(&p->suspects, tsc_hz) == 0 &&
	    (!latency || (p->latency = percentiles_create()) != NULL))
		return 0;
	proof_free(p);
	return -1;
}

void proof_free(struct proof *p) {
	free(p->streams);
	free(p->made);
	suspects_free(&p->suspects);
	if (p->latency != NULL)
		hdr_close(p->latency);
	*p = (struct proof){0};
}

void proof_restart(struct proof *p) {
	struct proof made = {
		.streams = p->streams,
		.made = p->made,
		.stream_count = p->stream_count,
		.tsc_to_ns_q32 = p->tsc_to_ns_q32,
		.latency = p->latency,
	};

	memset(p->streams, 0, p->stream_count * sizeof(*p->streams));
	memset(p->made, 0, p->stream_count * sizeof(*p->made));
	suspects_restart(&p->suspects);
	made.suspects = p->suspects;
	if (p->latency != NULL)
		hdr_reset(p->latency);
	*p = made;
}

static void record_latency(struct proof *p, uint64_t since, uint64_t now) {
	uint64_t cycles = now > since ? now - since : 0; /* TSCs of two cores may differ a little */
	uint64_t ns = (uint64_t)(((unsigned __int128)cycles * p->tsc_to_ns_q32) >> 32);

	hdr_record_value(p->latency, (int64_t)(ns < PERCENTILES_MAX_NS ? ns : PERCENTILES_MAX_NS));
}

/*
 * `missing` packets were made after the last packet received in order, so their span begins with
 * that one. If 0, the packet is late and its span begins when it was made. A span whose
 * beginning is unknown is empty.
 */
static void proof_suspect(struct proof *p, const struct arrived *packet, uint64_t now,
			  uint32_t missing) {
	uint64_t before = p->made[packet->stream];
	uint64_t made = packet->tsc != 0 ? packet->tsc : now;

	if (missing > 0)
		suspects_add(&p->suspects, before != 0 ? before : made, now, missing, 0);
	else if (!packet->earlier)
		suspects_add(&p->suspects, made, now, 0, 1);
}

enum arrival proof_arrive(struct proof *p, const struct arrived *packet, uint64_t now) {
	uint32_t gap;
	enum arrival arrival = window_arrive(&p->streams[packet->stream], packet->sequence, &gap);

	switch (arrival) {
	case ARRIVAL_IN_ORDER: break;
	case ARRIVAL_GAP:
		p->missing += gap;
		proof_suspect(p, packet, now, gap);
		break;
	case ARRIVAL_LATE:
		p->reordered += !packet->earlier;
		p->missing--;
		proof_suspect(p, packet, now, 0);
		break;
	case ARRIVAL_DUPLICATE: p->duplicated++; return arrival;
	case ARRIVAL_TOO_OLD: return arrival;
	}
	p->proven++;
	p->proven_bytes += packet->bytes;
	p->last_tsc = now;
	if (packet->tsc != 0 && arrival != ARRIVAL_LATE)
		p->made[packet->stream] = packet->tsc;
	if (p->untimed)
		return arrival;
	if (packet->tsc == 0)
		p->latency_unknown++;
	else if (p->latency != NULL)
		record_latency(p, packet->tsc, now);
	return arrival;
}

void proof_end_stream(struct proof *p, uint32_t stream, uint32_t made) {
	p->ended_missing += proof_stream_missing(p, stream, made);
	memset(&p->streams[stream], 0, sizeof(p->streams[stream]));
}

struct proof_balance proof_balance(const struct proof *p, uint64_t missing,
				   const struct proof_damage *damage) {
	uint64_t undecipherable = RTE_MIN(damage->undecipherable, missing);
	uint64_t corrupted = RTE_MIN(damage->corrupted, missing - undecipherable);
	uint64_t damaged = damage->corrupted + damage->undecipherable;

	return (struct proof_balance){
		.lost = missing - corrupted - undecipherable,
		.duplicated = p->duplicated + damaged - corrupted - undecipherable,
		.corrupted = corrupted,
		.undecipherable = undecipherable,
	};
}

struct percentiles proof_latency_us(const struct proof *p) {
	return p->latency == NULL ? (struct percentiles){0} : percentiles_us(p->latency);
}
