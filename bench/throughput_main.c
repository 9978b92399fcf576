/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-bench-throughput: trials of data plane and traffic in one process, on separate cores. */
#include <argp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "crypto/versions.h"
#include "model/load/loader.h"
#include "platform/platform.h"
#include "program.h"
#include "server/process.h"
#include "throughput.h"
#include "trials/trials.h"

#define ANY_CORE UINT32_MAX

static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
	(void)number;
	interrupted = interrupted + 1;
}

struct throughput_options {
	const char *config;
	unsigned depth; /* 0: the maximum */
	unsigned core; /* of the traffic */
};

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "service group, YAML", 0},
	{"depth", 'd', "PACKETS", 0,
	 "packets per ring between data plane and traffic, a power of two (default and "
	 "maximum: queue_size of the configuration's ports)",
	 0},
	{"core", 'k', "NUMBER", 0,
	 "CPU of the traffic (default: one that the data plane does "
	 "not use)",
	 0},
	{0},
};

static error_t option(int key, char *value, struct argp_state *state) {
	struct throughput_options *o = state->input;

	switch (key) {
	case 'c': o->config = value; return 0;
	case 'd':
		o->depth = program_number(value, 2, UINT16_MAX, state);
		if ((o->depth & (o->depth - 1)) != 0)
			argp_error(state, "--depth: found %s, allowed: a power of two", value);
		return 0;
	case 'k': o->core = program_number(value, 0, UINT16_MAX, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static bool is_listed(const unsigned *cores, unsigned count, unsigned core) {
	for (unsigned i = 0; i < count; i++) {
		if (cores[i] == core)
			return true;
	}
	return false;
}

/*
 * Appends the traffic's core to the workers: the requested one, or the first that the process may use and the
 * data plane does not. Returns false after a message. Every thread polls, so two threads on one core would
 * alternate in time slices of milliseconds.
 */
static bool cores_choose(const struct throughput_options *o, struct platform_options *p) {
	unsigned needed = p->worker_count + 1, found;
	cpu_set_t allowed;

	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	found = (unsigned)CPU_COUNT(&allowed);
	if (found < needed) {
		fprintf(stderr,
			"vcmts-bench-throughput: found %u core%s, needed: %u, of which %u for the "
			"data plane (`threads` of the configuration) and 1 for the traffic; use a "
			"machine with more%s, or vcmts bench pipeline, which needs one\n",
			found, found == 1 ? "" : "s", needed, p->worker_count,
			p->worker_count > 1 ? " or fewer threads" : "");
		return false;
	}
	for (unsigned w = 0; w < p->worker_count; w++) {
		if (p->workers[w] < CPU_SETSIZE && CPU_ISSET(p->workers[w], &allowed))
			continue;
		fprintf(stderr,
			"vcmts-bench-throughput: `threads`: core %u is not one that this process "
			"may use (taskset -p $$ shows them)\n",
			p->workers[w]);
		return false;
	}
	for (unsigned core = 0; core < CPU_SETSIZE; core++) {
		if (CPU_ISSET(core, &allowed) && !is_listed(p->workers, p->worker_count, core) &&
		    (o->core == ANY_CORE || o->core == core)) {
			p->workers[p->worker_count++] = core;
			return true;
		}
	}
	fprintf(stderr,
		"vcmts-bench-throughput: %s; needed: a core that this process may use and "
		"`threads` does not\n",
		o->core == ANY_CORE ? "no core is free for the traffic" : "--core: not free");
	return false;
}

/* Sets the default. Returns false after a message. */
static bool depth_choose(struct throughput_options *o, const struct service_group *sg) {
	unsigned max = throughput_depth_max(sg);

	if (o->depth == 0)
		o->depth = max;
	if (o->depth <= max)
		return true;
	fprintf(stderr,
		"--depth: found %u, allowed: up to %u, the queue_size of the configuration's "
		"ports\n",
		o->depth, max);
	return false;
}

/* Whether any modem can send. */
static bool sends_upstream(const struct service_group *sg) {
	for (size_t m = 0; m < sg->modem_count; m++) {
		if (sg->upstream_channel_count > 0 && sg->modems[m].address_count > 0 &&
		    sg->modems[m].upstream_flow_count > 0)
			return true;
	}
	return false;
}

/* Answers trials on stdout until stdin ends. Returns 0, or -1 after a message. */
static int serve(struct throughput *t, const struct throughput_options *o,
		 const struct service_group *sg, unsigned lcore) {
	bool upstream = sends_upstream(sg);
	struct trials trials = {
		.limits = {sg, true, upstream},
		.lcore = lcore,
		.transport = "rings",
		.interrupted = &interrupted,
		.begins = throughput_trial_begins,
		.ended = throughput_trial_ended,
		.data_plane = t,
	};
	struct groups groups;
	int ret;

	if (throughput_create(t, sg, o->depth, upstream) != 0)
		return -1;
	groups_of_one(&groups, t->traffic);
	trials.groups = &groups;
	ret = trials_serve(&trials, STDIN_FILENO, stdout);
	return throughput_stop(t) != 0 ? -1 : ret;
}

/* Returns the exit status. */
static int bench(const struct throughput_options *o, const struct service_group *sg) {
	struct platform_options p = {
		.program = "vcmts-bench-throughput",
		.main_core = PLATFORM_ONE_CORE,
		.memory_mb = throughput_memory_mb(sg),
	};
	static struct layout layout;
	struct single_group lone;
	struct throughput *t;
	int ret = -1;

	if (layout_make(&layout, single_group_config(&lone, sg)) != 0)
		return EXIT_USAGE;
	p.worker_count = layout.worker_count;
	memcpy(p.workers, layout.cores, sizeof(p.workers));
	if (!cores_choose(o, &p))
		return EXIT_USAGE;
	t = throughput_alloc();
	if (t != NULL && platform_start(&p) == 0) {
		ret = serve(t, o, sg, p.worker_count);
		throughput_free(t);
		platform_stop();
	}
	free(t);
	return ret == 0 ? 0 : EXIT_FAILED;
}

int main(int argc, char **argv) {
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Runs trials of a data plane and its traffic, connected by rings in "
		       "memory. Reads requests as lines of JSON from stdin and answers each "
		       "by a line on stdout (docs/results.md).",
	};
	struct throughput_options o = {.core = ANY_CORE};
	struct sigaction action = {.sa_handler = on_signal};
	struct service_group sg = {0};
	int status;

	versions_parse(&argp, argc, argv, &o);
	if (o.config == NULL) {
		fprintf(stderr, "--config: a file is needed\n");
		return EXIT_USAGE;
	}
	if (service_group_load(o.config, &sg, stderr) != 0)
		return EXIT_USAGE;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	status = depth_choose(&o, &sg) ? bench(&o, &sg) : EXIT_USAGE;
	service_group_free(&sg);
	return status;
}
