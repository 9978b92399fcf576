/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses a request: one function per key, and rules between keys. */
#include "trials/trial_request.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_ether.h>

#include "core/pacing.h"
#include "core/shape_read.h"
#include "platform/secret/secret_json.h"
#include "trials/answer.h"

#define SECONDS_MIN 0.001
#define SECONDS_MAX 86400.0
#define RATE_MIN 1e3
#define PROVE_MAX 1024
#define NS 1e9

struct reader {
	const struct trial_limits *limits;
	struct trial_request *out;
	const char *shape; /* as in the request; NULL: constant */
	char *error;
};

static __attribute__((format(printf, 2, 3))) bool refuse(struct reader *r, const char *format,
							 ...) {
	va_list list;

	va_start(list, format);
	vsnprintf(r->error, TRIAL_ERROR, format, list);
	va_end(list);
	return false;
}

/* Rejects a value; the message shows it if it is short. */
static bool refuse_value(struct reader *r, const char *key, const json_t *value,
			 const char *allowed) {
	char found[64] = "another type";
	size_t size = json_dumpb(value, found, sizeof(found) - 1, JSON_ENCODE_ANY | JSON_COMPACT);

	if (size < sizeof(found) - 1)
		found[size] = '\0';
	else
		snprintf(found, sizeof(found), "a value too long to show");
	return refuse(r, "%s: found %s, allowed: %s", key, found, allowed);
}

static bool read_seconds(struct reader *r, const char *key, const json_t *value) {
	double seconds = json_number_value(value);

	if (!json_is_number(value) || !(seconds >= SECONDS_MIN && seconds <= SECONDS_MAX))
		return refuse_value(r, key, value, "a number from 0.001 to 86400");
	r->out->duration_ns = (uint64_t)(seconds * NS);
	return true;
}

/* `on` gets whether anything is sent. */
static bool read_rate(struct reader *r, const char *key, const json_t *value, bool *on,
		      uint64_t *rate) {
	double bits = json_number_value(value);

	*on = true;
	*rate = 0;
	if (json_is_string(value) && strcmp(json_string_value(value), "max") == 0)
		return true;
	if (!json_is_number(value) || !(bits == 0 || (bits >= RATE_MIN && bits <= PACING_RATE_MAX)))
		return refuse_value(r, key, value,
				    "0, \"max\", or 1000 to 1000000000000 bits per second");
	*on = bits != 0;
	*rate = (uint64_t)(bits + 0.5);
	return true;
}

static bool read_down_rate(struct reader *r, const char *key, const json_t *value) {
	struct traffic_load *load = &r->out->load;

	if (!read_rate(r, key, value, &load->downstream, &load->rate))
		return false;
	return !load->downstream || r->limits->downstream ||
	       refuse_value(r, key, value, "0: this traffic was started without a downstream");
}

static bool read_up_rate(struct reader *r, const char *key, const json_t *value) {
	struct traffic_load *load = &r->out->load;

	if (!read_rate(r, key, value, &load->upstream, &load->upstream_rate))
		return false;
	return !load->upstream || r->limits->upstream ||
	       refuse_value(r, key, value, "0: the configuration has no modems that send upstream");
}

static bool read_mix(struct reader *r, const char *key, const json_t *value, struct mix *mix) {
	uint32_t largest = r->limits->sg->max_frame - RTE_ETHER_CRC_LEN;
	char error[MIX_ERROR];

	if (!json_is_string(value))
		return refuse_value(r, key, value, "a string, such as \"imix\"");
	return mix_parse(json_string_value(value), largest, mix, error, sizeof(error)) == 0 ||
	       refuse(r, "%s: %s", key, error);
}

static bool read_down_mix(struct reader *r, const char *key, const json_t *value) {
	return read_mix(r, key, value, &r->out->load.mix);
}

static bool read_up_mix(struct reader *r, const char *key, const json_t *value) {
	return read_mix(r, key, value, &r->out->load.upstream_mix);
}

static bool read_latency(struct reader *r, const char *key, const json_t *value) {
	if (!json_is_boolean(value))
		return refuse_value(r, key, value, "true or false");
	r->out->load.no_latency = json_is_false(value);
	return true;
}

/* Parsed after all other keys, as it may contain shares of a rate. */
static bool read_shape(struct reader *r, const char *key, const json_t *value) {
	r->shape = json_string_value(value);
	return r->shape != NULL ||
	       refuse_value(r, key, value, "a string, such as \"bursts:on=5ms,off=5ms\"");
}

static bool read_drop(struct reader *r, const char *key, const json_t *value) {
	if (!json_is_boolean(value))
		return refuse_value(r, key, value, "true or false");
	r->out->load.drop = json_is_true(value);
	return true;
}

/* Accepts only shares close to a fraction 1/n, as every n-th frame is proven. */
static bool read_prove(struct reader *r, const char *key, const json_t *value) {
	double share = json_number_value(value);
	double every = share > 0 ? round(1 / share) : 0;

	if (!json_is_number(value) || !(every >= 1 && every <= PROVE_MAX) ||
	    fabs(share * every - 1) > 1e-3)
		return refuse_value(r, key, value, "1, 1/2, 1/3, .. 1/1024, as a number");
	r->out->load.prove_every = (uint32_t)every;
	return true;
}

static const struct key {
	const char *name;
	bool (*read)(struct reader *r, const char *key, const json_t *value);
} keys[] = {
	{"seconds", read_seconds}, {"rate", read_down_rate},	  {"upstream_rate", read_up_rate},
	{"mix", read_down_mix},	   {"upstream_mix", read_up_mix}, {"latency", read_latency},
	{"prove", read_prove},	   {"shape", read_shape},	  {"drop", read_drop},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static bool read_key(struct reader *r, const char *name, const json_t *value) {
	for (size_t k = 0; k < KEYS; k++) {
		if (strcmp(keys[k].name, name) == 0)
			return keys[k].read(r, name, value);
	}
	return refuse(r,
		      "unknown key \"%.40s\"; allowed: seconds, rate, upstream_rate, mix, "
		      "upstream_mix, latency, prove, shape, drop",
		      name);
}

static bool defaults(struct reader *r) {
	json_t *down = json_string("imix"), *up = json_string("upstream-imix");
	bool good;

	r->out->load.prove_every = 1;
	good = down != NULL && up != NULL && read_down_mix(r, "mix", down) &&
	       read_up_mix(r, "upstream_mix", up);
	json_decref(down);
	json_decref(up);
	return good;
}

/* Parses the shape of both rates. Rates in it become shares of the downstream's rate, or of the
 * upstream's if there is no downstream. */
static bool shape_make(struct reader *r) {
	struct traffic_load *load = &r->out->load;
	uint64_t rate = load->downstream ? load->rate : load->upstream_rate;
	char error[SHAPE_ERROR];

	if (r->shape == NULL)
		return true;
	if (rate == 0 || (load->upstream && load->upstream_rate == 0))
		return refuse(r, "shape: not allowed with the rate \"max\"");
	if (!shape_read(&r->out->shape, r->shape, rate, (double)r->out->duration_ns / NS, error))
		return refuse(r, "shape: %s", error);
	load->shape = &r->out->shape;
	return true;
}

static bool check(struct reader *r) {
	const struct traffic_load *load = &r->out->load;

	if (r->out->duration_ns == 0)
		return refuse(r, "seconds: missing; needed: 0.001 to 86400");
	if (!load->downstream && !load->upstream)
		return refuse(r,
			      "rate, upstream_rate: found 0 and 0, allowed: one of them above 0");
	return shape_make(r);
}

static bool request_read(struct reader *r, json_t *source) {
	const char *name;
	json_t *value;

	if (!json_is_object(source))
		return refuse(r, "not a JSON object such as {\"seconds\": 1, \"rate\": 4e9}");
	if (!defaults(r))
		return false;
	json_object_foreach(source, name, value) {
		if (!read_key(r, name, value))
			return false;
	}
	return check(r);
}

int trial_request_read(const char *line, size_t size, const struct trial_limits *limits,
		       struct trial_request *out, char *error) {
	struct reader r = {.limits = limits, .out = out, .error = error};
	json_error_t wrong;
	json_t *source = secret_json_load(line, size, JSON_REJECT_DUPLICATES, &wrong);

	memset(out, 0, sizeof(*out));
	if (source == NULL) {
		refuse(&r, "not JSON: column %d: %.120s", wrong.column, wrong.text);
	} else if (request_read(&r, source)) {
		out->source = source;
		return 0;
	}
	answer_error_repair(error);
	json_decref(source);
	return -1;
}
