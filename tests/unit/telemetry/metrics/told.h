/* SPDX-License-Identifier: BSD-3-Clause */
/* What a walk over a server's metrics told. */
#pragma once

#include "telemetry/metrics/metrics.h"

#define TOLD_MOST 8000 /* samples: more than there are */
#define TOLD_LABEL 64

/* Of the last walk. */
struct told {
	const struct metric *m;
	char labels[METRIC_LABELS][TOLD_LABEL];
	bool real;
	uint64_t integer;
	double number;
	struct metric_histogram histogram;
};
extern struct told told[TOLD_MOST];
extern unsigned told_count;
extern const struct metric *told_begun[TOLD_MOST];
extern unsigned told_begun_count;

/* Returns whether there was memory for it. */
bool told_walk(struct metrics_source *source, const struct metrics_selection *selection);

/* Whether a label of that name has this value. */
bool told_has(const struct told *t, const char *name, const char *value);

/* How many samples of a metric, any where it is NULL, have these values of labels; NULL: any. */
unsigned told_samples(const char *metric, const char *group, const char *name, const char *value);

/* The only sample of a metric with these values of its labels, in their order; NULL: any. Fails where it is not one. */
const struct told *told_only(const char *metric, const char *const labels[METRIC_LABELS]);
#define TOLD(metric, ...) told_only(metric, (const char *const[METRIC_LABELS]){__VA_ARGS__})

/* Fails where the sample has another value. */
void told_is(const struct told *t, double value);

#define TOLD_NUMBER 24 /* bytes of a number as a label has it */
const char *told_text(uint64_t number, char text[TOLD_NUMBER]);
