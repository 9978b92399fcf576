/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upstream of one service group: from UEPI of the R-PHY device to IP packets of the
 * subscribers.
 *
 * The list in upstream.c names the stages and their queues; each stage has a pair of files of its
 * name. docs/upstream.md describes the path of every byte. One worker runs all of it. Several
 * stages use
 *
 *     shared   resources of the caller, and the queues between stages
 *     reorder  reorder queues with their counters
 *     frame_buffers  mbufs of frames: attached to their packets, or copies
 *     stream   the frames of a service flow's SID cluster, step by step
 *     frames   checks of MAC headers
 *
 * State per session, flow and SID cluster is in state/:
 *
 *     meta     the metadata of a packet
 *     order    the sequence numbers of one PSP flow or SID cluster, with a window
 *     pending  pending buffers with their timers, in lists by time
 *     chain    a chain of buffers that grows
 *     cursor   a read position in a segment
 *     tables   the records of sessions, flows, streams and modems
 *     records  writes records of the tables
 *     slots    free slots, for the control thread
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/service_group.h"
#include "upstream/decrypt.h"
#include "upstream/defragment.h"
#include "upstream/expire.h"
#include "upstream/extract.h"
#include "upstream/extract_joined.h"
#include "upstream/grant.h"
#include "upstream/reassemble.h"
#include "upstream/receive.h"
#include "upstream/reorder.h"
#include "upstream/requests.h"
#include "upstream/shared.h"
#include "upstream/stream.h"
#include "upstream/transmit.h"
#include "upstream/uepi.h"
#include "upstream/validate.h"
#include "upstream/verify_source.h"

#define US_QUEUED 1024 /* most buffers in the queues; `receive` stops at this number */

/* The buffers of each pool that an upstream may use, without those in the ports' rings. */
struct us_buffers {
	uint32_t pending_packets; /* buffers of the R-PHY port that may be pending */
	uint32_t packets; /* all buffers of the R-PHY port */
	uint32_t pending_frames;
	uint32_t frames;
	uint32_t pieces;
};

struct upstream {
	struct us_resources r; /* upstream_create() alone reads `schedules` and `capacity` */
	struct us_tables tables;
	struct poll_stats effort;
	struct counters counters;
	struct pending_set pending_set;
	struct us_reorder_set reorder_set;
	struct us_streams streams;
	uint32_t pending_limit; /* bytes, configured; its share of the pools may be less */
	/* the stages */
	struct us_receive receive;
	struct us_validate validate;
	struct us_uepi uepi;
	struct us_reassemble reassemble;
	struct us_expire expire;
	struct us_extract extract;
	struct us_decrypt decrypt;
	struct us_defragment defragment;
	struct us_extract_joined extract_joined;
	struct us_verify_source verify_source;
	struct us_transmit transmit;
	struct us_requests requests;
	struct us_grant grant;
	struct pipeline list; /* R-PHY port -> network port */
	struct pipeline scheduler; /* requests -> upstream scheduler, if the group has one */
	struct pipeline grants; /* the upstream scheduler -> MAPs */
	struct latency latency; /* from R-PHY port to network port */
	struct account_span span; /* of packets transmitted */
	bool whole; /* upstream_create() succeeded */
};

/* A queue of the stage list: not US_REQUEST_RING, US_CONTROL_PORT, US_MESSAGE_RING. */
static inline struct queue *us_queue(struct upstream *u, enum us_queue which) {
	return &u->list.queues[which];
}

/* The pipelines in packet order. */
#define US_PIPELINES 3
extern const struct stage_list us_lists[US_PIPELINES];

/* Bytes of a buffer for a whole packet of the R-PHY device. */
uint32_t us_packet_size(const struct service_group *sg);

/* The buffers that the configuration needs, sized by `capacity`; NULL: by the configured
 * objects. */
struct us_buffers us_buffers(const struct service_group *sg, const struct group_capacity *capacity);

/*
 * Applies the settings of pending buffers and stages: timeouts, limits, verification, the largest
 * frame.
 *
 * The limits of pending buffers never exceed those at creation.
 */
void us_configure(struct upstream *u, const struct service_group *sg);

/* As us_buffers(), limited to `pending` bytes in each pool, and to `in_flight` buffers in queues, at
 * most US_QUEUED. */
struct us_buffers us_buffers_within(const struct service_group *sg,
				    const struct group_capacity *capacity, uint32_t pending,
				    uint32_t in_flight);

/* Checks that the pools have enough buffers beside those of the ports' rings. Returns 0, or -1
 * after an error message. */
int us_pools_check(const struct service_group *sg, const struct us_resources *r);

/* Creates tables and pipelines from the configuration, to which it keeps no reference. Returns
 * NULL after an error message. The caller frees it by upstream_free(). */
struct upstream *upstream_create(const struct service_group *sg, const struct us_resources *r);

/* Frees the upstream. Call upstream_stop() first: pending packets are freed without being
 * counted. */
void upstream_free(struct upstream *u);

/* Pending units of a kind. */
uint64_t upstream_pending(const struct upstream *u, enum unit unit);

/* Those of the pending units that wait for missing packets: parts of bursts, segments and frames,
 * and packets behind a gap. */
uint64_t upstream_incomplete(const struct upstream *u);

/* upstream_in() returns the units that entered, upstream_out() those that left or
 * became part of the next unit. */
uint64_t upstream_in(const struct upstream *u, enum unit unit);
uint64_t upstream_out(const struct upstream *u, enum unit unit);

/* Whether in = out + drops + pending for each unit. No worker may run. */
bool upstream_balanced(const struct upstream *u);

/* The pipelines of an upstream by the index of us_lists. */
struct pipeline *upstream_pipeline(struct upstream *u, unsigned index);

/* Switches the measurement of all stages' cycles; it is on after upstream_create(). The worker
 * of the upstream calls it between two rounds. */
void upstream_account(struct upstream *u, bool on);

/* Packets transmitted while the cycles were measured. */
uint64_t upstream_accounted_packets(const struct upstream *u);

/* As latency_switch(). Off after upstream_create(). */
int upstream_latency(struct upstream *u, bool on);

/* Whether it has work without new input. Running timers do not count: upstream_deadline(). */
bool upstream_busy(const struct upstream *u);

/* Stops receiving, so that the upstream can run empty. */
void upstream_close(struct upstream *u);

/* When the first timer of pending buffers expires, ns; UINT64_MAX if none runs. */
uint64_t upstream_deadline(const struct upstream *u);

/* Whether it has an upstream scheduler. Otherwise the last of its lists never has work. */
bool upstream_grants(const struct upstream *u);

/* Makes its DOCSIS time follow the system's clock. Call it before the first round. */
void upstream_follow_clock(struct upstream *u);

/* Stops and resumes MAPs and UCDs, for callers that advance time without modems, or that do not
 * receive them. The worker calls it, or no worker runs. */
void upstream_stop_granting(struct upstream *u);
void upstream_resume_granting(struct upstream *u);

/* When the next MAP or UCD is due, ns; UINT64_MAX: never. */
uint64_t upstream_grants_due(const struct upstream *u);

/* Drops all pending packets with the reasons of a stop. No worker may run. */
void upstream_stop(struct upstream *u);
