/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-traffic: start, run on one polling thread, report. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "generator.h"
#include "model/loader.h"
#include "options.h"
#include "platform/platform.h"
#include "platform/pool.h"
#include "platform/port.h"
#include "run.h"
#include "summary.h"

#define RECEIVE_BUFFERS 16383
#define POOL_CACHE 256
#define QUEUE_SIZE 4096
#define CRYPTO_OPS 2048
#define MEMORY_MB 384
#define MEMIF_BUFFER 2048ul /* without bsize= */
#define LINK_TIMEOUT_MS 300000 /* vcmtsd's tables of 30,000 modems take a minute */
#define LINK_STEP_MS 100

enum exit_status {
	EXIT_PROVEN = 0,
	EXIT_NOT_PROVEN = 1,
	EXIT_MISTAKE = 2,
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
	(void)number;
	interrupted = 1;
}

struct setup {
	struct options options;
	struct mix mix;
	struct service_group sg;
	struct docsis_crypto crypto;
	struct rte_mempool *receive_pool;
	uint16_t network_port;
	uint16_t rphy_port;
};

/*
 * DPDK's memif driver breaks frames that do not fit one of the buffers that the client's side makes
 * (seen with 22.11: old frames come again and again).
 */
static bool memif_buffer_fits(const struct setup *s) {
	const char *size = strstr(s->options.rphy, "bsize=");
	unsigned long needed = RTE_ETHER_HDR_LEN + s->sg.rphy.mtu;

	if (strncmp(s->options.rphy, "net_memif", 9) != 0 ||
	    (size == NULL ? MEMIF_BUFFER : strtoul(size + 6, NULL, 10)) >= needed)
		return true;
	fprintf(stderr,
		"vcmts-traffic: --rphy: found memif buffers smaller than a DEPI frame of "
		"the MTU, allowed: bsize=%lu and more\n",
		needed);
	return false;
}

/* Everything that can be wrong with arguments and configuration, before anything is started. */
static bool configure(struct setup *s) {
	char error[160];

	if (service_group_load(s->options.config, &s->sg, stderr) != 0)
		return false;
	if (mix_parse(s->options.mix, s->sg.max_frame - 4, &s->mix, error, sizeof(error)) != 0) {
		fprintf(stderr, "vcmts-traffic: --mix: %s\n", error);
		return false;
	}
	return memif_buffer_fits(s);
}

static bool start_platform(struct setup *s) {
	struct platform_options platform = {
		.program = "vcmts-traffic",
		.main_core = s->options.main_core,
		.workers = {s->options.core},
		.worker_count = 1,
		.devices = {s->options.network, s->options.rphy},
		.device_count = 2,
		.memory_mb = MEMORY_MB + (unsigned)s->sg.modem_count / 256,
	};
	uint32_t network_mtu = s->sg.max_frame - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN;
	unsigned sessions = (unsigned)s->sg.modem_count + 1;

	if (platform_start(&platform) != 0)
		return false;
	s->receive_pool =
		packet_pool("traffic_receive", RECEIVE_BUFFERS, 0, RTE_MBUF_DEFAULT_BUF_SIZE);
	if (s->receive_pool == NULL)
		return false;
	return port_open(s->options.network, "network", s->receive_pool, QUEUE_SIZE, network_mtu,
			 &s->network_port) == 0 &&
	       port_open(s->options.rphy, "rphy", s->receive_pool, QUEUE_SIZE, s->sg.rphy.mtu,
			 &s->rphy_port) == 0 &&
	       crypto_open(&s->crypto, "traffic", 1, sessions, CRYPTO_OPS) == 0 &&
	       port_start(s->network_port, "network") == 0 && port_start(s->rphy_port, "rphy") == 0;
}

static bool wait_link(uint16_t port, const char *device) {
	for (unsigned waited = 0; waited < LINK_TIMEOUT_MS && !interrupted;
	     waited += LINK_STEP_MS) {
		if (port_wait_link(port, LINK_STEP_MS))
			return true;
	}
	if (!interrupted)
		fprintf(stderr,
			"vcmts-traffic: %s: no link after %d s; is the other end running?\n",
			device, LINK_TIMEOUT_MS / 1000);
	return false;
}

static struct traffic *create(struct setup *s) {
	struct traffic_options options = {
		.network_port = s->network_port,
		.rphy_port = s->rphy_port,
		.crypto = &s->crypto,
		.mix = s->mix,
		.rate = s->options.rate,
		.permit_permille = s->options.permit_permille,
		.classify_permille = s->options.classify_permille,
		.seed = s->options.seed,
	};

	return traffic_create(&s->sg, &options);
}

static void show_progress(struct run *run, unsigned second, uint64_t *sent_before) {
	uint64_t sent = __atomic_load_n(&run->progress.sent_bytes, __ATOMIC_RELAXED);

	fprintf(stderr, "%4u s  %7.3f Gbps sent  %12lu proven  %lu lost\n", second,
		(double)(sent - *sent_before) * 8e-9,
		(unsigned long)__atomic_load_n(&run->progress.proven, __ATOMIC_RELAXED),
		(unsigned long)__atomic_load_n(&run->progress.missing, __ATOMIC_RELAXED));
	*sent_before = sent;
}

static void supervise(struct run *run) {
	uint64_t second = rte_get_tsc_hz();
	uint64_t next = rte_rdtsc() + second;
	uint64_t sent_before = 0;
	unsigned seconds = 0;

	while (!__atomic_load_n(&run->done, __ATOMIC_ACQUIRE)) {
		rte_delay_us_sleep(20000);
		if (interrupted)
			__atomic_store_n(&run->stop, true, __ATOMIC_RELAXED);
		if (rte_rdtsc() < next)
			continue;
		next += second;
		show_progress(run, ++seconds, &sent_before);
	}
}

static enum exit_status report(const struct setup *s, const struct traffic *t) {
	struct traffic_result result;

	traffic_result(t, &result);
	summary_table(stdout, &result);
	if (s->options.json != NULL && summary_write(s->options.json, &result) != 0)
		return EXIT_MISTAKE;
	return traffic_result_good(&result) ? EXIT_PROVEN : EXIT_NOT_PROVEN;
}

static enum exit_status drive(struct setup *s) {
	enum exit_status status = EXIT_NOT_PROVEN;
	struct run run = {.duration_ns = s->options.duration};

	run.traffic = create(s);
	if (run.traffic == NULL)
		return EXIT_MISTAKE;
	if (wait_link(s->network_port, s->options.network) &&
	    wait_link(s->rphy_port, s->options.rphy)) {
		rte_eal_remote_launch(run_traffic, &run, 1);
		supervise(&run);
		rte_eal_wait_lcore(1);
		status = report(s, run.traffic);
	}
	traffic_free(run.traffic);
	return status;
}

int main(int argc, char **argv) {
	static struct setup s;
	struct sigaction action = {.sa_handler = on_signal};
	enum exit_status status;

	options_parse(&s.options, argc, argv);
	if (!configure(&s))
		return EXIT_MISTAKE;
	if (s.options.check) {
		service_group_free(&s.sg);
		return 0;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!start_platform(&s))
		return EXIT_MISTAKE;
	status = drive(&s);
	port_close(s.network_port);
	port_close(s.rphy_port);
	crypto_close(&s.crypto);
	platform_stop();
	service_group_free(&s.sg);
	return status;
}
