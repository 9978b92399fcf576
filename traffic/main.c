/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-traffic: start, run on one polling thread, report. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "core/generator.h"
#include "ends.h"
#include "model/loader.h"
#include "options.h"
#include "platform/platform.h"
#include "platform/port.h"
#include "run.h"
#include "summary.h"
#include "trials/trials.h"

#define MEMIF_BUFFER 2048ul /* without bsize= */
#define LINK_TIMEOUT_MS 300000 /* vcmtsd's tables of 30,000 modems take a minute */
#define LINK_STEP_MS 100

enum exit_status {
	EXIT_PROVEN = 0,
	EXIT_NOT_PROVEN = 1,
	EXIT_MISTAKE = 2,
};

static volatile sig_atomic_t interrupted;

static void main_on_signal(int number) {
	(void)number;
	interrupted = interrupted + 1;
}

struct setup {
	struct options options;
	struct mix mix;
	struct capture_replay replay; /* where it was asked for */
	struct mix upstream_mix;
	struct service_group sg;
	struct ends ends;
};

/*
 * DPDK's memif driver breaks frames that do not fit one of the buffers that the client's side makes
 * (seen with 22.11: old frames come again and again).
 */
static bool memif_buffer_fits(const char *device, const char *option, const char *frame,
			      unsigned long needed) {
	const char *size = strstr(device, "bsize=");

	if (strncmp(device, "net_memif", 9) != 0 ||
	    (size == NULL ? MEMIF_BUFFER : strtoul(size + 6, NULL, 10)) >= needed)
		return true;
	fprintf(stderr,
		"vcmts-traffic: --%s: found memif buffers smaller than %s, allowed: bsize=%lu and "
		"more\n",
		option, frame, needed);
	return false;
}

static bool memif_buffers_fit(const struct setup *s) {
	const struct options *o = &s->options;

	/* What comes in there has any size; what goes out is the mix's. */
	if (o->upstream && !memif_buffer_fits(o->network, "network", "a frame of max_frame",
					      s->sg.max_frame - RTE_ETHER_CRC_LEN))
		return false;
	return memif_buffer_fits(o->rphy, "rphy", "a DEPI frame of the MTU",
				 RTE_ETHER_HDR_LEN + s->sg.rphy.mtu);
}

static bool mix_configure(const struct setup *s, const char *option, const char *text,
			  struct mix *out) {
	char error[MIX_ERROR];

	if (mix_parse(text, s->sg.max_frame - RTE_ETHER_CRC_LEN, out, error, sizeof(error)) == 0)
		return true;
	fprintf(stderr, "vcmts-traffic: --%s: %s\n", option, error);
	return false;
}

/* With trials, the upstream is there where it can be. */
static bool has_upstream(const struct setup *s) {
	const char *missing = "upstream channels";

	if (s->sg.upstream_channel_count > 0) {
		missing = "modems with upstream service flows";
		for (size_t m = 0; m < s->sg.modem_count; m++) {
			if (s->sg.modems[m].upstream_flow_count > 0)
				return true;
		}
	}
	if (!s->options.trials)
		fprintf(stderr, "vcmts-traffic: --upstream-rate: %s: found no %s\n",
			s->options.config, missing);
	return false;
}

static bool replay_configure(struct setup *s) {
	const char *name = s->options.replay;

	if (capture_replay_load(&s->replay, name, &s->sg) != 0)
		return false;
	if (!s->options.check)
		capture_replay_describe(&s->replay, name, stderr);
	return true;
}

/* What would be found when traffic begins is to be told before anything else is started. */
static bool flows_fit(const struct setup *s) {
	struct generator_options options = {
		.mix = &s->mix,
		.permit_permille = s->options.permit_permille,
		.classify_permille = s->options.classify_permille,
		.seed = s->options.seed,
		.flows = s->options.flows,
	};

	return s->options.flows == 0 || s->options.no_downstream ||
	       generator_flows_check(&s->sg, &options);
}

/* What the requests will tell is not known yet. */
static bool configure_trials(struct setup *s) {
	struct options *o = &s->options;

	o->upstream = has_upstream(s);
	o->upstream_rate = 0;
	if (o->no_downstream && !o->upstream) {
		fprintf(stderr, "vcmts-traffic: --no-downstream: %s: there is no upstream either\n",
			o->config);
		return false;
	}
	return mix_configure(s, "mix", o->mix, &s->mix) &&
	       mix_configure(s, "upstream-mix", o->upstream_mix, &s->upstream_mix) &&
	       memif_buffers_fit(s);
}

static bool two_devices(const struct options *o) {
	if (!port_same_device(o->network, o->rphy))
		return true;
	fprintf(stderr, "vcmts-traffic: found one device, %.*s, for two ports, allowed: one each\n",
		(int)strcspn(o->rphy, ","), o->rphy);
	return false;
}

/* Everything that can be wrong with arguments and configuration, before anything is started. */
static bool main_configure(struct setup *s) {
	const struct options *o = &s->options;

	if (!two_devices(o) || service_group_load(o->config, &s->sg, stderr) != 0)
		return false;
	if (o->trials)
		return configure_trials(s);
	if (!o->no_downstream && !mix_configure(s, "mix", o->mix, &s->mix))
		return false;
	if (o->replay != NULL && !replay_configure(s))
		return false;
	if (o->upstream && !(has_upstream(s) &&
			     mix_configure(s, "upstream-mix", o->upstream_mix, &s->upstream_mix)))
		return false;
	return memif_buffers_fit(s) && (!o->check || flows_fit(s));
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

static struct traffic *main_create(struct setup *s) {
	struct traffic_options options = {
		.network_port = s->ends.ports[END_NETWORK],
		.rphy_port = s->ends.ports[END_RPHY],
		.crypto = &s->ends.crypto,
		.mix = s->mix,
		.replay = s->options.replay == NULL ? NULL : &s->replay,
		.rate = s->options.rate,
		.shape = &s->options.shape,
		.permit_permille = s->options.permit_permille,
		.classify_permille = s->options.classify_permille,
		.flows = s->options.flows,
		.seed = s->options.seed,
		.no_downstream = s->options.no_downstream,
		.upstream = s->options.upstream,
		.upstream_crypto_queue = ENDS_CRYPTO_QUEUES - 1,
		.upstream_mix = s->upstream_mix,
		.upstream_rate = s->options.upstream_rate,
		.upstream_shape = &s->options.upstream_shape,
		.impair = s->options.impair,
	};

	return traffic_create(&s->sg, &options);
}

static void show_progress(const char *direction, const struct progress *p, bool send_only,
			  uint64_t *sent_before) {
	uint64_t sent = __atomic_load_n(&p->sent_bytes, __ATOMIC_RELAXED);

	fprintf(stderr, "  %s %7.3f Gbps sent", direction, (double)(sent - *sent_before) * 8e-9);
	if (!send_only)
		fprintf(stderr, "  %12lu proven  %lu lost",
			(unsigned long)__atomic_load_n(&p->proven, __ATOMIC_RELAXED),
			(unsigned long)__atomic_load_n(&p->missing, __ATOMIC_RELAXED));
	*sent_before = sent;
}

static void supervise(const struct setup *s, struct run *run) {
	uint64_t second = rte_get_tsc_hz();
	uint64_t next = rte_rdtsc() + second;
	uint64_t down = 0, up = 0;
	unsigned seconds = 0;

	while (!__atomic_load_n(&run->done, __ATOMIC_ACQUIRE)) {
		rte_delay_us_sleep(20000);
		__atomic_store_n(&run->stop, (unsigned)interrupted, __ATOMIC_RELAXED);
		if (rte_rdtsc() < next)
			continue;
		next += second;
		fprintf(stderr, "%4u s", ++seconds);
		if (!s->options.no_downstream)
			show_progress("down", &run->downstream, run->send_only, &down);
		if (s->options.upstream)
			show_progress("up", &run->upstream, run->send_only, &up);
		fputc('\n', stderr);
	}
}

static enum exit_status main_report(const struct setup *s, const struct traffic *t) {
	struct traffic_result down;
	struct uplink_result up;
	struct summary summary = {
		.downstream = s->options.no_downstream ? NULL : &down,
		.upstream = s->options.upstream ? &up : NULL,
		.send_only = s->options.send_only,
	};

	traffic_result(t, &down);
	traffic_uplink_result(t, &up);
	summary_table(stdout, &summary);
	if (s->options.json != NULL && summary_write(s->options.json, &summary) != 0)
		return EXIT_MISTAKE;
	if (summary.send_only)
		return traffic_all_sent(t) ? EXIT_PROVEN : EXIT_NOT_PROVEN;
	if (summary.downstream != NULL && !traffic_result_good(&down))
		return EXIT_NOT_PROVEN;
	if (summary.upstream != NULL && !uplink_result_good(&up))
		return EXIT_NOT_PROVEN;
	return EXIT_PROVEN;
}

static enum exit_status trials(const struct setup *s, struct traffic *traffic) {
	struct trials t = {
		.traffic = traffic,
		.limits = {&s->sg, !s->options.no_downstream, s->options.upstream},
		.lcore = 1,
		.transport = "ports",
		.interrupted = &interrupted,
	};

	return trials_serve(&t, STDIN_FILENO, stdout) == 0 ? EXIT_PROVEN : EXIT_MISTAKE;
}

static enum exit_status run_once(const struct setup *s, struct run *run) {
	rte_eal_remote_launch(run_traffic, run, 1);
	supervise(s, run);
	rte_eal_wait_lcore(1);
	return main_report(s, run->traffic);
}

static enum exit_status drive(struct setup *s) {
	enum exit_status status = EXIT_NOT_PROVEN;
	struct run run = {
		.duration_ns = s->options.duration,
		.send_only = s->options.send_only,
	};

	run.traffic = main_create(s);
	if (run.traffic == NULL)
		return EXIT_MISTAKE;
	if (wait_link(s->ends.ports[END_NETWORK], s->options.network) &&
	    wait_link(s->ends.ports[END_RPHY], s->options.rphy)) {
		status = s->options.trials ? trials(s, run.traffic) : run_once(s, &run);
	}
	ends_close_ports(&s->ends);
	traffic_free(run.traffic);
	return status;
}

int main(int argc, char **argv) {
	static struct setup s;
	struct sigaction action = {.sa_handler = main_on_signal};
	enum exit_status status = EXIT_MISTAKE;

	options_parse(&s.options, argc, argv);
	if (!main_configure(&s))
		return EXIT_MISTAKE;
	if (s.options.check) {
		capture_replay_free(&s.replay);
		service_group_free(&s.sg);
		return 0;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (ends_start(&s.options, &s.sg)) {
		if (ends_open(&s.ends, &s.options, &s.sg))
			status = drive(&s);
		ends_close(&s.ends);
		platform_stop();
	}
	capture_replay_free(&s.replay);
	service_group_free(&s.sg);
	return status;
}
