/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the whole upstream, from the R-PHY port to the network port. The input controls valid
 * traffic and its faults (upstream_writer.h). After each round all units must balance, and at the
 * end no buffer may be missing. Packets are in memory of exactly their size, and there are poisoned
 * gaps between frame buffers, so that the address sanitizer detects any access beyond them. */
#define ALLOW_EXPERIMENTAL_API /* pools in external memory, before DPDK 23.11 */

#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>

#include "exact_packet.h"
#include "fuzz.h"
#include "pipeline/packet.h"
#include "platform/platform.h"
#include "platform/port.h"
#include "upstream_writer.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

#define PACKETS 511
#define FRAMES 2047
#define FRAME_BUFFER (RTE_PKTMBUF_HEADROOM + US_FRAME_SIZE)
#define GAP 64 /* poisoned bytes */
#define DEPTH 64
#define ACTIONS 600
#define MS 1000000ull

/* Created once. */
static struct {
	struct upstream_kit config; /* only its configuration is used */
	struct crypto_provider *crypto;
	struct crypto_queue *queue;
	void *schedules[12];
	struct rte_mempool *packets, *frames, *pieces;
	/* pairs of R-PHY, network and control ports: ends of this file and of the upstream */
	uint16_t far[3], near[3];
	struct clock clock;
} env;

static struct writer writer;

/* A pool in external memory, with a gap behind each buffer. */
static struct rte_mempool *frame_pool(void) {
	static uint8_t bytes[FRAMES * (FRAME_BUFFER + GAP)] __rte_cache_aligned;
	const size_t element = FRAME_BUFFER + GAP;
	struct rte_pktmbuf_extmem memory = {
		.buf_iova = RTE_BAD_IOVA,
		.buf_ptr = bytes,
		.buf_len = sizeof(bytes),
		.elt_size = (uint16_t)element,
	};
	struct rte_mempool *pool;

	pool = rte_pktmbuf_pool_create_extbuf("fuzz_frames", FRAMES, 0, 0, FRAME_BUFFER,
					      SOCKET_ID_ANY, &memory, 1);
	CHECK(pool != NULL);
	for (size_t f = 0; f < FRAMES; f++)
		ASAN_POISON_MEMORY_REGION(bytes + f * element + FRAME_BUFFER, GAP);
	return pool;
}

/* Else EAL's folder would stay. */
static void clean_up(void) {
	if (env.queue != NULL)
		crypto_queue_close(env.queue);
	if (env.crypto != NULL)
		crypto_close(env.crypto);
	platform_stop();
}

static void start(void) {
	struct platform_options options = {.program = "fuzz",
					   .main_core = PLATFORM_ANY_CORE,
					   .memory_mb = 64,
					   .offline = true};
	static const char *const names[3] = {"rphy", "network", "control"};

	CHECK(platform_start(&options) == 0 && packet_meta_register() == 0);
	CHECK(atexit(clean_up) == 0);
	kit_set_defaults(&env.config);
	env.crypto = crypto_standalone_open(SOCKET_ID_ANY);
	CHECK(env.crypto != NULL);
	env.queue = crypto_queue_open(env.crypto, CRYPTO_UPLINK);
	CHECK(env.queue != NULL);
	for (unsigned m = 0; m < 2; m++) {
		const struct security_association *sa = &env.config.modems[m].security;

		env.schedules[2 * m] =
			crypto_key_make(env.crypto, CRYPTO_UPLINK, CIPHER_AES_128, sa->key);
		if (sa->has_next_key)
			env.schedules[2 * m + 1] = crypto_key_make(env.crypto, CRYPTO_UPLINK,
								   CIPHER_AES_128, sa->next_key);
	}
	env.packets = rte_pktmbuf_pool_create("fuzz_packets", PACKETS, 0, 0, RTE_PKTMBUF_HEADROOM,
					      SOCKET_ID_ANY);
	env.pieces = rte_pktmbuf_pool_create("fuzz_pieces", PACKETS, 0, 0, 0, SOCKET_ID_ANY);
	env.frames = frame_pool();
	CHECK(env.packets != NULL && env.pieces != NULL);
	for (int i = 0; i < 3; i++) {
		uint16_t ids[2];

		CHECK(port_pair(names[i], env.packets, DEPTH, ids) == 0);
		env.far[i] = ids[0];
		env.near[i] = ids[1];
	}
}

static struct upstream *create_upstream(uint8_t flags) {
	struct service_group *sg = &env.config.sg;
	struct us_resources r = {
		.rphy = {.port = env.near[0]},
		.network = packet_sink_port(env.near[1]),
		.control = flags & 1 ? (struct packet_sink){0} : packet_sink_port(env.near[2]),
		.crypto = env.queue,
		.schedules = env.schedules,
		.packets = env.packets,
		.frames = env.frames,
		.pieces = env.pieces,
		.attach_frames = (flags & 32) == 0,
		.clock = &env.clock,
	};
	struct upstream *u;

	sg->upstream.verify_crc = (flags & 2) == 0;
	sg->upstream.verify_source = (flags & 4) == 0;
	sg->upstream.psp_numbering = flags & 8 ? PSP_NUMBERING_SESSION : PSP_NUMBERING_FLOW;
	sg->upstream.modem_pending_limit = flags & 16 ? 8000 : 262144;
	sg->upstream.pending = flags & 16 ? 64000 : 4194304;
	env.clock.now = 0;
	u = upstream_create(sg, &r);
	CHECK(u != NULL);
	return u;
}

static void send_packet(void *ctx, const uint8_t *frame, size_t size) {
	struct rte_mbuf *m = exact_packet(env.packets, frame, size);

	(void)ctx;
	if (m != NULL && rte_eth_tx_burst(env.far[0], 0, &m, 1) != 1)
		rte_pktmbuf_free(m);
}

static bool within_limits(const struct upstream *u) {
	for (uint32_t m = 0; m < env.config.sg.modem_count; m++) {
		if (u->pending_set.modems[m].bytes > u->pending_set.modem_limit)
			return false;
	}
	return u->pending_set.buffers[PENDING_POOL_PACKETS] <=
		       u->pending_set.limits[PENDING_POOL_PACKETS] &&
	       u->pending_set.buffers[PENDING_POOL_FRAMES] <=
		       u->pending_set.limits[PENDING_POOL_FRAMES];
}

/* The next round drops what a round leaves above a limit. */
static void run_round(struct upstream *u) {
	pipeline_run(upstream_pipeline(u, 0));
	pipeline_run(upstream_pipeline(u, 1));
	CHECK(upstream_balanced(u));
	CHECK(u->transmit.count <= US_TRANSMIT_CAPACITY);
	CHECK(upstream_busy(u) || within_limits(u));
}

/* Receives all frames: in buffers of their own or attached to packets, and readable. */
static void receive_all(void) {
	struct rte_mbuf *m;

	for (int i = 1; i < 3; i++) {
		while (rte_eth_rx_burst(env.far[i], 0, &m, 1) == 1) {
			CHECK(m->pool == env.frames ||
			      (m->pool == env.pieces && rte_pktmbuf_tailroom(m) <= 4));
			CHECK(m->nb_segs == 1);
			CHECK(m->data_len == m->pkt_len && rte_mbuf_refcnt_read(m) == 1);
			touch(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
			rte_pktmbuf_free(m);
		}
	}
}

static void run_action(struct upstream *u) {
	uint8_t action = input_byte(&writer.in);

	switch (action & 15) {
	case 0:
	case 1:
	case 2:
	case 3: writer_frame(&writer); break;
	case 4:
	case 5:
	case 6:
	case 7: writer_burst(&writer); break;
	case 8: writer_records(&writer); break;
	case 9: writer_raw(&writer); break;
	case 10: writer_flush(&writer); break;
	case 11: env.clock.now += (action >> 4) * MS; break;
	case 12: env.clock.now += (action >> 4) * 10 * MS; break;
	case 13: receive_all(); break;
	case 14: writer_fault(&writer); break;
	default: run_round(u);
	}
}

static bool nothing_pending(const struct upstream *u) {
	return u->pending_set.buffers[PENDING_POOL_PACKETS] == 0 &&
	       u->pending_set.buffers[PENDING_POOL_FRAMES] == 0;
}

/* Runs rounds until one starts idle and finds the port empty: before that no timer expires. A timer
 * may wait for a further round, until units that another timer released have left the queues. */
static void settle(struct upstream *u) {
	uint64_t received;
	int rounds = 0;
	bool idle;

	writer_flush(&writer);
	do {
		idle = !upstream_busy(u);
		received = upstream_in(u, UNIT_PACKET);
		run_round(u);
		receive_all();
		CHECK(++rounds < 10000);
	} while (!idle || upstream_busy(u) || upstream_in(u, UNIT_PACKET) != received ||
		 upstream_deadline(u) <= env.clock.now);
	CHECK(within_limits(u));
}

static void stop_upstream(struct upstream *u, bool expire) {
	struct rte_mbuf *m;

	settle(u);
	while (expire && upstream_deadline(u) != UINT64_MAX) {
		env.clock.now = upstream_deadline(u);
		settle(u);
	}
	CHECK(!expire || nothing_pending(u));
	upstream_stop(u);
	CHECK(upstream_balanced(u) && nothing_pending(u));
	for (enum unit unit = 0; unit < UNITS; unit++)
		CHECK(upstream_pending(u, unit) == 0);
	upstream_free(u);
	while (rte_eth_rx_burst(env.near[0], 0, &m, 1) == 1)
		rte_pktmbuf_free(m);
	receive_all();
	CHECK(rte_mempool_in_use_count(env.packets) == 0);
	CHECK(rte_mempool_in_use_count(env.pieces) == 0);
	CHECK(rte_mempool_in_use_count(env.frames) == 0);
	CHECK(env.queue->pending == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static bool started;
	struct upstream *u;
	uint8_t flags;

	if (!started)
		start();
	started = true;
	memset(&writer, 0, sizeof(writer));
	writer.in = (struct fuzz_input){data, data + size};
	writer.packet = send_packet;
	flags = input_byte(&writer.in);
	u = create_upstream(flags);
	writer_open(&writer, &env.config.sg);
	for (int i = 0; i < ACTIONS && writer.in.at < writer.in.end; i++)
		run_action(u);
	stop_upstream(u, (flags & 32) != 0);
	return 0;
}
