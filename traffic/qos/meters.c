/* SPDX-License-Identifier: BSD-3-Clause */
/* Updates the meters of received packets. */
#include "qos/meters.h"

#include <stdlib.h>

#include <rte_common.h>

#include "wire/crc32.h"

/* Burst of the peak rate: the larger of these bytes and the bytes of the peak rate in this time. */
#define PEAK_BURST 2000
#define PEAK_S 200e-6

static void limit_set(struct rate_limit *l, uint64_t bps, double burst, double hz) {
	l->rate = (double)bps / 8 / hz;
	l->burst = burst;
}

static bool modem_reserves(const struct modem *m) {
	for (size_t f = 0; f < m->service_flow_count; f++) {
		if (m->service_flows[f].reserved_rate != 0)
			return true;
	}
	return false;
}

static void flow_set(struct meter_flow *f, const struct service_flow *config, const struct modem *m,
		     double hz) {
	f->id = config->id;
	f->group = (uint16_t)config->bonding_group;
	f->priority = config->priority;
	f->weight = config->weight;
	f->reserves = modem_reserves(m);
	f->free = config->sustained_rate == 0 && m->aggregate_rate == 0 && !f->reserves;
	limit_set(&f->sustained, config->sustained_rate, config->traffic_burst, hz);
	limit_set(&f->peak, config->peak_rate, 0, hz);
	f->peak.burst = RTE_MAX(PEAK_BURST, f->peak.rate * hz * PEAK_S);
}

/* Reserved packets may exceed the modem's aggregate rate, so the rate is not measured for such modems. */
static void modem_set(struct meters *q, const struct modem *m, const struct targets *targets,
		      uint32_t number) {
	struct meter_modem *modem = &q->modems[number];

	if (!modem_reserves(m))
		limit_set(&modem->aggregate, m->aggregate_rate, m->aggregate_burst, q->hz);
	modem->first_id = m->service_flow_count > 0 ? m->service_flows[0].id : 0;
	for (uint32_t f = 0; f < m->service_flow_count; f++) {
		struct meter_flow *flow = &q->flows[targets_stream(targets, number, f)];

		flow->modem = number;
		flow_set(flow, &m->service_flows[f], m, q->hz);
	}
}

static void group_set(struct meter_group *g, const struct bonding_group *config) {
	g->id = config->id;
	for (size_t i = 0; i < config->channel_count; i++)
		g->channels[config->channels[i] / 64] |= UINT64_C(1) << config->channels[i] % 64;
}

static void channel_set(struct meter_channel *c, const struct channel *config, double hz) {
	c->id = config->id;
	limit_set(&c->limit, config->rate, 0, hz);
}

static void meters_set(struct meters *q, const struct service_group *sg,
		       const struct targets *targets) {
	q->rate_limit = (double)sg->rate_limit / 8 / q->hz;
	for (uint32_t c = 0; c < q->channel_count; c++)
		channel_set(&q->channels[c], &sg->channels[c], q->hz);
	for (uint32_t g = 0; g < q->group_count; g++)
		group_set(&q->groups[g], &sg->bonding_groups[g]);
	for (uint32_t m = 0; m < q->modem_count; m++)
		modem_set(q, &sg->modems[m], targets, m);
}

struct meters *meters_create(const struct service_group *sg, const struct targets *targets,
			     uint64_t tsc_hz) {
	struct meters *q = calloc(1, sizeof(*q));

	if (q == NULL)
		return NULL;
	q->hz = (double)tsc_hz;
	q->wait = tsc_hz * METERS_WAIT_MS / 1000;
	q->flow_count = targets->stream_count;
	q->modem_count = (uint32_t)sg->modem_count;
	q->group_count = (uint32_t)sg->bonding_group_count;
	q->channel_count = (uint32_t)sg->channel_count;
	q->flows = calloc(q->flow_count + 1, sizeof(*q->flows));
	q->modems = calloc(q->modem_count + 1, sizeof(*q->modems));
	q->groups = calloc(q->group_count + 1, sizeof(*q->groups));
	if (q->flows == NULL || q->modems == NULL || q->groups == NULL) {
		meters_free(q);
		return NULL;
	}
	meters_set(q, sg, targets);
	return q;
}

void meters_free(struct meters *q) {
	if (q == NULL)
		return;
	free(q->flows);
	free(q->modems);
	free(q->groups);
	free(q);
}

static void delay_add(struct meter_delay *d, const struct arrived *packet, uint64_t now) {
	if (packet->tsc == 0 || now < packet->tsc)
		return;
	d->packets++;
	d->cycles += (double)(now - packet->tsc);
}

/* Packets of a flow may wait for its own rate limit, which says nothing about its modem and channel. */
static void backlogs_count(struct meters *q, struct meter_flow *f, const struct arrived *packet,
			   uint64_t now) {
	backlog_count(&f->backlog, packet->tsc, q->wait, now);
	if (f->sustained.rate <= 0)
		backlog_count(&q->modems[f->modem].backlog, packet->tsc, q->wait, now);
	if (f->free)
		backlog_count(&q->channels[packet->channel].backlog, packet->tsc, q->wait, now);
}

void meters_packet(struct meters *q, const struct arrived *packet, uint64_t now) {
	/* Rates count the bytes from after the HCS to the end of the CRC (MULPI, annex C.2.2). */
	const uint32_t bytes = packet->bytes + ETHERNET_CRC_SIZE;
	struct meter_modem *m;
	struct meter_flow *f;

	if (q == NULL || packet->stream >= q->flow_count || q->flows[packet->stream].id == 0)
		return;
	f = &q->flows[packet->stream];
	m = &q->modems[f->modem];
	if (q->since == 0)
		q->since = now;
	rate_limit_count(&f->sustained, bytes, now);
	rate_limit_count(&f->peak, bytes, now);
	rate_limit_count(&m->aggregate, bytes, now);
	f->backlog.total += bytes;
	m->backlog.total += bytes;
	if (q->until == 0)
		backlogs_count(q, f, packet, now);
	if (f->free)
		delay_add(&q->groups[f->group].delays[f->priority], packet, now);
}

void meters_depi(struct meters *q, uint32_t channel, uint32_t bytes, uint64_t now) {
	if (q == NULL)
		return;
	q->channels[channel].backlog.total += bytes;
	rate_limit_count(&q->channels[channel].limit, bytes, now);
}

static double group_load(const struct meters *q, const struct meter_group *g) {
	double max = 0;

	for (uint32_t c = 0; c < q->channel_count; c++) {
		const struct meter_channel *channel = &q->channels[c];
		double capacity = channel->limit.rate * (double)(q->until - q->since);

		if ((g->channels[c / 64] >> c % 64 & 1) != 0 && capacity > 0)
			max = RTE_MAX(max, (double)channel->backlog.total / capacity);
	}
	return max;
}

void meters_stop(struct meters *q, uint64_t now) {
	if (q == NULL || q->until != 0)
		return;
	q->until = now;
	for (uint32_t g = 0; g < q->group_count; g++)
		q->groups[g].load = group_load(q, &q->groups[g]);
}
