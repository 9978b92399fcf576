/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/served_group.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "platform/log/log.h"
#include "server/layout.h"

static int keys_setup(struct served_group *g, struct crypto_provider *provider) {
	uint64_t start = rte_rdtsc();

	if (group_crypto_make(&g->crypto, provider, g->sg) != 0)
		return -1;
	g->keys_seconds = (double)(rte_rdtsc() - start) / (double)rte_get_tsc_hz();
	return 0;
}

static int downstream_setup(struct served_group *g, const struct group_resources *given) {
	struct ds_resources r = {
		.capacity = &g->live.capacity,
		.network = given->endpoints.from_network,
		.rphy = given->endpoints.to_rphy,
		.crypto = g->crypto.queues[CRYPTO_DOWNLINK],
		.schedules = g->crypto.schedules,
		.depi_headers = given->pools->depi_headers,
		.depi_fragments = given->pools->depi_fragments,
		.linear = given->linear ? given->pools->linear : NULL,
		.queued_max = given->queued_max,
		.hand_over_max = given->hand_over_max,
		.upper_clock = &given->upper->clock,
		.lower_clock = &given->lower->clock,
	};

	g->downstream = downstream_create(g->sg, &r);
	return g->downstream == NULL ? -1 : 0;
}

static int upstream_setup(struct served_group *g, const struct group_resources *given) {
	struct us_resources r = {
		.capacity = &g->live.capacity,
		.rphy = given->endpoints.from_rphy,
		.network = given->endpoints.to_network,
		.control = given->endpoints.to_control,
		.crypto = g->crypto.queues[CRYPTO_UPLINK],
		.schedules = g->crypto.up_schedules,
		.packets = given->pools->uepi,
		.frames = given->pools->frames,
		.pieces = given->pools->pieces,
		.attach_frames = given->pools->frames == given->pools->uepi,
		.pending = given->pending_max,
		.in_flight = given->in_flight_max,
		.messages = downstream_messages(g->downstream),
		.clock = &given->upstream->clock,
	};

	if (us_pools_check(g->sg, &r) != 0)
		return -1;
	g->upstream = upstream_create(g->sg, &r);
	return g->upstream == NULL ? -1 : 0;
}

int served_group_create(struct served_group *g, const struct service_group *sg,
			const struct group_resources *r) {
	struct group_capacity capacity = group_capacity(sg);
	char why[LIVE_LINE];

	g->sg = &g->live.sg;
	if (live_group_create(&g->live, sg, &capacity, why) != 0) {
		log_error("memory", LOG_FIELDS(LOG_NUMBER("service_group", sg->id)),
			  "service group %" PRIu32 ": %s", sg->id, why);
		return -1;
	}
	g->upper = r->upper;
	g->lower = r->lower;
	g->upstream_worker = r->upstream;
	if (keys_setup(g, r->provider) != 0 || downstream_setup(g, r) != 0)
		return -1;
	return layout_has_upstream(sg) ? upstream_setup(g, r) : 0;
}

struct worker *served_group_worker(const struct served_group *g, enum layout_part part) {
	return part == PART_UPPER ? g->upper : part == PART_LOWER ? g->lower : g->upstream_worker;
}

/* Lists the pipelines of a part. Returns their number. */
static unsigned part_lists(const struct served_group *g, enum layout_part part,
			   struct pipeline *lists[SERVED_GROUP_PART]) {
	unsigned count = 0;

	if (part == PART_UPPER) {
		lists[count++] = &g->downstream->enqueue;
		lists[count++] = &g->downstream->dequeue;
	} else if (part == PART_LOWER) {
		lists[count++] = &g->downstream->lower_mac;
	} else if (g->upstream != NULL) {
		lists[count++] = &g->upstream->list;
		lists[count++] = &g->upstream->scheduler;
		if (upstream_grants(g->upstream))
			lists[count++] = &g->upstream->grants;
	}
	return count;
}

/* Reserves more than needed if a worker has several parts. */
int served_group_reserve(const struct served_group *g) {
	const unsigned all = LAYOUT_GROUP_WORKERS * SERVED_GROUP_PART;

	if (worker_reserve(g->upper, all) != 0 || worker_reserve(g->lower, all) != 0)
		return -1;
	return worker_reserve(g->upstream_worker, all);
}

static void part_enter(struct served_group *g, enum layout_part part) {
	struct pipeline *lists[SERVED_GROUP_PART];
	unsigned count = part_lists(g, part, lists);

	for (unsigned l = 0; l < count; l++)
		worker_insert(served_group_worker(g, part), lists[l], WORKER_GROUPS);
}

void served_group_enter(struct served_group *g) {
	for (unsigned part = PART_UPPER; part < PARTS; part <<= 1)
		part_enter(g, part);
}

void served_group_leave(struct served_group *g, unsigned parts) {
	struct pipeline *lists[SERVED_GROUP_PART];

	for (unsigned part = PART_UPPER; part < PARTS; part <<= 1) {
		unsigned count = (parts & part) != 0 ? part_lists(g, part, lists) : 0;

		for (unsigned l = 0; l < count; l++)
			worker_remove(served_group_worker(g, part), lists[l]);
	}
}

/* Between leaving and entering no worker runs the part, so this thread alone writes its clock. */
void served_group_move(struct served_group *g, enum layout_part part, struct worker *to) {
	served_group_leave(g, part);
	if (part == PART_UPPER) {
		g->upper = to;
		g->downstream->upper.clock = &to->clock;
	} else if (part == PART_LOWER) {
		g->lower = to;
		g->downstream->lower.clock = &to->clock;
	} else {
		g->upstream_worker = to;
		if (g->upstream != NULL)
			g->upstream->r.clock = &to->clock;
	}
	part_enter(g, part);
}

/* Argument of the tasks that change sources and sinks of a group. */
struct wiring {
	struct served_group *group;
	const struct group_endpoints *endpoints;
};

static bool wire_upper(void *arg) {
	struct wiring *w = arg;

	w->group->downstream->upper.network = w->endpoints->from_network;
	return true;
}

static bool wire_lower(void *arg) {
	struct wiring *w = arg;

	w->group->downstream->lower.rphy = w->endpoints->to_rphy;
	return true;
}

/* An empty source counts as polled as often as the last source was, so that no time seems to
 * pass. */
static bool wire_upstream(void *arg) {
	struct wiring *w = arg;
	struct us_resources *r = &w->group->upstream->r;

	w->group->emptied = w->group->upstream->receive.emptied_read;
	r->rphy = w->endpoints->from_rphy;
	r->network = w->endpoints->to_network;
	r->control = w->endpoints->to_control;
	return true;
}

static bool end_upstream(void *arg) {
	struct wiring *w = arg;

	upstream_close(w->group->upstream);
	return true;
}

static void step_do(struct worker *worker, bool (*step)(void *arg), void *arg) {
	struct worker_task task = {step, arg};

	worker_do(worker, &task);
}

void served_group_connect(struct served_group *g, const struct group_endpoints *endpoints) {
	struct wiring w = {g, endpoints};

	step_do(g->upper, wire_upper, &w);
	step_do(g->lower, wire_lower, &w);
	if (g->upstream != NULL)
		step_do(g->upstream_worker, wire_upstream, &w);
}

static bool resume_granting(void *arg) {
	upstream_resume_granting(arg);
	return true;
}

static bool stop_granting(void *arg) {
	upstream_stop_granting(arg);
	return true;
}

void served_group_grant(struct served_group *g, bool on) {
	struct worker_task task = {on ? resume_granting : stop_granting, g->upstream};

	if (g->upstream != NULL && upstream_grants(g->upstream))
		worker_do(g->upstream_worker, &task);
}

void served_group_end(struct served_group *g) {
	struct wiring w = {g, NULL};

	if (g->upstream != NULL)
		step_do(g->upstream_worker, end_upstream, &w);
}

uint64_t served_group_pending(const struct served_group *g) {
	uint64_t pending = downstream_pending(g->downstream);

	for (enum unit unit = 0; g->upstream != NULL && unit < UNITS; unit++)
		pending += upstream_pending(g->upstream, unit);
	return pending;
}

#define LOWER_MAC (DS_PIPELINES - 1) /* index of its pipeline; those before are the upper MAC's */

/* Counts the pending packets of a group at one worker. */
struct tally {
	const struct served_group *g;
	uint64_t pending;
};

static bool pending_in_upper(void *arg) {
	struct tally *l = arg;

	l->pending += stages_pending(ds_lists, LOWER_MAC, l->g->downstream, UNIT_PACKET);
	return true;
}

static bool pending_in_lower(void *arg) {
	struct tally *l = arg;

	l->pending += stages_pending(&ds_lists[LOWER_MAC], 1, l->g->downstream, UNIT_PACKET);
	return true;
}

static bool pending_in_upstream(void *arg) {
	struct tally *l = arg;

	for (enum unit unit = 0; unit < UNITS; unit++)
		l->pending += upstream_pending(l->g->upstream, unit);
	return true;
}

uint64_t served_group_remaining(const struct served_group *g) {
	struct tally l = {.g = g};

	step_do(g->upper, pending_in_upper, &l);
	step_do(g->lower, pending_in_lower, &l);
	if (g->upstream != NULL)
		step_do(g->upstream_worker, pending_in_upstream, &l);
	return l.pending;
}

uint64_t served_group_waiting(const struct served_group *g) {
	return g->upstream == NULL ? 0 : upstream_incomplete(g->upstream);
}

bool served_group_balanced(const struct served_group *g) {
	return downstream_balanced(g->downstream) &&
	       (g->upstream == NULL || upstream_balanced(g->upstream));
}

bool served_group_busy(const struct served_group *g) {
	return downstream_pending(g->downstream) > 0 ||
	       (g->upstream != NULL && upstream_busy(g->upstream));
}

void served_group_close(struct served_group *g) {
	if (g->upstream != NULL)
		upstream_close(g->upstream);
}

void served_group_drain_round(struct served_group *g) {
	if (g->downstream->upper.network.ring != NULL) /* no packets arrive from a port any more */
		pipeline_run(&g->downstream->enqueue);
	pipeline_run(&g->downstream->dequeue);
	pipeline_run(&g->downstream->lower_mac);
	for (unsigned l = 0; g->upstream != NULL && l < US_PIPELINES; l++)
		pipeline_run(upstream_pipeline(g->upstream, l));
}

void served_group_stop(struct served_group *g) {
	downstream_stop(g->downstream);
	if (g->upstream != NULL)
		upstream_stop(g->upstream);
}

void served_group_free(struct served_group *g) {
	if (g->sg == NULL)
		return;
	upstream_free(g->upstream);
	downstream_free(g->downstream);
	group_crypto_free(&g->crypto, g->sg);
	live_group_free(&g->live);
	free(g->device);
	memset(g, 0, sizeof(*g));
}
