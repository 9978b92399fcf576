/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads requests, runs trials on the traffic's core, writes answers. */
#include "trials/trials.h"

#include <rte_cycles.h>
#include <rte_launch.h>

#include "platform/platform.h"
#include "summary/summary.h"
#include "trials/answer.h"
#include "trials/line_reader.h"

#define POLL_MS 5

static int trial_measure_host(void *host) {
	host_measure(host);
	return 0;
}

static json_t *ready(const struct trials *t) {
	struct host h;

	rte_eal_remote_launch(trial_measure_host, &h, t->lcore);
	rte_eal_wait_lcore(t->lcore);
	return json_pack("{s:b, s:{s:s, s:I, s:I, s:b}, s:s}", "ready", 1, "host", "cpu", h.cpu,
			 "tsc_hz", (json_int_t)h.tsc_hz, "core_hz", (json_int_t)h.core_hz,
			 "huge_pages", platform_has_huge_pages(), "transport", t->transport);
}

static double each(uint64_t sum, uint64_t count) {
	return count > 0 ? (double)sum / (double)count : 0;
}

/* Cycles by kind of work, each divided by the packets of its direction. */
static json_t *trial_cycles_json(const struct traffic *t, uint64_t down, uint64_t up) {
	struct traffic_cycles c;

	traffic_cycles(t, &c);
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "generate", each(c.generate, down),
			 "transmit", each(c.transmit, down), "receive", each(c.receive, down),
			 "decrypt", each(c.decrypt, down), "verify", each(c.verify, down),
			 "upstream_send", each(c.upstream_send, up), "upstream_receive",
			 each(c.upstream_receive, up));
}

/* Counts every packet sent and received as one. */
static json_t *busy_json(const struct trials *t, const struct run *run, uint64_t down,
			 uint64_t up) {
	uint64_t cycles = run->busy_cycles + run->idle_cycles;

	return json_pack("{s:f, s:f, s:o}", "busy_cycles_per_packet",
			 each(run->busy_cycles, down + up), "busy_share",
			 each(run->busy_cycles, cycles), "cycles_per_packet",
			 trial_cycles_json(t->groups->all[0], down, up));
}

static json_t *answer_of(const struct trials *t, const struct trial_request *request,
			 const struct trial *trial) {
	const struct traffic_load *load = &request->load;
	json_t *answer = json_pack("{s:O}", "trial", request->source);
	struct traffic_result down;
	struct uplink_result up;

	traffic_result(t->groups->all[0], &down);
	traffic_uplink_result(t->groups->all[0], &up);
	if (load->downstream)
		json_object_set_new(answer, "downstream", summary_downstream(&down));
	if (load->upstream)
		json_object_set_new(answer, "upstream", summary_upstream(&up));
	json_object_set_new(answer, "traffic", busy_json(t, &trial->run, down.sent, up.sent));
	if (t->ended != NULL)
		t->ended(t->data_plane, answer);
	return answer;
}

static void trial_run(const struct trials *t, struct trial *trial) {
	rte_eal_remote_launch(run_trial, trial, t->lcore);
	while (!__atomic_load_n(&trial->run.done, __ATOMIC_ACQUIRE)) {
		rte_delay_us_sleep(POLL_MS * 1000);
		__atomic_store_n(&trial->run.stop, (unsigned)*t->interrupted, __ATOMIC_RELAXED);
	}
	rte_eal_wait_lcore(t->lcore);
}

static json_t *try(const struct trials *t, const struct trial_request *request) {
	struct trial trial = {
		.run = {.groups = t->groups, .duration_ns = request->duration_ns},
		.load = request->load,
		.begins = t->begins,
		.data_plane = t->data_plane,
	};

	trial_run(t, &trial);
	if (*t->interrupted > 0)
		return answer_refusal("a signal ended the trial");
	if (!trial.settled)
		return answer_refusal(
			"packets of an earlier trial are still pending at the R-PHY port; is the "
			"data plane running?");
	if (!trial.begun)
		return answer_refusal("mix, upstream_mix: no modem can have packets of such a "
				      "size; needed: 64 bytes "
				      "and more for IPv4, 84 and more for IPv6");
	return answer_of(t, request, &trial);
}

static json_t *trial_answer(void *context, const char *line, size_t size) {
	const struct trials *t = context;
	struct trial_request request;
	char error[TRIAL_ERROR];
	json_t *answer;

	if (trial_request_read(line, size, &t->limits, &request, error) != 0)
		return answer_refusal(error);
	answer = try(t, &request);
	json_decref(request.source);
	return answer;
}

int trials_serve(const struct trials *t, int in, FILE *out) {
	static struct line_reader reader;
	struct trials context = *t;

	line_reader_init(&reader, in, t->interrupted);
	return answers_serve(&reader, ready(t), trial_answer, &context, out);
}
