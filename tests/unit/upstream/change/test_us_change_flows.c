/* SPDX-License-Identifier: BSD-3-Clause */
/* Service flows, SID clusters and SIDs of modems that live on: what stays keeps its state, what goes leaves. */
#include "us_change_kit.h"

#include "upstream/change/internal.h"

#define LAST 8 /* of modem 5 */
#define AES 3 /* stream of modem 1, encrypted, without segment headers */

static struct modem next;
static struct upstream_service_flow flows[2];
static struct sid_cluster cluster;
static struct upstream_sid sids[2];

/* Modem `m` as it is, with copies of its flows to be changed. */
static void copy(unsigned m) {
	next = bench->modems[m];
	memcpy(flows, next.upstream_flows, next.upstream_flow_count * sizeof(flows[0]));
	next.upstream_flows = flows;
}

/* The only SID of the first flow on channel 0 is another one. */
static void one_sid(uint16_t sid) {
	sids[0] = (struct upstream_sid){0, sid};
	cluster = flows[0].clusters[0];
	cluster.sids = sids;
	cluster.sid_count = 1;
	flows[0].clusters = &cluster;
}

/* What came under the SID of before is decrypted; later it is not the modem's any more. */
CASE(sid_differs, .prepare = with_room) {
	uint8_t frame[BENCH_FRAME_MAX];
	struct us_change *c;
	size_t size;

	put(AES);
	to_segments();
	copy(1);
	one_sid(0x2a);
	will_be(LIVE_MODEM, 1, &next);
	c = taken();
	bench_settle();
	bench_complete(AES);
	pass_and_finish(c);
	drops(AES, DROP_UNKNOWN_SID);
	size = bench_mac(AES, SIZE, frame); /* its privacy element has the SID of before */
	bench_burst(BENCH_SC_QAM, 0x2a, frame, size);
	bench_settle();
	lost(AES, DROP_PRIVACY_SID, 1);
}

/* A segment of padding with this number on each of these SIDs, of a flow that has so many clusters. */
static void put_padding(uint16_t sid, unsigned count, unsigned of_flow, uint16_t sequence) {
	uint8_t segment[SEGMENT_HEADER_SIZE + 4];

	memset(segment, 0xff, sizeof(segment));
	for (unsigned n = 0; n < count; n++) {
		segment_header_write(
			&(struct segment_header){.sequence = sequence, .sid_cluster = n % of_flow},
			segment);
		bench_burst(BENCH_SC_QAM, (uint16_t)(sid + n), segment, sizeof(segment));
	}
	bench_settle();
}

/* Each modem of a crowd gets the SID of the next one. None is unknown at any time. */
CASE(sids_change_hands, .prepare = with_crowd) {
	static struct modem moved[CROWD];
	static struct upstream_service_flow moved_flows[CROWD];
	struct us_change *c;
	unsigned steps = 0;

	for (unsigned m = 0; m < CROWD; m++) {
		moved[m] = bench->modems[BENCH_MODEMS + m];
		moved_flows[m] = bench->modems[BENCH_MODEMS + m].upstream_flows[0];
		moved[m].upstream_flows = &moved_flows[m];
		moved_flows[m].clusters =
			bench->modems[BENCH_MODEMS + (m + 1) % CROWD].upstream_flows[0].clusters;
		will_be(LIVE_MODEM, BENCH_MODEMS + m, &moved[m]);
	}
	c = begin();
	do {
		put_padding(BENCH_CROWD_SID, CROWD, 1, 0);
		steps++;
	} while (!us_change_take(c));
	assert_in_range(steps, 3, 50);
	pass_and_finish(c);
	assert_int_equal(bench->u->counters.drops[DROP_UNKNOWN_SID], 0);
	for (unsigned m = 0; m < CROWD; m++) {
		const struct us_stream *s =
			us_stream_of_sid(&bench->u->tables, 0, (uint16_t)(BENCH_CROWD_SID + m));

		assert_int_equal(s->modem, BENCH_MODEMS + (m + CROWD - 1) % CROWD);
	}
	bench->any_drops = true;
}

#define MANY_STREAMS (US_STEP_NS / US_RECORD_NS) /* as many as a step may look at */
#define MANY_SIDS 0x400 /* the first of theirs */

static struct modem many_streams(void) {
	enum { FLOWS = MANY_STREAMS / SG_MAX_SID_CLUSTERS };
	static struct upstream_service_flow all[FLOWS];
	static struct sid_cluster of_flow[FLOWS][SG_MAX_SID_CLUSTERS];
	static struct upstream_sid of_cluster[FLOWS][SG_MAX_SID_CLUSTERS];

	_Static_assert(FLOWS * SG_MAX_SID_CLUSTERS == MANY_STREAMS && FLOWS <= SG_MAX_MODEM_FLOWS,
		       "one modem's streams are a step");
	for (unsigned f = 0; f < FLOWS; f++) {
		for (unsigned k = 0; k < SG_MAX_SID_CLUSTERS; k++) {
			of_cluster[f][k] =
				(struct upstream_sid){0, (uint16_t)(MANY_SIDS + 8 * f + k)};
			of_flow[f][k] = (struct sid_cluster){k, &of_cluster[f][k], 1};
		}
		all[f] = (struct upstream_service_flow){500 + f, true, of_flow[f],
							SG_MAX_SID_CLUSTERS};
	}
	return (struct modem){.mac = {2, 3}, .upstream_flows = all, .upstream_flow_count = FLOWS};
}

static void with_many_streams(void) {
	static const struct group_room wide = {
		.modems = 8,
		.upstream_channels = 3,
		.upstream_flows = 60,
		.streams = 300,
		.sids = 300,
	};

	bench->sg.upstream.held_by_modem = 4000000;
	bench->modems[BENCH_MODEMS] = many_streams();
	bench->sg.modem_count = BENCH_MODEMS + 1;
	bench->room = &wide;
}

/* One stream more leaves than a step may look at: what waits of it is dropped by the next step. */
CASE(streams_leave_in_steps, .prepare = with_many_streams) {
	uint8_t frame[BENCH_FRAME_MAX];
	struct us_change *c;

	bench_mac(LAST, SIZE, frame);
	bench_handle(LAST, frame, FRAME / 2);
	will_be(LIVE_MODEM, BENCH_MODEMS, NULL);
	will_be(LIVE_MODEM, bench_streams[LAST].modem, NULL);
	c = taken();
	assert_false(us_change_passed(c));
	assert_int_equal(upstream_held(bench->u, UNIT_FRAME), 1);
	pass(c);
	nothing_held();
	finish(c);
	lost(LAST, DROP_FRAME_FLOW_REMOVED, 1);
}

/* A stream counts against a step, beside the segment that waits there. */
CASE(streams_are_emptied_in_steps, .prepare = with_many_streams) {
	const uint32_t *waiting = &bench->u->reassemble.waiting_segments;
	uint32_t before = MANY_STREAMS;
	struct us_change *c;
	bool done;

	put_padding(MANY_SIDS, MANY_STREAMS, SG_MAX_SID_CLUSTERS, 0);
	put_padding(MANY_SIDS, MANY_STREAMS, SG_MAX_SID_CLUSTERS, 2);
	assert_int_equal(*waiting, MANY_STREAMS);
	will_be(LIVE_MODEM, BENCH_MODEMS, NULL);
	c = begin();
	do {
		done = us_change_take(c);
		assert_in_range(before - *waiting, 0,
				US_STEP_NS / (US_RECORD_NS + CHANGE_BUFFER_NS));
		before = *waiting;
	} while (!done);
	assert_int_equal(*waiting, 0);
	pass_and_finish(c);
	assert_int_equal(bench->u->counters.drops[DROP_SEGMENT_FLOW_REMOVED], MANY_STREAMS);
	bench->any_drops = true;
}
