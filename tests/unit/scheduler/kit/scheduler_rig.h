/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scheduler under a simulated clock: sources put packets in, each step of the clock takes out
 * what may go, and every grant is judged by what docs/scheduler.md promises of each one:
 *
 *     the packets of a flow go once, in their order, numbered one after the other
 *     they go on a channel of their group, and on the one that has sent its work first
 *     no interval sees more than burst + rate x interval: sustained, peak, modem's aggregate
 *     no channel, nor the service group's limit, has work for more than the lead when it gets
 *     more; DOCSIS header and DEPI are counted by the rig itself
 *     scheduler_next() was not too late
 *
 * What breaks one of these fails the test. Times are the rig's own, from 0 on; the scheduler's
 * clock begins at `epoch`. The scheduler has ticks of 1/64 ns: the time that a packet takes is
 * rounded by up to a hundredth of a nanosecond, and so much more is allowed a packet.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"
#include "scheduler/report.h"
#include "scheduler/scheduler.h"

#define RIG_BPS(mbps) ((uint64_t)(mbps) * 1000000)
#define RIG_MS UINT64_C(1000000)
#define RIG_S UINT64_C(1000000000)
#define RIG_STEP_NS 10000
#define RIG_OFDM RIG_BPS(1890)
#define RIG_SC_QAM UINT64_C(42240000)

enum rig_kind {
	RIG_SILENT,
	RIG_BACKLOGGED, /* `backlog` packets wait at each step */
	RIG_STEADY, /* the gaps follow from the sizes */
	RIG_POISSON, /* exponential gaps */
	RIG_ON_OFF, /* steady for `on_ns`, nothing for `off_ns` */
};

struct rig_source {
	enum rig_kind kind;
	uint32_t smallest, largest; /* bytes of a packet; between them all are as likely */
	uint64_t rate; /* of the kinds behind RIG_BACKLOGGED, bits per second (while on) */
	uint64_t on_ns, off_ns;
	uint32_t backlog; /* 0: as many as one call of scheduler_dequeue() may take */
};

/* The most that any interval saw beyond what the rate brings in it. */
struct rig_envelope {
	double rate; /* bytes per ns; 0: none */
	double burst; /* the most that there may be */
	double level, worst;
	double drift_ns; /* since it was full */
	uint64_t at;
};

struct rig_packet {
	struct rig_packet *next; /* free ones */
	uint64_t serial; /* in its flow */
	uint64_t arrived;
	uint32_t flow, bytes;
	bool inside;
};

struct rig_flow {
	struct rig_source source;
	double next_at; /* of a timed source */
	uint64_t serial, last_serial;
	struct rig_envelope sustained, peak;
	double latest_ns; /* when the latest of its packets will have been sent */
	uint16_t sequence;
	uint64_t verdicts[SCHEDULER_VERDICTS]; /* since the start */
	/* since the mark */
	uint64_t packets, bytes;
	uint64_t first_at, last_at, first_bytes; /* at the time of the first grants */
};

struct rig_channel {
	double ns_per_byte;
	double free_at; /* when it will have sent its work */
	double idle_ns; /* since the mark */
	double drift_ns; /* since it was idle */
	uint64_t packets, bytes; /* since the start, with all that stands around the packets */
	bool open; /* a DEPI frame */
	uint32_t space, segments; /* of it */
	uint64_t opened_at;
};

struct rig_group {
	uint64_t packets;
	uint64_t early_least, early_most; /* without and with those that ticks may decide */
	double skew_ns, max_skew_ns;
};

struct rig_delays {
	uint64_t packets, sum_ns;
	uint64_t buckets[SCHEDULER_DELAY_BUCKETS];
};

struct rig {
	/* what the scheduler is made of; rate_limit, packet_limit and seed may be set at will */
	struct scheduler_config config;
	struct scheduler_channel *channel_configs;
	struct scheduler_group *group_configs;
	struct scheduler_modem *modem_configs;
	struct scheduler_flow *flow_configs;

	uint64_t epoch; /* the scheduler's time at the rig's 0 */
	uint64_t step_ns;
	bool irregular; /* steps between 1 ns and twice step_ns */
	bool follow_delays; /* keeps a histogram of its own */
	struct random random;

	struct scheduler *s;
	uint64_t now, mark;
	uint64_t next; /* what scheduler_next() said; 0 after an arrival */
	uint64_t inside; /* packets */
	struct rig_packet *free_packets;
	struct rig_packet **blocks; /* of packets, to be freed */
	size_t block_count;
	struct rig_flow *flows;
	struct rig_channel *channels;
	struct rig_group *groups;
	struct rig_envelope *modems;
	struct rig_channel limit;
	double drift_ns; /* the most of any channel */
	uint32_t longest; /* packet, with all that stands around it */
	uint32_t *timed; /* flows with a timed source */
	size_t timed_count;
	struct rig_delays delays[SCHEDULER_PRIORITIES];
};

/* Nothing yet; 10 us a step, room for 200,000 packets. */
struct rig rig_make(void);

/* Each returns the index. What is 0 in a flow and may not be, or buffers, get roomy values. */
uint32_t rig_channel(struct rig *r, uint64_t rate);
uint32_t rig_group(struct rig *r, const uint32_t *channels, size_t count);
uint32_t rig_group_range(struct rig *r, uint32_t first, uint32_t count);
uint32_t rig_modem(struct rig *r, uint64_t rate, uint64_t burst);
uint32_t rig_flow(struct rig *r, struct scheduler_flow f);

/*
 * All channels get DEPI as over IPv6, with `room` bytes in a frame for segments and their entries.
 */
void rig_use_depi(struct rig *r, uint16_t room);

/* A burst of what `rate` brings in 10 ms, or of two long packets. */
struct scheduler_limit rig_limit(uint64_t rate);

void rig_start(struct rig *r);

/* What the flow's source does from now on. */
void rig_feed(struct rig *r, uint32_t flow, struct rig_source source);

/* Backlogged flow with packets of these sizes. */
void rig_feed_always(struct rig *r, uint32_t flow, uint32_t smallest, uint32_t largest);

/* One packet, now. */
enum scheduler_verdict rig_put(struct rig *r, uint32_t flow, uint32_t bytes);

/* Takes out what may go now; returns packets. rig_take() takes out up to n and refills nothing. */
uint64_t rig_send(struct rig *r);
unsigned rig_take(struct rig *r, unsigned n);

/* Steps until `ns` from now have passed. */
void rig_run(struct rig *r, uint64_t ns);

/* Measurements begin here. */
void rig_mark(struct rig *r);

/* Bits per second since the mark, from the first grant to the last. */
double rig_rate(const struct rig *r, uint32_t flow);

/* Bits per second of flows first .. first + count - 1, over the time since the mark. */
double rig_rate_sum(const struct rig *r, uint32_t first, uint32_t count);

/* Fails unless `measured` is within `part` of `expected`; `what` and `index` tell of what. */
void rig_expect(const char *what, size_t index, double measured, double expected, double part);

/* Part of the time since the mark in which the channel, or the limit, had something to send. */
double rig_fill(const struct rig *r, uint32_t channel);
double rig_limit_fill(const struct rig *r);

/* All channels of first .. first + count - 1 were in use for more than 99.5 % of the time. */
void rig_expect_filled(const struct rig *r, uint32_t first, uint32_t count);

/* 1 where all are equal (Jain, Chiu, Hawe 1984). */
double rig_jain(const double *x, size_t n);

/* Proves that the reports agree with what was seen and that every packet comes out, frees all. */
void rig_end(struct rig *r);

/* For the rig's own files: judges a grant and books it; compares the reports with the books. */
void rig_judge(struct rig *r, const struct scheduler_grant *g);
void rig_judge_reports(const struct rig *r);
