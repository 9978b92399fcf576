/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vcmtsd replay: a capture goes in at the network port, the DEPI frames that come out at the R-PHY
 * port are written as a capture; or the other way round. Time is the capture's, so the same input and
 * configuration give the same bytes.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "platform/platform.h"
#include "replay/replay.h"
#include "replay/replay_clock.h"
#include "replay/replay_wires.h"
#include "server/process.h"
#include "server/server.h"
#include "telemetry/report.h"

/* What is still held this long after the last packet is counted as stopped. */
#define END_NS (60 * CLOCK_NS_PER_S)

enum way {
	DOWN, /* --network-in, --rphy-out */
	UP, /* --rphy-in, --network-out */
	WAYS,
};

struct replay_options {
	const char *config;
	const char *in[WAYS];
	const char *out[WAYS];
	const char *control_out;
	const char *stats;
	enum way way;
	bool flows;
};

struct replay {
	struct server server;
	enum way way;
	struct replay_wires wires;
	uint64_t base; /* ns, of the capture's first packet */
	uint64_t now; /* ns since then */
	unsigned waiting; /* packets put on the wire at this time */
	uint64_t steps; /* times that the workers had rounds until nothing moved */
};

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "service group, YAML", 0},
	{"network-in", 'i', "PCAP", 0, "what arrives at the network port", 0},
	{"rphy-out", 'o', "PCAP", 0, "where to write what leaves the R-PHY port", 0},
	{"rphy-in", 'I', "PCAP", 0, "what arrives at the R-PHY port: the upstream", 0},
	{"network-out", 'O', "PCAP", 0, "where to write what leaves the network port", 0},
	{"control-out", 'm', "PCAP", 0, "upstream: where to write modems' management messages", 0},
	{"flows", 'f', NULL, 0,
	 "tell of every downstream service flow in the counters, not only of those with drops", 0},
	{"stats", 's', "FILE", 0, "write all counters as JSON, - for stdout", 0},
	{0},
};

static error_t option(int key, char *value, struct argp_state *state) {
	struct replay_options *o = state->input;

	switch (key) {
	case 'c': o->config = value; return 0;
	case 'i': o->in[DOWN] = value; return 0;
	case 'o': o->out[DOWN] = value; return 0;
	case 'I': o->in[UP] = value; return 0;
	case 'O': o->out[UP] = value; return 0;
	case 'm': o->control_out = value; return 0;
	case 's': o->stats = value; return 0;
	case 'f': o->flows = true; return 0;
	case ARGP_KEY_END:
		o->way = o->in[UP] != NULL ? UP : DOWN;
		if (o->in[o->way] == NULL || o->out[o->way] == NULL || o->in[!o->way] != NULL ||
		    o->out[!o->way] != NULL || (o->way == DOWN && o->control_out != NULL))
			argp_error(state, "--network-in and --rphy-out are needed, or --rphy-in "
					  "and --network-out, with --control-out if you like");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static bool in_crypto(const struct server *s) {
	for (unsigned g = 0; g < s->group_count; g++) {
		const struct served_group *group = &s->groups[g];

		if (!group->there)
			continue;
		if (group->downstream->lower.in_crypto > 0 ||
		    (group->upstream != NULL && upstream_busy(group->upstream)))
			return true;
	}
	return false;
}

/* Runs the workers at the present time until nothing moves and the crypto device is empty. */
static void settle(struct replay *r) {
	struct server *s = &r->server;
	unsigned moved;

	do {
		moved = 0;
		for (unsigned w = 0; w < s->worker_count; w++) {
			s->workers[w].clock.now = r->now;
			moved += worker_round(&s->workers[w]);
		}
		replay_wires_record(&r->wires, r->base + r->now);
	} while (moved > 0 || in_crypto(s));
	r->waiting = 0;
	r->steps++;
}

static void advance(struct replay *r, uint64_t to) {
	uint64_t next;

	if (to <= r->now) /* captures may go back in time; the clock does not */
		return;
	settle(r);
	while ((next = replay_next(&r->server, r->now, to)) < to) {
		r->now = next;
		settle(r);
	}
	r->now = to;
}

/* Puts a packet on the wire; those of one time go in as a burst. */
static int inject(struct replay *r, const struct capture_packet *p) {
	bool up = r->way == UP;
	struct rte_mempool *pool = up ? r->server.pools.uepi : r->server.pools.packets;

	if (replay_wires_send(&r->wires, up ? REPLAY_RPHY : REPLAY_NETWORK, pool, p) != 0) {
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

	while (!process_stopped && (ret = capture_next(in, name, &p)) == 1) {
		if (first)
			r->base = p.time;
		first = false;
		advance(r, p.time > r->base ? p.time - r->base : 0);
		if (inject(r, &p) != 0)
			return -1;
	}
	if (process_stopped)
		fprintf(stderr, "replay: stopped by a signal; what came before was replayed\n");
	return process_stopped ? -1 : ret;
}

/* What is held after the last packet comes out in its own time. */
static void play_out(struct replay *r) {
	advance(r, r->now + END_NS);
	server_stop(&r->server);
}

static int write_stats(const struct replay *r, const char *path) {
	json_t *json = report_json(&r->server, NULL, 0);
	int ret;

	json_object_set_new(json, "steps", json_integer((json_int_t)r->steps));
	ret = report_write(json, path);
	json_decref(json);
	return ret;
}

/* From the first packet to the last, and the results. */
static int replay(struct replay *r, pcap_t *in, const struct replay_options *o) {
	int ret = play(r, in, o->in[o->way]) == 0 ? 0 : EXIT_TROUBLE;
	double seconds = (double)r->now / CLOCK_NS_PER_S;
	bool taken = report_is_stdout(o->stats) || report_is_stdout(o->out[o->way]) ||
		     report_is_stdout(o->control_out);

	play_out(r);
	if (o->stats != NULL && write_stats(r, o->stats) != 0)
		ret = EXIT_TROUBLE;
	report_print(taken ? stderr : stdout, &r->server, NULL, seconds);
	return server_balanced(&r->server) ? ret : EXIT_TROUBLE;
}

/* No output may go over an input or another output. */
static bool outputs_free(const struct replay_options *o) {
	const char *const outputs[] = {o->out[o->way], o->control_out, o->stats};
	const char *const inputs[] = {o->config, o->in[o->way]};

	for (size_t i = 0; i < RTE_DIM(outputs); i++) {
		if (outputs[i] == NULL)
			continue;
		for (size_t j = 0; j < RTE_DIM(inputs); j++) {
			if (capture_same(outputs[i], inputs[j])) {
				fprintf(stderr,
					"%s: is an input too; choose another file for the output\n",
					outputs[i]);
				return false;
			}
		}
		for (size_t j = 0; j < i; j++) {
			if (outputs[j] != NULL && strcmp(outputs[i], outputs[j]) == 0) {
				fprintf(stderr,
					"%s: found for two outputs; choose another file for one\n",
					outputs[i]);
				return false;
			}
		}
	}
	return true;
}

/* On an EAL that runs. */
static int replay_files(struct replay *r, const struct replay_options *o,
			const struct server_config *config) {
	pcap_t *in = capture_open(o->in[o->way]);
	int ret = EXIT_TROUBLE;

	if (in == NULL)
		return EXIT_MISTAKE;
	r->way = o->way;
	r->wires.out[o->way == DOWN ? REPLAY_RPHY : REPLAY_NETWORK] = o->out[o->way];
	r->wires.out[REPLAY_CONTROL] = o->control_out;
	if (replay_wires_create(&r->wires) != 0) {
		ret = EXIT_MISTAKE;
	} else if (replay_wires_open(&r->wires, &r->server, config) == 0) {
		server_account(&r->server, false);
		r->server.report_flows = o->flows;
		ret = replay(r, in, o);
		replay_wires_close(&r->wires);
	}
	pcap_close(in);
	return replay_wires_finish(&r->wires) == 0 ? ret : EXIT_TROUBLE;
}

/* Whether there is something to replay through. */
static bool way_there(const struct replay_options *o, const struct server_config *config) {
	if (o->way == DOWN)
		return true;
	for (size_t g = 0; g < config->group_count; g++) {
		if (config->groups[g].upstream_channel_count > 0)
			return true;
	}
	fprintf(stderr, "%s: has no upstream_channels; --rphy-in needs them\n", o->config);
	return false;
}

/* Starts EAL, and ends it. Returns the exit status. */
static int replay_config(const struct replay_options *o, const struct server_config *config) {
	struct platform_options p = {
		.program = "vcmtsd",
		.main_core = PLATFORM_ANY_CORE,
		.memory_mb = server_memory_mb(config, NULL),
		.offline = true,
	};
	struct replay *r = calloc(1, sizeof(*r));
	int status = EXIT_TROUBLE;

	if (r == NULL) {
		fprintf(stderr, "replay: no memory\n");
	} else if (platform_start(&p) == 0) {
		status = replay_files(r, o, config);
		server_free(&r->server);
		platform_stop();
	}
	free(r);
	return status;
}

/* Captures are of one network port and one R-PHY port, which all groups share. */
static const struct server_devices one_port_each = {.network = "network", .rphy = "rphy"};

int replay_command(int argc, char **argv) {
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Replays a capture through the downstream or the upstream, "
		       "deterministically.",
	};
	struct replay_options o = {0};
	struct server_config config = {0};
	int status = EXIT_MISTAKE;

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (process_load(o.config, &one_port_each, &config) != 0)
		return EXIT_MISTAKE;
	if (outputs_free(&o) && way_there(&o, &config)) {
		process_catch_signals();
		status = replay_config(&o, &config);
	}
	server_config_free(&config);
	return status;
}
