/* SPDX-License-Identifier: BSD-3-Clause */
#include "requests.h"

#include <jansson.h>

#include "footprint.h"
#include "options.h"
#include "platform/host.h"
#include "platform/platform.h"
#include "program.h"
#include "results.h"
#include "trials/answer.h"
#include "trials/line_reader.h"

#define ERROR_SIZE (MIX_ERROR + 32) /* a key and the message of its value */
#define BEGIN_MAX 60 /* maximum s that a start may be ahead */

struct request {
	const struct bench_direction *direction;
	const char *name; /* name of the mix, in `source` */
	struct mix mix;
	unsigned milliseconds;
	double begin; /* earliest start by monotonic_seconds(); past: at once */
	json_t *source; /* the whole request, owned; NULL: it is no JSON */
};

/* Each returns false with a line in `error` if the value is invalid. */
static bool direction_read(const struct bench *b, const char *name, struct request *r,
			   char *error) {
	r->direction = bench_direction_named(name);
	if (r->direction == NULL)
		snprintf(error, ERROR_SIZE, "direction: unknown, allowed: downstream, upstream");
	else if (r->direction == &bench_upstream && bench_config(b)->upstream_channel_count == 0)
		snprintf(error, ERROR_SIZE,
			 "direction: the configuration has no upstream channels");
	else if (r->direction == &bench_upstream && b->threads == 2)
		snprintf(error, ERROR_SIZE, "direction: the upstream runs on one thread");
	else
		return true;
	return false;
}

static bool seconds_read(double seconds, struct request *r, char *error) {
	double milliseconds = seconds * 1000;

	if (!(milliseconds >= RUN_MS_MIN && milliseconds <= RUN_MS_MAX)) {
		snprintf(error, ERROR_SIZE, "seconds: found %g, allowed: %g to %g", seconds,
			 RUN_MS_MIN / 1e3, RUN_MS_MAX / 1e3);
		return false;
	}
	r->milliseconds = (unsigned)(milliseconds + 0.5);
	return true;
}

static bool mix_read(const struct service_group *sg, struct request *r, char *error) {
	char why[MIX_ERROR];

	if (mix_parse(r->name, sg->max_frame - RTE_ETHER_CRC_LEN, &r->mix, why, sizeof(why)) == 0)
		return true;
	snprintf(error, ERROR_SIZE, "mix: %s", why);
	return false;
}

static bool begin_read(const struct request *r, char *error) {
	if (r->begin - monotonic_seconds() <= BEGIN_MAX)
		return true;
	snprintf(error, ERROR_SIZE, "begin_us: found %.0f s ahead, allowed: up to %d",
		 r->begin - monotonic_seconds(), BEGIN_MAX);
	return false;
}

/* Parses a request. Returns false with one line in `error` (ERROR_SIZE bytes) if it is invalid. The caller
 * frees `source` in either case. */
static bool request_read(const struct bench *b, const char *line, size_t size, struct request *r,
			 char *error) {
	json_error_t wrong;
	const char *direction;
	json_int_t begin_us = 0;
	double seconds;

	r->source = json_loadb(line, size, JSON_REJECT_DUPLICATES, &wrong);
	if (r->source != NULL &&
	    json_unpack_ex(r->source, &wrong, JSON_STRICT, "{s:F, s:s, s:s, s?:I}", "seconds",
			   &seconds, "direction", &direction, "mix", &r->name, "begin_us",
			   &begin_us) == 0) {
		r->begin = (double)begin_us / 1e6;
		return begin_read(r, error) && seconds_read(seconds, r, error) &&
		       direction_read(b, direction, r, error) &&
		       mix_read(bench_config(b), r, error);
	}
	snprintf(error, ERROR_SIZE, "no request: %.*s", MIX_ERROR, wrong.text);
	return false;
}

/* Includes the core's clock rate, which may differ between runs. */
static json_t *result_answer(struct bench *b, const struct request *r, struct bench_run *run) {
	struct host host;

	host_measure(&host);
	return json_pack("{s:O, s:I, s:I, s:I, s:o}", "trial", r->source, "begin_us",
			 (json_int_t)(run->begin * 1e6), "end_us", (json_int_t)(run->end * 1e6),
			 "core_hz", (json_int_t)host.core_hz, "result",
			 bench_result(b, r->direction, r->name, run, 1, &host));
}

/* Makes the run. Returns its result, or an error if it failed. */
static json_t *run_answer(struct bench *b, const struct request *r, uint64_t seed) {
	struct bench_run run;

	b->begin = r->begin;
	if (bench_run(b, r->direction, &r->mix, r->milliseconds, seed, &run) != 0)
		return answer_refusal("the run failed; stderr has the reason");
	if (program_stopped())
		return answer_refusal("a signal ended the run");
	if (!run.proven)
		return answer_refusal("not every packet was proven");
	if (run.bound < 0)
		return answer_refusal("the crypto bound was not measured");
	if (run.cycles <= 0)
		return answer_refusal("nothing was measured: the run is too short");
	return result_answer(b, r, &run);
}

/* The answer to one line. */
static json_t *answer(struct bench *b, const char *line, size_t size, uint64_t seed) {
	struct request request = {0};
	char error[ERROR_SIZE];
	json_t *said;

	if (request_read(b, line, size, &request, error)) {
		said = run_answer(b, &request, seed);
	} else {
		answer_error_repair(error);
		said = answer_refusal(error);
	}
	json_decref(request.source);
	return said;
}

/* The first line of the output. */
static json_t *ready_line(const struct bench *b) {
	const struct service_group *sg = bench_config(b);
	struct host host;

	host_measure(&host);
	return json_pack("{s:b, s:{s:s, s:I, s:I, s:b}, s:s, s:o, s:o}", "ready", 1, "host", "cpu",
			 host.cpu, "tsc_hz", (json_int_t)host.tsc_hz, "core_hz",
			 (json_int_t)host.core_hz, "huge_pages", platform_has_huge_pages(),
			 "configuration", sg->name, "memory",
			 footprint_memory_json(&b->footprint, sg->modem_count), "start",
			 footprint_start_json(&b->footprint));
}

struct serving {
	struct bench *b;
	uint64_t seed; /* of the traffic of the next request, invalid or not */
};

static json_t *answer_next(void *context, const char *line, size_t size) {
	struct serving *s = context;

	return answer(s->b, line, size, s->seed++);
}

int requests_serve(struct bench *b, int in, FILE *out) {
	static struct line_reader reader;
	struct serving s = {b, 1};

	line_reader_init(&reader, in, program_stop_flag());
	return answers_serve(&reader, ready_line(b), answer_next, &s, out);
}
