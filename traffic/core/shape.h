/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rate over time: lines between points, repeated when their time is over.
 *
 *     share  1 |      ____        each point is a time since the start and a share of the rate asked
 *              |     /    |       for; two points at one time are a step
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

/* The first point is at 0, the last at the period's end; times never fall. Without points: always 1. */
struct shape {
	struct shape_point points[SHAPE_MAX_POINTS];
	unsigned count;
	double area; /* of one period: shares times seconds */
};

/* Adds a point. Returns false when there are SHAPE_MAX_POINTS already. */
bool shape_add(struct shape *s, double time, double share);

/*
 * Whether the points are a shape: from 0 on, never back in time, at most two at one time, a period of
 * SHAPE_MIN_PERIOD and more, and something sent in it. Computes the area. Returns NULL, or what is
 * wrong.
 */
const char *shape_finish(struct shape *s);

/* Seconds after which it repeats; 0 without points. */
double shape_period(const struct shape *s);

/* A walk through the shape in steps of any length. */
struct shape_walk {
	const struct shape *shape; /* NULL: always 1 */
	double at; /* seconds within the period */
	unsigned next; /* point that ends the line it is on */
};

/* Begins at the start of `shape`, which must live on; NULL is a constant rate. */
void shape_walk_start(struct shape_walk *w, const struct shape *shape);

/* Goes on by `seconds` (0 and more). Returns the share's integral over them, in seconds. */
double shape_walk_on(struct shape_walk *w, double seconds);

/* The share where the walk is: at a step, the one behind it. */
double shape_walk_share(const struct shape_walk *w);
