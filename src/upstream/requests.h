/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandwidth requests on their way to the upstream scheduler: a ring between the pipeline, which finds
 * them in bursts and request records, and the row `requests` at its end, which counts them and hands them to the
 * row `grant` where the group has an upstream scheduler.
 */
#pragma once

#include "upstream/shared.h"
#include "wire/uepi.h"

/* How many the row `requests` takes in a round at most. */
#define US_REQUESTS_A_ROUND 256

struct us_grant;

enum us_request_kind {
	REQUEST_FRAME, /* request frame: minislots */
	REQUEST_QUEUE_DEPTH, /* queue-depth request frame: N-byte units */
	REQUEST_ELEMENT, /* REQUEST extended header: minislots */
	REQUEST_PIGGYBACK, /* BP_UP: minislots */
	REQUEST_SEGMENT, /* segment header: N-byte units */
	REQUEST_RECORD, /* of the R-PHY device, in the unit that it says */
	REQUEST_KINDS,
};

/* An element of the ring. */
struct us_request {
	uint32_t modem; /* index */
	uint32_t flow; /* index among the upstream's flows */
	uint16_t channel; /* index, where it was made */
	uint16_t size;
	uint8_t kind; /* enum us_request_kind */
	uint8_t cluster; /* SID cluster */
	uint8_t n_bytes; /* the size is in the flow's N bytes, not in minislots */
	uint8_t contended; /* it is no burst's with data, so that it came where all may ask, or in a poll */
};

/* What the sink has taken. */
struct us_request_sink {
	uint64_t by_kind[REQUEST_KINDS];
	uint32_t (*by_modem)[REQUEST_KINDS];
	uint64_t of_left; /* of modems that have left */
	uint32_t modems;
};

struct us_requests {
	struct counters *counters;
	struct us_tables *tables;
	struct us_grant *grant;
	struct rte_ring *ring; /* of struct us_request */
	struct us_request_sink sink;
};

uint16_t us_requests(void *ctx, struct rte_mbuf **pkts, uint16_t n);
int us_requests_open(void *ctx, const struct service_group *sg, const void *resources);
void us_requests_close(void *ctx);

/* The name of a kind, for summaries: "queue_depth". Never NULL. */
const char *us_request_name(enum us_request_kind kind);

/* How many the sink has taken, of all that were counted as `requests`. */
uint64_t us_requests_taken(const struct us_requests *r);

/* A modem has left: who comes in its place has asked for nothing yet. */
void us_requests_forget(struct us_requests *r, uint32_t modem);

/* Whether requests in bursts of the channel are repeated in records, which then count alone. */
bool us_request_is_repeated(const struct us_requests *r, uint32_t channel);

/* Hands one over as the modem's and flow's of the stream, which it fills in; where the ring is full it
 * is lost, and counted so. */
void us_request_put(const struct us_requests *r, const struct us_stream *s,
		    struct us_request *request);

/* Hands over a request that the R-PHY device took out of a burst on the channel. */
void us_request_record(const struct us_requests *r, uint32_t channel,
		       const struct uepi_request *asked);

/* Modems that asked for something. */
uint32_t us_request_sink_modems(const struct us_request_sink *s);
