/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/requests.h"

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_ring_elem.h>

#include "platform/log/log.h"
#include "upstream/grant.h"

/* More than a burst of packets with 255 request records each, and the requests in the bursts. */
#define RING_SIZE 16384
#define BURST 64
_Static_assert(US_REQUESTS_PER_ROUND % BURST == 0, "whole bursts");

const char *us_request_name(enum us_request_kind kind) {
	static const char *const names[REQUEST_KINDS] = {
		[REQUEST_FRAME] = "frame",     [REQUEST_QUEUE_DEPTH] = "queue_depth",
		[REQUEST_ELEMENT] = "element", [REQUEST_PIGGYBACK] = "piggyback",
		[REQUEST_SEGMENT] = "segment", [REQUEST_RECORD] = "record",
	};

	return names[kind];
}

int us_requests_open(void *ctx, const struct service_group *sg, const void *resources) {
	struct us_requests *r = ctx;
	uint32_t modems = r->tables->modem_count;
	char name[RTE_RING_NAMESIZE];

	(void)resources;
	snprintf(name, sizeof(name), "requests_%u", sg->id);
	r->ring = rte_ring_create_elem(name, sizeof(struct us_request), RING_SIZE, SOCKET_ID_ANY,
				       RING_F_SP_ENQ | RING_F_SC_DEQ);
	r->sink.by_modem = rte_zmalloc("requests", modems * sizeof(*r->sink.by_modem), 0);
	r->sink.modems = modems;
	if (r->ring != NULL && r->sink.by_modem != NULL)
		return 0;
	log_error("memory", LOG_NO_FIELDS, "upstream: no memory for bandwidth requests: %s",
		  rte_strerror(rte_errno));
	return -1;
}

void us_requests_close(void *ctx) {
	struct us_requests *r = ctx;

	rte_ring_free(r->ring);
	rte_free(r->sink.by_modem);
}

uint64_t us_requests_handled(const struct us_requests *r) {
	uint64_t dequeued = 0;

	for (unsigned k = 0; k < REQUEST_KINDS; k++)
		dequeued += r->sink.by_kind[k];
	return dequeued;
}

void us_requests_clear(struct us_requests *r, uint32_t modem) {
	for (unsigned k = 0; k < REQUEST_KINDS; k++) {
		r->sink.removed_modems += r->sink.by_modem[modem][k];
		r->sink.by_modem[modem][k] = 0;
	}
}

bool us_request_is_repeated(const struct us_requests *r, uint32_t channel) {
	bool repeated = r->tables->channels[channel].sessions[US_REQUESTS] != US_NONE;

	count(r->counters, COUNTER_REQUESTS_REPEATED, repeated);
	return repeated;
}

void us_request_put(const struct us_requests *r, const struct us_stream *s,
		    struct us_request *request) {
	bool enqueued;

	request->modem = s->modem;
	request->flow = s->flow;
	enqueued = rte_ring_sp_enqueue_elem(r->ring, request, sizeof(*request)) == 0;
	count(r->counters, enqueued ? COUNTER_REQUESTS : COUNTER_REQUESTS_LOST, 1);
}

void us_request_record(const struct us_requests *r, uint32_t channel,
		       const struct uepi_request *record) {
	const struct us_stream *s = us_stream_of_sid(r->tables, channel, record->sid);

	if (s == NULL) {
		count(r->counters, COUNTER_BAD_REQUESTS, 1);
		return;
	}
	us_request_put(r, s,
		       &(struct us_request){
			       .channel = (uint16_t)channel,
			       .size = record->size,
			       .kind = REQUEST_RECORD,
			       .cluster = record->cluster_valid ? record->sid_cluster : s->cluster,
			       .n_bytes = record->n_bytes,
			       .contended = !record->piggyback,
		       });
}

uint32_t us_request_sink_modems(const struct us_request_sink *s) {
	uint32_t modems = 0;

	for (uint32_t m = 0; m < s->modems; m++) {
		bool any = false;

		for (unsigned k = 0; k < REQUEST_KINDS; k++)
			any |= s->by_modem[m][k] > 0;
		modems += any;
	}
	return modems;
}

/*
 * Counts bandwidth requests, and passes them to the group's upstream scheduler, if any.
 *
 * It takes at most US_REQUESTS_PER_ROUND, so that a device that fills the ring does not lengthen the
 * rounds of the worker's other groups.
 *
 * As the only stage of its list it returns the number of requests, the unit of its cycles.
 */
uint16_t us_requests(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_requests *r = ctx;
	struct us_request_sink *sink = &r->sink;
	struct us_request dequeued[BURST];
	unsigned count = BURST, total = 0;

	(void)pkts;
	(void)n;
	while (count == BURST && total < US_REQUESTS_PER_ROUND) {
		count = rte_ring_sc_dequeue_burst_elem(r->ring, dequeued, sizeof(dequeued[0]),
						       BURST, NULL);
		for (unsigned i = 0; r->grant->maps != NULL && i < count; i++)
			us_grant_prefetch(r->grant, &dequeued[i]);
		for (unsigned i = 0; i < count; i++) {
			sink->by_kind[dequeued[i].kind]++;
			sink->by_modem[dequeued[i].modem][dequeued[i].kind]++;
		}
		for (unsigned i = 0; r->grant->maps != NULL && i < count; i++)
			us_grant_request(r->grant, &dequeued[i]);
		total += count;
	}
	return (uint16_t)total;
}
