/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandwidth requests on their way to the upstream scheduler.
 *
 * The packet stages find them in bursts and request records, and put them into a ring. The stage
 * `requests` counts them and passes them to the stage `grant`, if the group has an upstream
 * scheduler.
 */
#pragma once

#include "upstream/shared.h"
#include "wire/uepi.h"

/* Most requests that the stage `requests` takes in a round. */
#define US_REQUESTS_PER_ROUND 256

struct us_grant;

enum us_request_kind {
	REQUEST_FRAME, /* request frame: minislots */
	REQUEST_QUEUE_DEPTH, /* queue-depth request frame: N-byte units */
	REQUEST_ELEMENT, /* REQUEST extended header: minislots */
	REQUEST_PIGGYBACK, /* BP_UP: minislots */
	REQUEST_SEGMENT, /* segment header: N-byte units */
	REQUEST_RECORD, /* of the R-PHY device, in the unit of the record */
	REQUEST_KINDS,
};

/* An element of the ring. */
struct us_request {
	uint32_t modem; /* index */
	uint32_t flow; /* index */
	uint16_t channel; /* index, of the channel that received it */
	uint16_t size;
	uint8_t kind; /* enum us_request_kind */
	uint8_t cluster; /* SID cluster */
	uint8_t n_bytes; /* the size is in the flow's N bytes, not in minislots */
	/* not from a burst with data, so from a contention opportunity or a poll */
	uint8_t contended;
};

/* Counts of requests. */
struct us_request_sink {
	uint64_t by_kind[REQUEST_KINDS];
	uint32_t (*by_modem)[REQUEST_KINDS];
	uint64_t removed_modems; /* of removed modems */
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

/* Requests that the stage `requests` has dequeued, of those in COUNTER_REQUESTS. */
uint64_t us_requests_handled(const struct us_requests *r);

/* Clears the counts of a removed modem, so that the next one in its slot starts at 0. */
void us_requests_clear(struct us_requests *r, uint32_t modem);

/* Whether the R-PHY device repeats requests in bursts of the channel as records. Then only the
 * records count. */
bool us_request_is_repeated(const struct us_requests *r, uint32_t channel);

/* Puts a request of the stream's modem and flow into the ring, and fills in both. If the ring is
 * full, the request is lost and counted as lost. */
void us_request_put(const struct us_requests *r, const struct us_stream *s,
		    struct us_request *request);

/* Puts a request that the R-PHY device found in a burst on the channel into the ring. */
void us_request_record(const struct us_requests *r, uint32_t channel,
		       const struct uepi_request *record);

/* The number of modems that made a request. */
uint32_t us_request_sink_modems(const struct us_request_sink *s);
