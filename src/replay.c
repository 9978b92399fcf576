/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vcmtsd replay: a capture goes in at the network port, the DEPI frames that come out at the R-PHY
 * port are written as a capture. Time is the capture's, so the same input and configuration give
 * the same bytes.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "capture.h"
#include "commands.h"
#include "instance.h"
#include "model/loader.h"
#include "platform/platform.h"
#include "platform/port.h"
#include "report.h"

#define PORT_DEPTH 1024

/* Between two packets of the capture, time goes on in such steps while packets are held. */
#define STEP_NS 10000

/* What is still held this long after the last packet is counted as stopped. */
#define END_NS (60 * CLOCK_NS_PER_S)

struct replay_options {
	const char *config;
	const char *network_in;
	const char *rphy_out;
	const char *stats;
};

struct replay {
	struct instance *instance;
	uint16_t network_port; /* our end of the wire to the network port */
	uint16_t rphy_port;
	uint64_t base; /* ns, of the capture's first packet */
	uint64_t now; /* ns since then */
	unsigned waiting; /* packets put on the wire at this time */
	struct capture_writer out;
	uint8_t frame[CAPTURE_FRAME_MAX]; /* an outgoing one, gathered */
};

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "service group, YAML", 0},
	{"network-in", 'i', "PCAP", 0, "what arrives at the network port", 0},
	{"rphy-out", 'o', "PCAP", 0, "where to write what leaves the R-PHY port", 0},
	{"stats", 's', "FILE", 0, "write all counters as JSON, - for stdout", 0},
	{0},
};

static error_t option(int key, char *value, struct argp_state *state) {
	struct replay_options *o = state->input;

	switch (key) {
	case 'c': o->config = value; return 0;
	case 'i': o->network_in = value; return 0;
	case 'o': o->rphy_out = value; return 0;
	case 's': o->stats = value; return 0;
	case ARGP_KEY_END:
		if (o->network_in == NULL || o->rphy_out == NULL)
			argp_error(state, "--network-in and --rphy-out are needed");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* Frames of a capture may be longer than a buffer: the rest follows in further ones. */
static struct rte_mbuf *to_mbuf(struct rte_mempool *pool, const uint8_t *data, uint32_t size) {
	struct rte_mbuf *head = rte_pktmbuf_alloc(pool);

	while (head != NULL) {
		struct rte_mbuf *last = rte_pktmbuf_lastseg(head), *more;
		uint32_t part = RTE_MIN(size, (uint32_t)rte_pktmbuf_tailroom(last));

		memcpy(rte_pktmbuf_append(head, (uint16_t)part), data, part);
		data += part;
		size -= part;
		if (size == 0)
			break;
		more = rte_pktmbuf_alloc(pool);
		if (more == NULL || rte_pktmbuf_chain(head, more) != 0) {
			rte_pktmbuf_free(more);
			rte_pktmbuf_free(head);
			return NULL;
		}
	}
	return head;
}

static void write_out(struct replay *r) {
	struct rte_mbuf *pkts[PIPELINE_BURST];
	uint16_t n;

	while ((n = rte_eth_rx_burst(r->rphy_port, 0, pkts, PIPELINE_BURST)) > 0) {
		for (uint16_t i = 0; i < n; i++) {
			uint32_t size = rte_pktmbuf_pkt_len(pkts[i]);

			capture_write(&r->out, r->base + r->now,
				      rte_pktmbuf_read(pkts[i], 0, size, r->frame), size);
			rte_pktmbuf_free(pkts[i]);
		}
	}
}

/* Runs the workers at the present time until nothing moves and the crypto device is empty. */
static void settle(struct replay *r) {
	struct instance *i = r->instance;
	unsigned moved;

	do {
		moved = 0;
		for (unsigned w = 0; w < i->worker_count; w++) {
			i->workers[w].clock.now = r->now;
			moved += worker_round(&i->workers[w]);
		}
		write_out(r);
	} while (moved > 0 || i->downstream->lower.in_crypto > 0);
	r->waiting = 0;
}

static void advance(struct replay *r, uint64_t to) {
	if (to <= r->now) /* captures may go back in time; the clock does not */
		return;
	settle(r);
	while (r->now + STEP_NS < to && downstream_held(r->instance->downstream) > 0) {
		r->now += STEP_NS;
		settle(r);
	}
	r->now = to;
}

/* Puts a packet on the wire; those of one time go in as a burst. */
static int inject(struct replay *r, const struct capture_packet *p) {
	struct rte_mbuf *m = to_mbuf(r->instance->packets, p->data, p->size);

	if (m == NULL || rte_eth_tx_burst(r->network_port, 0, &m, 1) != 1) {
		rte_pktmbuf_free(m);
		fprintf(stderr, "replay: no buffer for a packet of %u bytes\n", p->size);
		return -1;
	}
	if (++r->waiting == PIPELINE_BURST)
		settle(r);
	return 0;
}

/* All of the capture. Returns 0, or -1 after a message when it broke off. */
static int play(struct replay *r, pcap_t *in, const char *name) {
	struct capture_packet p;
	bool first = true;
	int ret = 0;

	while (!command_stopped && (ret = capture_next(in, name, &p)) == 1) {
		if (first)
			r->base = p.time;
		first = false;
		advance(r, p.time > r->base ? p.time - r->base : 0);
		if (inject(r, &p) != 0)
			return -1;
	}
	if (command_stopped)
		fprintf(stderr, "replay: stopped by a signal; what came before was replayed\n");
	return command_stopped ? -1 : ret;
}

/* What is held after the last packet comes out in its own time. */
static void play_out(struct replay *r) {
	advance(r, r->now + END_NS);
	downstream_stop(r->instance->downstream);
}

static int wire(struct replay *r, const struct service_group *sg) {
	uint16_t network[2], rphy[2];

	if (instance_pools(r->instance, sg) != 0 ||
	    port_pair("network", r->instance->packets, PORT_DEPTH, network) != 0 ||
	    port_pair("rphy", r->instance->packets, PORT_DEPTH, rphy) != 0 ||
	    instance_create(r->instance, network[0], rphy[0]) != 0)
		return -1;
	r->network_port = network[1];
	r->rphy_port = rphy[1];
	downstream_account(r->instance->downstream, false);
	return 0;
}

static int write_stats(const struct replay *r, const char *path) {
	json_t *json = report_json(r->instance, NULL, 0);
	int ret = report_write(json, path);

	json_decref(json);
	return ret;
}

/* From the first packet to the last, and the results. */
static int replay(struct replay *r, pcap_t *in, const struct replay_options *o) {
	int ret = play(r, in, o->network_in) == 0 ? 0 : EXIT_TROUBLE;
	double seconds = (double)r->now / CLOCK_NS_PER_S;
	bool taken = report_is_stdout(o->stats) || report_is_stdout(o->rphy_out);

	play_out(r);
	if (o->stats != NULL && write_stats(r, o->stats) != 0)
		ret = EXIT_TROUBLE;
	report_print(taken ? stderr : stdout, r->instance, NULL, seconds);
	return report_balanced(r->instance) ? ret : EXIT_TROUBLE;
}

/* No output may go over an input or another output. */
static bool outputs_free(const struct replay_options *o) {
	const char *const taken[][2] = {
		{o->rphy_out, o->config},
		{o->rphy_out, o->network_in},
		{o->stats, o->config},
		{o->stats, o->network_in},
	};

	for (size_t i = 0; i < RTE_DIM(taken); i++) {
		if (taken[i][0] != NULL && capture_same(taken[i][0], taken[i][1])) {
			fprintf(stderr, "%s: is an input too; choose another file for the output\n",
				taken[i][0]);
			return false;
		}
	}
	if (o->stats == NULL || strcmp(o->stats, o->rphy_out) != 0)
		return true;
	fprintf(stderr, "%s: found for both outputs; choose another file for one\n", o->stats);
	return false;
}

/* On an EAL that runs. */
static int replay_files(struct replay *r, const struct replay_options *o,
			const struct service_group *sg) {
	pcap_t *in = capture_open(o->network_in);
	int ret = EXIT_TROUBLE;

	if (in == NULL)
		return EXIT_MISTAKE;
	if (capture_create(&r->out, o->rphy_out) != 0) {
		ret = EXIT_MISTAKE;
	} else if (wire(r, sg) == 0) {
		ret = replay(r, in, o);
		port_close(r->network_port);
		port_close(r->rphy_port);
	}
	pcap_close(in);
	return capture_finish(&r->out) == 0 ? ret : EXIT_TROUBLE;
}

int command_replay(int argc, char **argv) {
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Replays a capture through the downstream, deterministically.",
	};
	struct replay_options o = {0};
	struct service_group sg = {0};
	struct platform_options p = {
		.program = "vcmtsd",
		.main_core = PLATFORM_ANY_CORE,
		.offline = true,
	};
	struct replay *r;
	int status = EXIT_TROUBLE;

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (command_load(o.config, &sg) != 0)
		return EXIT_MISTAKE;
	if (!outputs_free(&o)) {
		service_group_free(&sg);
		return EXIT_MISTAKE;
	}
	command_catch_signals();
	p.memory_mb = instance_memory_mb(&sg);
	r = calloc(1, sizeof(*r));
	if (r != NULL && (r->instance = instance_alloc()) != NULL && platform_start(&p) == 0) {
		status = replay_files(r, &o, &sg);
		instance_free(r->instance);
		platform_stop();
	}
	if (r != NULL)
		free(r->instance);
	free(r);
	service_group_free(&sg);
	return status;
}
