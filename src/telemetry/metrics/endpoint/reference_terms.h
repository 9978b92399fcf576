/* SPDX-License-Identifier: BSD-3-Clause */
/* The terms of which a row of reference.def is made. */
#pragma once

#include <stdbool.h>

#include "telemetry/metrics/metrics.h"

#define TERM_WORD 64 /* bytes of a name or value in a term */
#define TERM_LABELS 2

enum reference_kind {
	REFERENCE_RATE,
	REFERENCE_RATIO,
	REFERENCE_VALUE,
	REFERENCE_QUOTIENT,
	REFERENCE_CHANNEL,
	REFERENCE_LIBRARY,
	REFERENCE_DEVICE,
};

struct reference_row {
	const char *name; /* behind collectd_ */
	enum reference_kind kind;
	const char *of, *per;
};

extern const struct reference_row reference_table[];
extern const unsigned reference_count;

struct reference_term {
	unsigned row;
	bool per; /* of the second sum */
	double factor;
	char metric[TERM_WORD]; /* with vcmts_; of a histogram without _sum and _count */
	enum { TERM_VALUE, TERM_SUM, TERM_COUNT } part;
	unsigned label_count;
	struct {
		char name[TERM_WORD], value[TERM_WORD];
	} labels[TERM_LABELS];
};

/* All terms of all rows; the caller frees them. NULL: no memory, or a row that cannot be read. */
struct reference_term *reference_terms(unsigned *count);

/* Whether the sample of its metric is one that the term adds up. */
bool reference_term_takes(const struct reference_term *t, const struct metric *m,
			  const struct metric_sample *s);
