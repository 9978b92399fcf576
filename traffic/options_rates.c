/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes upstream rate and shapes after all options are parsed. */
#include "options_rates.h"

#include <stdio.h>
#include <string.h>

#include "core/pacing.h"
#include "core/shape_values.h"

#define MAX_SHARE 10.0

static bool rates_complain(char *error, const char *text) {
	snprintf(error, OPTIONS_RATES_ERROR, "%s", text);
	return false;
}

bool options_share(const char *text, double *share) {
	return shape_share(text, share) && *share <= MAX_SHARE;
}

static bool share_parse(struct options *o, char *error) {
	double rate = (double)o->rate * o->upstream_share;

	if (o->upstream_share < 0)
		return true;
	if (o->upstream_rate_given)
		return rates_complain(error, "--upstream-share: not allowed with --upstream-rate");
	if (o->no_downstream)
		return rates_complain(error,
				      "--upstream-share: not allowed with --no-downstream; use "
				      "--upstream-rate");
	if (o->rate == 0)
		return rates_complain(error,
				      "--upstream-share: not allowed with --rate max; give a rate, "
				      "or use --upstream-rate");
	if (rate > PACING_RATE_MAX)
		return rates_complain(error, "--upstream-share: more than 1 Tbps upstream");
	o->upstream = rate >= 1;
	o->upstream_rate = (uint64_t)(rate + 0.5);
	return o->upstream || o->upstream_share == 0 ||
	       rates_complain(error, "--upstream-share: less than 1 bps upstream");
}

static bool shape_parse(const struct options *o, const char *option, const char *text,
			uint64_t rate, struct shape *out, char *error) {
	char wrong[SHAPE_ERROR];
	const char *rate_option = o->no_downstream || strcmp(option, "upstream-shape") == 0
					  ? "upstream-rate"
					  : "rate";

	if (rate == 0 && strcmp(text, "constant") != 0) {
		snprintf(error, OPTIONS_RATES_ERROR, "--%s: not allowed with --%s max; give a rate",
			 option, rate_option);
		return false;
	}
	if (shape_read(out, text, rate, (double)o->duration * 1e-9, wrong))
		return true;
	snprintf(error, OPTIONS_RATES_ERROR, "--%s: %s", option, wrong);
	return false;
}

bool options_rates(struct options *o, char *error) {
	uint64_t rate;

	if (!share_parse(o, error))
		return false;
	rate = o->no_downstream ? o->upstream_rate : o->rate;
	if (o->shape_text != NULL &&
	    !shape_parse(o, "shape", o->shape_text, rate, &o->shape, error))
		return false;
	o->upstream_shape = o->shape;
	if (o->upstream_shape_text == NULL)
		return o->shape.count == 0 || !o->upstream || o->upstream_rate > 0 ||
		       rates_complain(error,
				      "--shape: not allowed with --upstream-rate max; give a rate, "
				      "or --upstream-shape constant");
	if (!o->upstream)
		return rates_complain(error, "--upstream-shape: nothing is sent upstream without "
					     "--upstream-rate or --upstream-share");
	return shape_parse(o, "upstream-shape", o->upstream_shape_text, o->upstream_rate,
			   &o->upstream_shape, error);
}
