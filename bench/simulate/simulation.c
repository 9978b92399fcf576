/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulation.h"

#include <stdlib.h>

#include "packets.h"
#include "setup.h"

#define GRANTS 64
#define POLL 1000 /* ns: retry if scheduler_next() was too early */

static void add_event(struct simulation *s, uint64_t time, void (*handle)(void *, void *),
		      void *subject) {
	if (!events_add(&s->events, time, handle, subject))
		s->error = "memory is short";
}

/* Whether the warm-up is over. */
static bool counts(const struct simulation *s) {
	return s->now >= s->scenario->warmup;
}

static void offer(void *context, void *subject);
static void acknowledge(void *context, void *subject);
static void retransmission_timer(void *context, void *subject);

/* Sends a packet, which offer() gets after half a round trip and a random delay. */
static void launch(struct simulation *s, struct sender *sender, uint64_t number) {
	struct packet *p = packet_new(s);
	uint64_t arrival =
		s->now + sender->rtt / 2 + (sender->jitter * (random_next(&s->random) >> 32) >> 32);

	if (p == NULL)
		return;
	if (sender->arrival < arrival)
		sender->arrival = arrival;
	p->sender = sender;
	p->number = number;
	p->sent = s->now;
	add_event(s, sender->arrival, offer, p);
}

/* Sends what the window allows, and keeps the retransmission timer running. */
static void tcp_continue(struct simulation *s, struct sender *sender) {
	while (s->now < sender->group->stop && s->error == NULL && tcp_may_send(&sender->tcp))
		launch(s, sender, tcp_send(&sender->tcp, s->now));
	if (!sender->timer_runs && sender->tcp.deadline != TCP_NEVER) {
		add_event(s, sender->tcp.deadline, retransmission_timer, sender);
		sender->timer_runs = true;
	}
}

/* Each acknowledgement moves the deadline; the pending event is rescheduled only when it fires. */
static void retransmission_timer(void *context, void *subject) {
	struct simulation *s = context;
	struct sender *sender = subject;

	sender->timer_runs = false;
	if (sender->tcp.deadline <= s->now)
		tcp_time_out(&sender->tcp);
	tcp_continue(s, sender);
}

/* Starts a sender; repeats for each packet of a constant bit rate. */
static void start(void *context, void *subject) {
	struct simulation *s = context;
	struct sender *sender = subject;
	const struct sender_group *g = sender->group;

	if (g->kind != SENDER_CBR) {
		tcp_continue(s, sender);
	} else if (s->now < g->stop) {
		launch(s, sender, 0);
		add_event(s, s->now + 8000000000ull * g->bytes / g->rate, start, sender);
	}
}

/* Plans the next call of the scheduler: when it may grant packets. */
static void plan_service(struct simulation *s) {
	uint64_t next = scheduler_next(s->scheduler);

	s->service = next > s->now ? next : s->now;
}

/* A packet arrives at the scheduler. */
static void offer(void *context, void *subject) {
	struct simulation *s = context;
	struct packet *p = subject;
	const struct sender_group *g = p->sender->group;
	struct scheduler_arrival arrival = {p, g->flow, g->bytes};
	enum scheduler_verdict verdict;

	p->queued = s->now;
	scheduler_enqueue(s->scheduler, s->now, &arrival, 1, &verdict);
	if (verdict != SCHEDULER_QUEUED) {
		measure_drop(&s->flows[g->flow], verdict, counts(s));
		p->sender->measure->drops += counts(s);
		packet_free(s, p);
	}
	plan_service(s);
}

/* Sends the packet on its channel, and schedules its acknowledgement. */
static void deliver(struct simulation *s, const struct scheduler_grant *grant) {
	struct packet *p = grant->packet;
	uint32_t flow = grant->flow, bytes = p->sender->group->bytes;
	uint64_t *channel = &s->channel_free[grant->channel];

	measure_grant(&s->flows[flow], bytes, s->now - p->queued, counts(s));
	if (counts(s)) {
		p->sender->measure->packets++;
		p->sender->measure->bytes += bytes;
		p->sender->bytes += bytes;
		measure_delay(p->sender->measure->delay, s->now - p->queued);
	}
	*channel = (*channel > s->now ? *channel : s->now) +
		   8000000000ull * bytes / s->scenario->channel_rates[grant->channel];
	if (s->delivered[flow] < *channel)
		s->delivered[flow] = *channel;
	if (p->sender->group->kind == SENDER_CBR)
		packet_free(s, p);
	else
		add_event(s, s->delivered[flow] + p->sender->rtt - p->sender->rtt / 2, acknowledge,
			  p);
}

static void acknowledge(void *context, void *subject) {
	struct simulation *s = context;
	struct packet *p = subject;
	struct sender *sender = p->sender;

	tcp_acknowledge(&sender->tcp, p->number, p->sent, s->now);
	packet_free(s, p);
	tcp_continue(s, sender);
}

/* Delivers all packets that the scheduler grants now. */
static void serve(struct simulation *s) {
	struct scheduler_grant grants[GRANTS];
	unsigned n;

	do {
		n = scheduler_dequeue(s->scheduler, s->now, grants, GRANTS);
		for (unsigned i = 0; i < n; i++)
			deliver(s, &grants[i]);
	} while (n == GRANTS);
	plan_service(s);
	if (s->service == s->now)
		s->service = s->now + POLL;
}

/* Adds the bytes that the flow's sustained rate allowed since the last call. */
static void count_capacity(struct simulation *s, uint32_t flow) {
	uint64_t since = s->settings_since[flow], warmup = s->scenario->warmup;

	since = since > warmup ? since : warmup;
	if (s->now > since)
		s->flows[flow].capacity +=
			(double)s->settings[flow].sustained.rate * (double)(s->now - since) / 8e9;
	s->settings_since[flow] = s->now;
}

static void change_rate(void *context, void *subject) {
	struct simulation *s = context;
	const struct rate_change *change = subject;
	struct scheduler_flow *flow = &s->settings[change->flow];

	count_capacity(s, change->flow);
	flow->sustained.rate = change->rate;
	s->error = scheduler_set_flow(s->scheduler, change->flow, flow);
	plan_service(s);
}

/* Ends a sample interval of all flows. */
static void sample(void *context, void *subject) {
	struct simulation *s = context;
	struct scheduler_flow_report report;

	for (uint32_t f = 0; f < s->scenario->flow_count; f++) {
		scheduler_report_flow(s->scheduler, f, &report);
		if (!measure_sample(&s->flows[f], &report))
			s->error = "memory is short";
	}
	add_event(s, s->now + s->scenario->sample, sample, subject);
}

/* Adds the first events: senders, rate changes, samples. */
static void plan(struct simulation *s) {
	const struct scenario *scenario = s->scenario;

	for (unsigned i = 0; i < s->sender_count; i++) {
		struct sender *sender = &s->senders[i];
		uint64_t late = sender->group->spread >> 16; /* in 65,536 steps */

		add_event(s, sender->group->start + late * random_below(&s->random, 65536), start,
			  sender);
	}
	for (uint32_t c = 0; c < scenario->change_count; c++)
		add_event(s, scenario->changes[c].at, change_rate, &s->changes[c]);
	add_event(s, scenario->sample, sample, NULL);
}

const char *simulation_run(struct simulation *s, const struct scenario *scenario) {
	if (!setup(s, scenario))
		return s->error;
	plan(s);
	while (s->error == NULL) {
		uint64_t next = events_next(&s->events);

		s->now = next <= s->service ? next : s->service;
		if (s->now >= scenario->duration)
			break;
		if (next <= s->service) {
			struct event event = events_pop(&s->events);

			event.handle(s, event.subject);
		} else {
			serve(s);
		}
	}
	s->now = scenario->duration;
	for (uint32_t f = 0; f < scenario->flow_count; f++)
		count_capacity(s, f);
	return s->error;
}
