/* SPDX-License-Identifier: BSD-3-Clause */
/* The impairment matrix: expected and counted values by cell. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "box.h"

struct cell {
	const char *kind; /* kind of quantity: "packets", "drop", "counter", "balance" .. */
	const char *name;
	uint64_t expected;
	uint64_t counted;
};

#define CELLS_MAX (8 + DROP_REASONS + COUNTERS + 2 * UNITS)

/* Results of a run to compare. */
struct row {
	char name[64];
	uint64_t hits;
	uint64_t sent;
	unsigned count;
	struct cell cells[CELLS_MAX];
};

/* Sets all cells of the row from the result of a run. */
void row_fill(struct row *r, const char *name, const struct box_result *result);

/* Number of differing cells. */
unsigned row_differences(const struct row *r);

void row_print_heading(FILE *out);

/* Prints the cells that are not 0, or those that differ. */
void row_print(FILE *out, const struct row *r, bool differences);

void row_print_sum_heading(FILE *out);

/* Prints one line: hits, compared cells and differing cells. */
void row_print_sum(FILE *out, const struct row *r);

/* {"impairment": name, "hits": n, "sent": n, "cells": [{"kind", "name", "expected", "counted"}, ..]} */
json_t *row_json(const struct row *r);
