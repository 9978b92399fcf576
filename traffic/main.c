/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-traffic: start, run on one polling thread, report. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "crypto/versions.h"
#include "ends.h"
#include "follow/follow.h"
#include "groups/groups.h"
#include "groups/run.h"
#include "groups/totals.h"
#include "options.h"
#include "pipeline/first_number.h"
#include "platform/cpu/cpu_check.h"
#include "platform/log/log.h"
#include "platform/platform.h"
#include "platform/port.h"
#include "platform/secret/secret_process.h"
#include "progress.h"
#include "proof/golden.h"
#include "setup.h"
#include "summary/summary.h"
#include "trials/trials.h"

#define REORDER_EVERY 16 /* the R-PHY device swaps packets with probability 1 in this */
#define LINK_TIMEOUT_MS 300000 /* vcmtsd's tables of 30,000 modems take a minute */
#define LINK_STEP_MS 100
#define FOLLOW_WAIT_MS 5 /* timeout for events of the server */
#define SUPERVISE_MS 20

enum exit_status {
	EXIT_PROVEN = 0,
	EXIT_NOT_PROVEN = 1,
	EXIT_USAGE = 2,
};

static volatile sig_atomic_t interrupted;

static void main_on_signal(int number) {
	(void)number;
	interrupted = interrupted + 1;
}

static bool wait_link(uint16_t port, const char *device) {
	for (unsigned waited = 0; waited < LINK_TIMEOUT_MS && !interrupted;
	     waited += LINK_STEP_MS) {
		if (port_wait_link(port, LINK_STEP_MS))
			return true;
	}
	if (!interrupted)
		fprintf(stderr,
			"vcmts-traffic: %s: no link after %d s; is the other end "
			"running?\n",
			device, LINK_TIMEOUT_MS / 1000);
	return false;
}

static bool links_up(const struct ends *e) {
	for (int end = 0; end < ENDS; end++) {
		for (unsigned i = 0; i < e->at[end].count; i++) {
			if (!wait_link(e->at[end].ports[i], e->at[end].devices[i]))
				return false;
		}
	}
	return true;
}

/* The options of one group. */
static struct traffic_options group_options(const struct setup *s, struct ends *e, unsigned group) {
	const struct group_setup *g = &s->groups[group];

	return (struct traffic_options){
		.network_port = ends_port(e, END_NETWORK, group),
		.rphy_port = ends_port(e, END_RPHY, group),
		.crypto = e->crypto,
		.mix = g->mix,
		.replay = s->options.replay == NULL ? NULL : &g->replay,
		.rate = g->rate,
		.shape = &s->options.shape,
		.permit_permille = s->options.permit_permille,
		.classify_permille = s->options.classify_permille,
		.flows = s->options.flows,
		.refuse_every = s->options.refuse_every,
		.seed = s->options.seed + group,
		.no_downstream = s->options.no_downstream,
		.upstream = g->upstream,
		.upstream_mix = g->upstream_mix,
		.upstream_rate = g->upstream_rate,
		.upstream_shape = &s->options.upstream_shape,
		.impair = s->options.impair,
		.scheduled = s->options.scheduled,
	};
}

/* service groups: the decoder needs a second to read the configuration of each */
#define WITNESSED 2

/* Whether packets of the group are kept. With more than WITNESSED groups, the seed selects some. */
static bool witnessed(const struct setup *s, unsigned group) {
	unsigned count = (unsigned)s->config.group_count;
	unsigned ahead = (group + count - (unsigned)(s->options.seed % count)) % count;

	return s->options.witness != NULL && (count <= WITNESSED || ahead < WITNESSED);
}

/* Divides the requested number of packets among the groups. */
static int witness_begin(const struct setup *s, struct witness_pair pairs[]) {
	unsigned count = (unsigned)s->config.group_count;
	unsigned shared = RTE_MIN(count, (unsigned)WITNESSED);
	uint32_t packets = (s->options.witness_packets + shared - 1) / shared;

	for (unsigned g = 0; g < count; g++) {
		uint32_t size = s->config.groups[g].rphy.mtu + ETHERNET_HEADER;
		uint64_t seed = s->options.seed + g;

		if (!witnessed(s, g))
			continue;
		if (witness_create(&pairs[g].downstream, packets, size, seed) != 0 ||
		    witness_create(&pairs[g].upstream, packets, size, ~seed) != 0) {
			fprintf(stderr, "traffic: no memory for --witness-packets\n");
			return -1;
		}
	}
	return 0;
}

static int witness_end(const struct setup *s, struct witness_pair pairs[]) {
	const struct options *o = &s->options;
	unsigned count = (unsigned)s->config.group_count;
	int written = o->witness == NULL ? 0 : witness_write(pairs, count, o->witness);

	for (unsigned g = 0; g < count; g++) {
		witness_free(&pairs[g].downstream);
		witness_free(&pairs[g].upstream);
	}
	return written;
}

static int main_create(const struct setup *s, struct ends *e, struct groups *groups,
		       struct evidence *evidence, struct witness_pair pairs[]) {
	static struct traffic_options options[SERVER_MAX_GROUPS];
	unsigned count = (unsigned)s->config.group_count;

	for (unsigned g = 0; g < count; g++) {
		options[g] = group_options(s, e, g);
		options[g].evidence = evidence;
		options[g].qos = !s->options.trials;
		/* Like packets to refuse: only if there is a data plane. */
		options[g].reorder_every = options[g].refuse_every == 0 ? 0 : REORDER_EVERY;
		options[g].witness = witnessed(s, g) ? &pairs[g] : NULL;
		if (s->options.follow != NULL)
			follow_options(&options[g], &s->config.groups[g]);
	}
	if (witness_begin(s, pairs) != 0)
		return -1;
	return groups_create(groups, s->config.groups, options, count);
}

/* Runs on the main thread, which polls no packets and prepares changes. */
static void supervise(struct run *run, struct follow *follow) {
	while (!__atomic_load_n(&run->done, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&run->stop, (unsigned)interrupted, __ATOMIC_RELAXED);
		if (follow != NULL)
			follow_step(follow, FOLLOW_WAIT_MS);
		else
			rte_delay_us_sleep(SUPERVISE_MS * 1000);
	}
}

/* A direction that is off has no result. */
static void summary_fill(const struct setup *s, const struct totals *t, struct summary *summary,
			 const struct follow *follow, struct summary_group *groups) {
	bool downstream = !s->options.no_downstream;

	*summary = (struct summary){
		.downstream = downstream ? &t->all_downstream : NULL,
		.upstream = s->options.upstream ? &t->all_upstream : NULL,
		.send_only = s->options.send_only,
		.groups = groups,
		.group_count = t->count,
	};
	for (unsigned g = 0; g < t->count; g++) {
		bool upstream = t->upstream[g].counts.packets > 0 ||
				(g < s->config.group_count && s->groups[g].upstream);

		groups[g] = (struct summary_group){
			.id = follow != NULL ? follow->ids[g] : s->config.groups[g].id,
			.name = follow != NULL ? follow->names[g] : s->config.groups[g].name,
			.downstream = downstream ? &t->downstream[g] : NULL,
			.upstream = upstream ? &t->upstream[g] : NULL,
		};
	}
}

static enum exit_status main_report(const struct setup *s, const struct groups *groups,
				    const struct follow *follow) {
	static struct summary_group reported[SERVER_MAX_GROUPS];
	static struct totals totals;
	struct summary summary;
	bool good;

	totals_create(&totals, groups);
	summary_fill(s, &totals, &summary, follow, reported);
	summary.follow = follow;
	summary.measured = s->options.send_only ? NULL : groups;
	/* stdout has nothing but JSON then */
	summary_table(s->options.json != NULL && strcmp(s->options.json, "-") == 0 ? stderr
										   : stdout,
		      &summary);
	good = s->options.send_only ? groups_all_sent(groups) : totals_good(&totals, groups);
	if (!s->options.send_only)
		summary_verdict(stdout, &summary, good);
	if (s->options.json != NULL && summary_write(s->options.json, &summary) != 0) {
		totals_free(&totals);
		return EXIT_USAGE;
	}
	totals_free(&totals);
	return good ? EXIT_PROVEN : EXIT_NOT_PROVEN;
}

static enum exit_status trials(const struct setup *s, struct groups *groups) {
	struct trials t = {
		.groups = groups,
		.limits = {&s->config.groups[0], !s->options.no_downstream, s->options.upstream},
		.lcore = 1,
		.transport = "ports",
		.interrupted = &interrupted,
	};

	return trials_serve(&t, STDIN_FILENO, stdout) == 0 ? EXIT_PROVEN : EXIT_USAGE;
}

static enum exit_status run_once(const struct setup *s, struct groups *groups) {
	static struct follow following;
	struct follow *follow = s->options.follow == NULL ? NULL : &following;
	enum exit_status status = EXIT_USAGE;
	struct progress_lines progress;
	struct run run = {
		.groups = groups,
		.duration_ns = s->options.duration,
		.send_only = s->options.send_only,
	};

	if (follow == NULL || follow_create(follow, s->options.follow, groups, s->config.groups,
					    rte_get_tsc_hz()) == 0) {
		progress_begin(&progress, &run, !s->options.no_downstream, s->options.upstream);
		rte_eal_remote_launch(run_traffic, &run, 1);
		supervise(&run, follow);
		rte_eal_wait_lcore(1);
		progress_end(&progress);
		status = main_report(s, groups, follow);
	}
	if (follow != NULL)
		follow_free(follow);
	return status;
}

static enum exit_status drive(struct setup *s, struct ends *e) {
	static struct witness_pair pairs[SERVER_MAX_GROUPS];
	static struct groups groups;
	struct evidence *evidence = s->options.unexpected == NULL ? NULL : evidence_create();
	enum exit_status status = EXIT_USAGE;

	if (main_create(s, e, &groups, evidence, pairs) == 0) {
		status = EXIT_NOT_PROVEN;
		if (links_up(e))
			status = s->options.trials ? trials(s, &groups) : run_once(s, &groups);
	}
	if (evidence_count(evidence) > 0 && evidence_write(evidence, s->options.unexpected) != 0)
		status = EXIT_USAGE;
	ends_close_ports(e);
	groups_free(&groups);
	if (witness_end(s, pairs) != 0)
		status = EXIT_USAGE;
	evidence_free(evidence);
	return status;
}

static enum exit_status main_start(struct setup *s, struct ends *e) {
	enum exit_status status = EXIT_USAGE;

	if (!ends_start(e, s))
		return EXIT_USAGE;
	if (ends_open(e, s))
		status = drive(s, e);
	ends_close(e);
	platform_stop();
	return status;
}

/* Checked first: the results of a wrong build are worthless. */
static bool formats_good(void) {
	const char *wrong = golden_first_mismatch();

	if (wrong != NULL)
		fprintf(stderr,
			"vcmts-traffic: this build writes %s in another format than the "
			"specifications, as vcmtsd may, too: a proof would be meaningless\n",
			wrong);
	return wrong == NULL;
}

CPU_CHECK_FIRST

int main(int argc, char **argv) {
	static struct setup s;
	static struct ends ends;
	struct sigaction action = {.sa_handler = main_on_signal};
	enum exit_status status = EXIT_USAGE;

	secret_process_protect();
	options_parse(&s.options, argc, argv);
	first_number_set((uint16_t)s.options.first_number);
	if (!formats_good())
		return EXIT_NOT_PROVEN;
	if (!s.options.check) {
		log_program("vcmts-traffic");
		versions_log();
	}
	if (setup_load(&s) && ends_name(&ends, &s)) {
		sigaction(SIGINT, &action, NULL);
		sigaction(SIGTERM, &action, NULL);
		status = s.options.check ? EXIT_PROVEN : main_start(&s, &ends);
	}
	setup_free(&s);
	return status;
}
