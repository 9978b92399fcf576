/* SPDX-License-Identifier: BSD-3-Clause */
/* Integrates the share of a rate over time: lines between points and the area below them. */
#include "core/shape.h"

#include <stddef.h>

bool shape_add(struct shape *s, double time, double share) {
	if (s->count == SHAPE_MAX_POINTS)
		return false;
	s->points[s->count++] = (struct shape_point){time, share};
	return true;
}

/* The share at `time` on the line that starts at `p`. */
static double line_share(const struct shape_point *p, double time) {
	double length = p[1].time - p[0].time;

	if (length <= 0)
		return p[1].share;
	return p[0].share + (p[1].share - p[0].share) * (time - p[0].time) / length;
}

/* Integral of the share on the line that starts at `p`, between two times on it, in seconds. */
static double line_area(const struct shape_point *p, double from, double to) {
	return (line_share(p, from) + line_share(p, to)) / 2 * (to - from);
}

const char *shape_finish(struct shape *s) {
	const struct shape_point *p = s->points;

	s->area = 0;
	if (s->count < 2)
		return "at least two points";
	if (p[0].time != 0)
		return "a first point at time 0";
	for (unsigned i = 0; i + 1 < s->count; i++) {
		if (p[i + 1].time < p[i].time)
			return "points in the order of their times";
		if (i + 2 < s->count && p[i + 2].time <= p[i].time)
			return "at most two points at one time";
		s->area += (p[i].share + p[i + 1].share) / 2 * (p[i + 1].time - p[i].time);
	}
	if (shape_period(s) < SHAPE_MIN_PERIOD)
		return "a time of 10 us and more before it repeats";
	return s->area > 0 ? NULL : "some rate above 0";
}

double shape_period(const struct shape *s) {
	return s->count == 0 ? 0 : s->points[s->count - 1].time;
}

/* Sets `w->next` to the end of the line that contains `w->at`: skips steps, and restarts at the end of the period. */
static void to_line(struct shape_walk *w) {
	const struct shape *s = w->shape;

	while (w->at >= s->points[w->next].time) {
		if (++w->next < s->count)
			continue;
		w->next = 1;
		w->at = 0;
	}
}

void shape_walk_start(struct shape_walk *w, const struct shape *shape) {
	*w = (struct shape_walk){.shape = shape, .next = 1};
	if (shape != NULL && shape->count == 0)
		w->shape = NULL;
	if (w->shape != NULL)
		to_line(w);
}

double shape_walk_advance(struct shape_walk *w, double seconds) {
	double area = 0;
	double period;

	if (w->shape == NULL)
		return seconds;
	period = shape_period(w->shape);
	if (seconds >= period) {
		double whole = (double)(uint64_t)(seconds / period);

		area = whole * w->shape->area;
		seconds -= whole * period;
	}
	while (seconds > 0) {
		const struct shape_point *line = &w->shape->points[w->next - 1];
		double left = line[1].time - w->at;

		if (seconds < left) {
			double to = w->at + seconds;

			area += line_area(line, w->at, to);
			w->at = to;
			break;
		}
		area += line_area(line, w->at, line[1].time);
		seconds -= left;
		w->at = line[1].time;
		to_line(w);
	}
	return area;
}

double shape_walk_share(const struct shape_walk *w) {
	return w->shape == NULL ? 1 : line_share(&w->shape->points[w->next - 1], w->at);
}
