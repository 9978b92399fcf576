/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upstream of one service group: UEPI from the R-PHY device in, the subscribers' IP packets out.
 *
 * The way of a packet is the list in upstream.c: each stage is a pair of files of its name, and the list names the
 * queues between them. What becomes of every byte is in docs/upstream.md. One worker runs all of it. Several stages need
 *
 *     shared   what the edge provides, and the queues between stages
 *     lane     an order with its accounts: what is kept, delivered, given up
 *     frame_buffers  the mbufs of frames, that stay in their packet or are copied
 *     stream   the frames of a service flow's SID cluster, step by step
 *     frames   what a MAC header says is to be done with its frame
 *
 * What stages look up, and keep by session, flow and SID cluster, is in state/:
 *
 *     meta     what a packet carries from stage to stage
 *     order    the sequence numbers of one PSP flow or SID cluster, with a window
 *     hold     one wait for something missing, in lists by time
 *     chain    a chain of buffers that grows
 *     cut      a place in a segment that is being taken apart
 *     tables   the records of sessions, flows, streams and modems
 *     records  how records of the tables are written
 *     places   which of them are free, for the control thread
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
#include "upstream/lane.h"
#include "upstream/reassemble.h"
#include "upstream/receive.h"
#include "upstream/requests.h"
#include "upstream/shared.h"
#include "upstream/stream.h"
#include "upstream/transmit.h"
#include "upstream/uepi.h"
#include "upstream/validate.h"
#include "upstream/verify_source.h"

#define US_QUEUED 1024 /* buffers in the queues, from where on nothing is received, at most */

/* Buffers of each pool that an upstream may have in use, beside those in the ports' rings. */
struct us_buffers {
	uint32_t held_packets; /* of those of the R-PHY port: what may wait for missing parts */
	uint32_t packets; /* of the R-PHY port */
	uint32_t held_frames;
	uint32_t frames;
	uint32_t pieces;
};

struct upstream {
	struct us_resources r; /* `schedules` and `room` are read at its making only */
	struct us_tables tables;
	struct effort effort;
	struct counters counters;
	struct holds holds;
	struct us_lanes lanes;
	struct us_streams streams;
	uint32_t held_asked; /* bytes, of the configuration: its share of the pools may be less */
	/* of the rows */
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
	struct pipeline scheduler; /* requests -> the upstream scheduler, or its place */
	struct pipeline grants; /* the upstream scheduler -> MAPs */
	struct latency latency; /* from R-PHY port to network port */
	struct account_span span; /* of packets transmitted */
	bool whole; /* all of it was made */
};

/* One of those that the loop knows: not US_REQUEST_RING, US_CONTROL_PORT, US_MESSAGE_RING. */
static inline struct queue *us_queue(struct upstream *u, enum us_queue which) {
	return &u->list.queues[which];
}

/* Its pipelines in the order of travel. */
#define US_PIPELINES 3
extern const struct stage_list us_lists[US_PIPELINES];

/* Bytes of a buffer for a whole packet of the R-PHY device. */
uint32_t us_packet_room(const struct service_group *sg);

/* How many buffers the configuration asks for, with as many modems as there is room for; `room` may be NULL. */
struct us_buffers us_buffers(const struct service_group *sg, const struct group_room *room);

/* Takes over what holds and stages go by: timeouts, limits, what is verified, the largest frame. Buffers that may
 * wait are never more than when the upstream was made. */
void us_configure(struct upstream *u, const struct service_group *sg);

/* The same where no more than `held` bytes of each kind may wait, and no more than `moving` buffers (up to
 * US_QUEUED) are on their way. */
struct us_buffers us_buffers_within(const struct service_group *sg, const struct group_room *room,
				    uint32_t held, uint32_t moving);

/* Whether the pools have them: what is held and on its way must leave the rest for the ports' rings.
 * Returns 0, or -1 after a message. */
int us_pools_check(const struct service_group *sg, const struct us_resources *r);

/*
 * Builds tables and pipelines from the configuration, of which nothing is read afterwards. Returns NULL
 * after a message. To be freed by upstream_free().
 */
struct upstream *upstream_create(const struct service_group *sg, const struct us_resources *r);

/* Frees it; what is still held is freed without being counted: upstream_stop() comes first. */
void upstream_free(struct upstream *u);

/* What is in it, by unit. */
uint64_t upstream_held(const struct upstream *u, enum unit unit);

/* Of that, in all units, what waits for packets that have not come: parts of bursts, segments and frames, and what
 * stands behind a gap. */
uint64_t upstream_waiting(const struct upstream *u);

/* What came in of a unit, and what went on to the next one. */
uint64_t upstream_in(const struct upstream *u, enum unit unit);
uint64_t upstream_out(const struct upstream *u, enum unit unit);

/* Whether in = out + drops + held for each unit. To be asked when no worker runs. */
bool upstream_balanced(const struct upstream *u);

/* The pipelines of an upstream by the index of us_lists. */
struct pipeline *upstream_pipeline(struct upstream *u, unsigned index);

/* Whether the cycles of all stages are measured; they are after upstream_create(). By the worker that has it,
 * between two rounds. */
void upstream_account(struct upstream *u, bool on);

/* Packets transmitted over which the cycles go. */
uint64_t upstream_accounted(const struct upstream *u);

/* As latency_switch(); it is off after upstream_create(). */
int upstream_latency(struct upstream *u, bool on);

/* Whether something could still come out without anything coming in, if time goes on. */
bool upstream_busy(const struct upstream *u);

/* Receives no more, so that what is in it can come out. */
void upstream_close(struct upstream *u);

/* When something that waits for missing parts will be given up, ns; UINT64_MAX where nothing waits. */
uint64_t upstream_deadline(const struct upstream *u);

/* Whether it has an upstream scheduler; else the last of its lists has nothing to do, ever. */
bool upstream_grants(const struct upstream *u);

/* Its DOCSIS time follows the system's clock. Before its first round. */
void upstream_follow_clock(struct upstream *u);

/* Makes no more MAPs and UCDs, for who lets time go on without modems, or receives nothing of them; and makes them again.
 * By the worker, or while none runs. */
void upstream_stop_granting(struct upstream *u);
void upstream_resume_granting(struct upstream *u);

/* When the next MAP or UCD is due, ns; UINT64_MAX where none will be. */
uint64_t upstream_grants_due(const struct upstream *u);

/* Ends all that is still held under the reasons of a stop. No worker may be running. */
void upstream_stop(struct upstream *u);
