/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/qos.h"

#include <stdlib.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "pipeline/first_number.h"
#include "platform/log/log.h"

#define NS_PER_BYTE_AT_1_BPS (8 * CLOCK_NS_PER_S)
#define WRITER_POLL_US 20

struct scheduler_depi qos_depi(const struct rphy_config *r, const struct channel *c) {
	struct depi_format format = depi_format(r, c);

	return (struct scheduler_depi){
		.frame_bytes = format.overhead,
		.capacity = format.capacity,
		.entry_bytes = PSP_ENTRY_SIZE,
		.min_fragment = DEPI_MIN_FRAGMENT,
		.max_segments = (uint16_t)r->max_segments,
		.flush_ns = r->flush_ns,
	};
}

struct scheduler_channel qos_channel(const struct rphy_config *r, const struct channel *c) {
	if (!channel_exists(c))
		return (struct scheduler_channel){0};
	return (struct scheduler_channel){.rate = c->rate, .depi = qos_depi(r, c)};
}

struct scheduler_group qos_group(const struct bonding_group *g) {
	return (struct scheduler_group){.channels = g->channels, .channel_count = g->channel_count};
}

struct scheduler_modem qos_modem(const struct modem *m) {
	return (struct scheduler_modem){.aggregate = {m->aggregate_rate, m->aggregate_burst}};
}

/* MULPI, annex C.2.2. The DOCSIS header is the one that the lower MAC will write. */
struct scheduler_flow qos_flow(const struct service_flow *f, uint32_t modem, uint8_t header_size) {
	static const enum scheduler_aqm aqms[] = {
		[AQM_TAIL_DROP] = SCHEDULER_TAIL_DROP,
		[AQM_WRED] = SCHEDULER_WRED,
		[AQM_DOCSIS_PIE] = SCHEDULER_DOCSIS_PIE,
	};

	return (struct scheduler_flow){
		.group = f->bonding_group,
		.modem = modem,
		.priority = f->priority,
		.weight = f->weight,
		.header_bytes = header_size,
		.sustained = {f->sustained_rate, f->traffic_burst},
		.peak = f->peak_rate,
		.reserved = f->reserved_rate,
		.reserved_packet = f->reserved_packet,
		.min_buffer = f->min_buffer,
		.buffer = f->buffer,
		.max_buffer = f->max_buffer,
		.aqm = aqms[f->aqm],
		.wred = {f->wred.min_threshold, f->wred.max_threshold, f->wred.max_probability,
			 f->wred.weight},
		.latency_target = f->latency_target_ns,
	};
}

/* Input of scheduler_create(), to be freed afterwards. */
struct lists {
	struct scheduler_channel *channels;
	struct scheduler_group *groups;
	struct scheduler_modem *modems;
	struct scheduler_flow *flows;
};

static bool lists_allocate(struct lists *l, const struct group_capacity *capacity) {
	l->channels = calloc(capacity->channels, sizeof(*l->channels));
	l->groups = calloc(capacity->bonding_groups, sizeof(*l->groups));
	l->modems = calloc(capacity->modems, sizeof(*l->modems));
	l->flows = calloc(capacity->flows, sizeof(*l->flows));
	return l->channels && l->groups && l->modems && l->flows;
}

/* Entries for unused slots are zero, but for flows. */
static void lists_fill(struct lists *l, const struct service_group *sg, const struct ds_tables *t) {
	for (size_t i = 0; i < sg->channel_count; i++)
		l->channels[i] = qos_channel(&sg->rphy, &sg->channels[i]);
	for (size_t i = 0; i < sg->bonding_group_count; i++)
		l->groups[i] = qos_group(&sg->bonding_groups[i]);
	for (uint32_t f = 0; f < t->capacity.flows; f++)
		l->flows[f].group = SCHEDULER_NONE;
	for (uint32_t m = 0; m < sg->modem_count; m++) {
		const struct modem *modem = &sg->modems[m];

		l->modems[m] = qos_modem(modem);
		for (size_t f = 0; f < modem->service_flow_count; f++) {
			uint32_t flow = ds_modem_flows(t, m)[f];

			l->flows[flow] =
				qos_flow(&modem->service_flows[f], m, t->flows[flow].header_size);
		}
	}
}

static void lists_free(struct lists *l) {
	free(l->channels);
	free(l->groups);
	free(l->modems);
	free(l->flows);
}

static struct scheduler *scheduler_of(const struct service_group *sg, const struct ds_tables *t,
				      uint32_t queued_max, const char **why) {
	struct lists l = {0};
	struct scheduler *s = NULL;

	*why = "no memory left";
	if (lists_allocate(&l, &t->capacity)) {
		struct scheduler_config config = {
			.channels = l.channels,
			.channel_count = t->capacity.channels,
			.groups = l.groups,
			.group_count = t->capacity.bonding_groups,
			.modems = l.modems,
			.modem_count = t->capacity.modems,
			.flows = l.flows,
			.flow_count = t->capacity.flows,
			.rate_limit = sg->rate_limit,
			.packet_limit = queued_max,
			.first_number = first_number(),
			.seed = sg->id, /* so that a replay has the same drops */
		};

		lists_fill(&l, sg, t);
		s = scheduler_create(&config, why);
	}
	lists_free(&l);
	return s;
}

int qos_create(struct downstream *d, const struct service_group *sg, uint32_t queued_max) {
	struct ds_upper *u = &d->upper;
	/* Of the worker, which may already run: the channels of an added group count from now on. */
	uint64_t now = __atomic_load_n(&u->clock->now, __ATOMIC_RELAXED);
	const char *why;

	u->capacity =
		rte_zmalloc("capacity", d->tables.capacity.channels * sizeof(*u->capacity), 0);
	if (u->capacity == NULL) {
		log_error("memory", LOG_NO_FIELDS, "downstream: no memory");
		return -1;
	}
	for (size_t c = 0; c < sg->channel_count; c++)
		u->capacity[c] = (struct ds_capacity){
			.since = now, .rate = qos_channel(&sg->rphy, &sg->channels[c]).rate};
	u->scheduler = scheduler_of(sg, &d->tables, queued_max, &why);
	if (u->scheduler == NULL)
		log_error("downstream", LOG_NO_FIELDS,
			  "downstream: no scheduler for %u service flows: %s", d->tables.flow_count,
			  why);
	return u->scheduler == NULL ? -1 : 0;
}

void qos_free(struct downstream *d) {
	scheduler_free(d->upper.scheduler);
	rte_free(d->upper.capacity);
}

/* Bytes that `rate` bit/s carries in `ns`. */
static uint64_t carried(uint64_t rate, uint64_t ns) {
	return (uint64_t)((unsigned __int128)rate * ns / NS_PER_BYTE_AT_1_BPS);
}

/* Loads the members while the upper MAC does not change them. Its worker may lose its core during a
 * change, so the reader sleeps. (rte_seqcount of DPDK 22.11 is experimental.) */
static struct ds_capacity capacity_load(const struct ds_capacity *c) {
	struct ds_capacity loaded;

	for (;;) {
		loaded.changes = __atomic_load_n(&c->changes, __ATOMIC_ACQUIRE);
		loaded.before = __atomic_load_n(&c->before, __ATOMIC_ACQUIRE);
		loaded.since = __atomic_load_n(&c->since, __ATOMIC_ACQUIRE);
		loaded.rate = __atomic_load_n(&c->rate, __ATOMIC_ACQUIRE);
		if ((loaded.changes & 1) == 0 &&
		    __atomic_load_n(&c->changes, __ATOMIC_RELAXED) == loaded.changes)
			return loaded;
		usleep(WRITER_POLL_US);
	}
}

/* The counterpart of capacity_load(). Each store of a member releases the odd number before it. */
static void capacity_store(struct ds_capacity *c, uint64_t before, uint64_t since, uint64_t rate) {
	uint32_t changes = c->changes;

	__atomic_store_n(&c->changes, changes + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&c->before, before, __ATOMIC_RELEASE);
	__atomic_store_n(&c->since, since, __ATOMIC_RELEASE);
	__atomic_store_n(&c->rate, rate, __ATOMIC_RELEASE);
	__atomic_store_n(&c->changes, changes + 2, __ATOMIC_RELEASE);
}

uint64_t qos_capacity(const struct downstream *d, uint32_t channel, uint64_t now) {
	const struct ds_capacity c = capacity_load(&d->upper.capacity[channel]);

	return c.before + carried(c.rate, now > c.since ? now - c.since : 0);
}

uint64_t qos_capacity_now(const struct downstream *d, uint32_t channel) {
	/* The time is loaded before the capacity: a later one might count a former rate too long. */
	uint64_t now = __atomic_load_n(&d->upper.clock->now, __ATOMIC_ACQUIRE);

	return qos_capacity(d, channel, now);
}

void qos_capacity_change(struct ds_upper *u, uint32_t channel, uint64_t rate) {
	struct ds_capacity *c = &u->capacity[channel];
	uint64_t now = u->clock->now;

	capacity_store(c, c->before + carried(c->rate, now - c->since), now, rate);
}

void qos_capacity_begin(struct ds_upper *u, uint32_t channel, uint64_t rate) {
	capacity_store(&u->capacity[channel], 0, u->clock->now, rate);
}
