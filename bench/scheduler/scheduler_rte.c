/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's rte_sched as a subject: one subport, one pipe per modem. Flows with a priority of their own are
 * its traffic classes 0 to 3, the others are queues of its best-effort class.
 *
 * rte_sched serves a pipe until it is empty or has no credits. With buckets that never limit, it serves a
 * backlogged modem until it is empty, while the others wait. That is cheapest, as fetching a pipe's state
 * serves many packets. With buckets of two frames, which fill faster than they are spent, pipes alternate
 * with about the quantum of src/scheduler. Both are measured.
 */
#include "scheduler_subject.h"

#include <math.h>
#include <stdio.h>

#include <rte_sched.h>

#define PERIOD_MS 10
#define MTU 1522
#define QUANTUM (2 * MTU) /* bytes */

/* `rate`: bits per second. */
static uint64_t bytes_per_second(uint64_t rate) {
	return rate / 8;
}

static struct rte_sched_port *port_create(const struct bench_case *c, double mean) {
	struct rte_sched_subport_profile_params profile = {
		.tb_rate = bytes_per_second(case_rate(c)),
		.tb_size = 1000000,
		.tc_period = PERIOD_MS,
	};
	struct rte_sched_port_params params = {
		.name = "bench",
		.socket = (int)rte_socket_id(),
		.rate = bytes_per_second(case_rate(c)),
		.mtu = MTU,
		.frame_overhead = (uint32_t)lround(case_overhead(mean)),
		.n_subports_per_port = 1,
		.subport_profiles = &profile,
		.n_subport_profiles = 1,
		.n_max_subport_profiles = 1,
		.n_pipes_per_subport = rte_align32pow2(c->modems),
	};

	for (unsigned i = 0; i < RTE_SCHED_TRAFFIC_CLASSES_PER_PIPE; i++)
		profile.tc_rate[i] = profile.tb_rate;
	return rte_sched_port_config(&params);
}

/* `bucket`: bytes of a pipe's token bucket. Classes without queues need no memory and no rate. */
static int subport_create(struct rte_sched_port *port, const struct bench_case *c,
			  uint64_t bucket) {
	struct rte_sched_pipe_params pipe = {
		.tb_rate = bytes_per_second(CASE_MODEM_RATE),
		.tb_size = bucket,
		.tc_period = PERIOD_MS,
		.tc_ov_weight = 1,
		.wrr_weights = {1, 1, 1, 1},
	};
	struct rte_sched_subport_params subport = {
		.n_pipes_per_subport_enabled = rte_align32pow2(c->modems),
		.pipe_profiles = &pipe,
		.n_pipe_profiles = 1,
		.n_max_pipe_profiles = 1,
	};

	for (unsigned i = 0; i < CASE_STRICT; i++) {
		subport.qsize[i] = c->queue_packets;
		pipe.tc_rate[i] = bytes_per_second(CASE_FLOW_RATE);
	}
	subport.qsize[RTE_SCHED_TRAFFIC_CLASS_BE] = c->queue_packets;
	pipe.tc_rate[RTE_SCHED_TRAFFIC_CLASS_BE] =
		bytes_per_second((CASE_FLOWS - CASE_STRICT) * (uint64_t)CASE_FLOW_RATE);
	return rte_sched_subport_config(port, 0, &subport, 0);
}

static void *create_with(const struct bench_case *c, double mean, uint64_t bucket) {
	struct rte_sched_port *port = port_create(c, mean);
	bool ready = port != NULL && subport_create(port, c, bucket) == 0;

	for (unsigned m = 0; ready && m < c->modems; m++)
		ready = rte_sched_pipe_config(port, 0, m, 0) == 0;
	if (!ready) {
		fprintf(stderr, "%s: rte_sched refuses it, or memory is short\n", c->name);
		rte_sched_port_free(port);
		return NULL;
	}
	return port;
}

static void *create(const struct bench_case *c, double mean) {
	return create_with(c, mean, CASE_MODEM_BURST);
}

static void *create_quanta(const struct bench_case *c, double mean) {
	return create_with(c, mean, QUANTUM);
}

static void destroy(void *s) {
	rte_sched_port_free(s);
}

static void mark(void *s, struct rte_mbuf *m, uint32_t flow) {
	unsigned number = flow % CASE_FLOWS;
	bool strict = number < CASE_STRICT;

	rte_sched_port_pkt_write(s, m, 0, flow / CASE_FLOWS,
				 strict ? number : RTE_SCHED_TRAFFIC_CLASS_BE,
				 strict ? 0 : number - CASE_STRICT, RTE_COLOR_GREEN);
}

static unsigned enqueue(void *s, uint64_t now, struct rte_mbuf **packets) {
	(void)now; /* rte_sched reads the TSC itself */
	return (unsigned)rte_sched_port_enqueue(s, packets, SUBJECT_BURST);
}

static unsigned dequeue(void *s, uint64_t now, struct rte_mbuf **packets, unsigned n) {
	(void)now;
	return (unsigned)rte_sched_port_dequeue(s, packets, n);
}

const struct scheduler_subject subject_rte_sched = {
	.name = "rte_sched",
	.create = create,
	.free = destroy,
	.mark = mark,
	.enqueue = enqueue,
	.dequeue = dequeue,
};

const struct scheduler_subject subject_rte_sched_quanta = {
	.name = "rte_sched_turns",
	.create = create_quanta,
	.free = destroy,
	.mark = mark,
	.enqueue = enqueue,
	.dequeue = dequeue,
};
