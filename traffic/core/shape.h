/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rate over time: lines between points. After the last point it starts again at the first.
 *
 *     share  1 |      ____        each point is a time since the start and a share of the rate;
 *              |     /    |       two points at one time are a step
 *            0 |____/     |____
 *              0s   4s 5s 8s   10s, and from the start again
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SHAPE_MAX_POINTS 2048
#define SHAPE_MAX_SHARE 10.0
#define SHAPE_MIN_PERIOD 10e-6 /* seconds */

struct shape_point {
	double time; /* seconds since the start */
	double share; /* of the rate, 0..SHAPE_MAX_SHARE */
};

/* The first point is at 0, the last one at the end of the period; times never decrease. Without
 * points the share is always 1. A zeroed struct has no points. */
struct shape {
	struct shape_point points[SHAPE_MAX_POINTS];
	unsigned count;
	double area; /* set by shape_finish(): integral of the share over one period, in seconds */
};

/* Adds a point. Returns false if there are already SHAPE_MAX_POINTS. */
bool shape_add(struct shape *s, double time, double share);

/*
 * Validates the points and computes the area. There must be two points or more, the first at 0, at most two at
 * one time. Times must not decrease; the period is at least SHAPE_MIN_PERIOD, the area above 0. The caller
 * checks the range of shares. Refuses a shape without points, which is valid without this call. Returns NULL, or a
 * static text that says what is allowed.
 */
const char *shape_finish(struct shape *s);

/* Period in seconds; 0 without points. */
double shape_period(const struct shape *s);

/* A position in the shape that advances in steps of any length. */
struct shape_walk {
	const struct shape *shape; /* NULL: share is always 1 */
	double at; /* seconds within the period */
	unsigned next; /* index of the point that ends the current line */
};

/* Starts at the beginning of `shape`, which must outlive `w`. shape_finish() must have accepted it, unless it has
 * no points. NULL: the share is always 1. */
void shape_walk_start(struct shape_walk *w, const struct shape *shape);

/* Advances by `seconds` (0 or more). Returns the integral of the share over this time, in seconds. */
double shape_walk_advance(struct shape_walk *w, double seconds);

/* The share at the current position; at a step, the share after it. */
double shape_walk_share(const struct shape_walk *w);
