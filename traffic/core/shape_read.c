/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses shapes; every kind of shape becomes a table of points. */
#include "core/shape_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lines.h"
#include "core/shape_values.h"

#define TEXT_MAX 65536
#define TIME_ABOVE "a time above 0 with us, ms, s, min or h"
#define TOO_MANY_POINTS "at most 2048 points"

/*
 * Hours from midnight, as shares of the peak. The values are estimates. The published profile of a day is a
 * figure without numbers. Its text describes a peak in the evening, very low load in the early morning, and
 * load well below the peak for most of the day.
 */
static const double day[] = {
	0.70, 0.52, 0.38, 0.29, 0.25, 0.24, 0.27, 0.33, 0.40, 0.46, 0.50, 0.53, 0.56,
	0.58, 0.60, 0.63, 0.67, 0.73, 0.81, 0.90, 0.97, 1.00, 0.96, 0.86, 0.70,
};

/* State while a shape is parsed. */
struct reading {
	struct shape *shape;
	double rate;
	double duration;
	char *error;
	/* values of words NAME=VALUE; below 0: not given */
	double on, off, period, duty, from, to, time, each;
	const char *file;
};

static bool shape_complain(struct reading *r, const char *found, const char *allowed) {
	snprintf(r->error, SHAPE_ERROR, "found \"%.60s\", allowed: %s", found, allowed);
	return false;
}

/* A word NAME=VALUE that the kind of shape defines. */
struct word {
	const char *name;
	double *value;
	enum { WORD_TIME, WORD_RATE, WORD_SHARE } kind;
};

static bool shape_read_value(const struct reading *r, int kind, const char *text, double *value) {
	if (kind == WORD_TIME)
		return shape_time(text, value) && *value > 0;
	return kind == WORD_RATE ? shape_rate_share(text, r->rate, value)
				 : shape_share(text, value);
}

/* Whether the word has one of these names. Sets `good` to whether its value is valid. */
static bool named(struct reading *r, char *text, const struct word *words, bool *good) {
	static const char *const allowed[] = {TIME_ABOVE, SHAPE_RATE, "a share as 50%"};
	char *value = strchr(text, '=');
	double found;

	if (value == NULL)
		return false;
	for (; words->name != NULL; words++) {
		if (strlen(words->name) != (size_t)(value - text) ||
		    strncmp(words->name, text, (size_t)(value - text)) != 0)
			continue;
		*good = shape_read_value(r, words->kind, value + 1, &found) ||
			shape_complain(r, text, allowed[words->kind]);
		if (*good && *words->value >= 0)
			*good = shape_complain(r, text, "each word once");
		if (*good)
			*words->value = found;
		return true;
	}
	return false;
}

typedef bool parse_word(struct reading *r, char *text);

static bool parse_none(struct reading *r, char *text) {
	(void)r;
	(void)text;
	return false;
}

static bool parse_step(struct reading *r, char *text) {
	double share;

	return shape_rate_share(text, r->rate, &share) && shape_add(r->shape, 0, share);
}

static bool parse_point(struct reading *r, char *text) {
	char *value = strchr(text, '=');
	double time, share;

	if (*text == '@' && r->file == NULL && r->shape->count == 0) {
		r->file = text + 1;
		return true;
	}
	if (value == NULL || r->file != NULL)
		return false;
	*value = '\0';
	if (shape_time(text, &time) && shape_rate_share(value + 1, r->rate, &share))
		return shape_add(r->shape, time, share);
	*value = '=';
	return false;
}

static bool parse_file(struct reading *r, char *text) {
	if (*text != '@' || r->file != NULL)
		return false;
	r->file = text + 1;
	return true;
}

/* Parses TIME RATE or TIME,RATE. */
static const char *shape_record(char *text, void *context,
				bool (*time_of)(const char *, double *)) {
	struct reading *r = context;
	char *value = text + strcspn(text, " \t,");
	double time, share;

	if (*value == '\0')
		return "a time and a rate, as \"10s 50%\"";
	*value++ = '\0';
	value += strspn(value, " \t,");
	if (!time_of(text, &time))
		return time_of == shape_hour ? SHAPE_HOUR : SHAPE_TIME;
	if (!shape_rate_share(value, r->rate, &share))
		return SHAPE_RATE;
	return shape_add(r->shape, time, share) ? NULL : TOO_MANY_POINTS;
}

static const char *point_record(char *text, void *context) {
	return shape_record(text, context, shape_time);
}

static const char *day_record(char *text, void *context) {
	return shape_record(text, context, shape_hour);
}

static bool from_file(struct reading *r, lines_record *parse) {
	char error[LINES_ERROR];

	if (lines_read(r->file, parse, r, error))
		return true;
	snprintf(r->error, SHAPE_ERROR, "%s", error);
	return false;
}

/* Adds one period of two levels: `a_share` up to time `a`, then `b_share` up to time `b`. */
static void add4(struct shape *s, double a, double a_share, double b, double b_share) {
	shape_add(s, 0, a_share);
	shape_add(s, a, a_share);
	shape_add(s, a, b_share);
	shape_add(s, b, b_share);
}

static bool make_constant(struct reading *r, char *text) {
	(void)r;
	(void)text;
	return true;
}

static bool make_bursts(struct reading *r, char *text) {
	bool lengths = r->on > 0 && r->off > 0 && r->period < 0 && r->duty < 0;
	bool shares = r->on < 0 && r->off < 0 && r->period > 0 && r->duty > 0 && r->duty < 1;

	if (!lengths && !shares)
		return shape_complain(
			r, text,
			"bursts:on=TIME,off=TIME or bursts:period=TIME,duty=SHARE with a "
			"share between 0% and 100%");
	if (shares) {
		r->on = r->period * r->duty;
		r->off = r->period - r->on;
	}
	add4(r->shape, r->on, 1, r->on + r->off, 0);
	return true;
}

static bool make_ramp(struct reading *r, char *text) {
	(void)text;
	shape_add(r->shape, 0, r->from < 0 ? 0 : r->from);
	shape_add(r->shape, r->time < 0 ? r->duration : r->time, r->to < 0 ? 1 : r->to);
	return true;
}

/* The points have no times yet. */
static bool make_steps(struct reading *r, char *text) {
	struct shape *s = r->shape;
	unsigned count = s->count;
	double each = r->each > 0 ? r->each : r->duration / count;

	if (count == 0 || count > SHAPE_MAX_POINTS / 2)
		return shape_complain(r, text, "1..1024 steps, as steps:20%,60%,100%,each=5s");
	for (unsigned i = count; i-- > 0;) {
		double share = s->points[i].share;

		s->points[2 * i] = (struct shape_point){i * each, share};
		s->points[2 * i + 1] = (struct shape_point){(i + 1) * each, share};
	}
	s->count = 2 * count;
	return true;
}

static bool make_points(struct reading *r, char *text) {
	(void)text;
	return r->file == NULL || from_file(r, point_record);
}

/* A file need not reach midnight: the last line leads back to the first point. */
static bool make_day(struct reading *r, char *text) {
	struct shape *s = r->shape;
	double length = r->time > 0 ? r->time : r->duration;

	(void)text;
	if (r->file != NULL && !from_file(r, day_record))
		return false;
	for (unsigned i = 0; r->file == NULL && i < sizeof(day) / sizeof(day[0]); i++)
		shape_add(s, i, day[i]);
	if (s->count > 0 && s->points[s->count - 1].time < SHAPE_DAY &&
	    !shape_add(s, SHAPE_DAY, s->points[0].share))
		return shape_complain(r, r->file, TOO_MANY_POINTS);
	for (unsigned i = 0; i < s->count; i++)
		s->points[i].time *= length / SHAPE_DAY;
	return true;
}

static bool read_words(struct reading *r, char *words, const struct word *names, parse_word *parse,
		       const char *example) {
	char *rest = words;
	char *text;

	while ((text = strsep(&rest, ",")) != NULL) {
		bool good = true;

		if (named(r, text, names, &good) ? !good : !parse(r, text))
			return r->error[0] != '\0' ? false : shape_complain(r, text, example);
	}
	return true;
}

static bool read_kind(struct reading *r, char *kind, char *words) {
	const struct {
		const char *name;
		struct word words[5];
		parse_word *parse;
		bool (*make)(struct reading *r, char *text);
		const char *example;
	} kinds[] = {
		{"constant", {{0}}, parse_none, make_constant, "constant alone"},
		{"bursts",
		 {{"on", &r->on, WORD_TIME},
		  {"off", &r->off, WORD_TIME},
		  {"period", &r->period, WORD_TIME},
		  {"duty", &r->duty, WORD_SHARE}},
		 parse_none,
		 make_bursts,
		 "bursts:on=TIME,off=TIME or bursts:period=TIME,duty=SHARE"},
		{"ramp",
		 {{"from", &r->from, WORD_RATE},
		  {"to", &r->to, WORD_RATE},
		  {"time", &r->time, WORD_TIME}},
		 parse_none,
		 make_ramp,
		 "ramp, or ramp: with from=RATE, to=RATE, time=TIME"},
		{"steps",
		 {{"each", &r->each, WORD_TIME}},
		 parse_step,
		 make_steps,
		 "at most 1024 steps, each " SHAPE_RATE "; and each=TIME"},
		{"points",
		 {{0}},
		 parse_point,
		 make_points,
		 "points:TIME=RATE,TIME=RATE,.. (at most 2048) or points:@FILE; a rate "
		 "is " SHAPE_RATE},
		{"day",
		 {{"time", &r->time, WORD_TIME}},
		 parse_file,
		 make_day,
		 "day, or day: with @FILE, time=TIME"},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kind, kinds[i].name) == 0)
			return (words == NULL || read_words(r, words, kinds[i].words,
							    kinds[i].parse, kinds[i].example)) &&
			       kinds[i].make(r, kind);
	}
	return shape_complain(r, kind, SHAPE_WORDS);
}

bool shape_read(struct shape *s, const char *text, uint64_t rate, double duration, char *error) {
	struct reading r = {
		.shape = s,
		.rate = (double)rate,
		.duration = duration,
		.error = error,
		.on = -1,
		.off = -1,
		.period = -1,
		.duty = -1,
		.from = -1,
		.to = -1,
		.time = -1,
		.each = -1,
	};
	char *words = strnlen(text, TEXT_MAX) < TEXT_MAX ? strdup(text) : NULL;
	char *rest = words;
	const char *wrong = NULL;
	bool good;

	error[0] = '\0';
	s->count = 0;
	if (words == NULL)
		return shape_complain(&r, text,
				      "up to 65,535 bytes; more in a file, as points:@FILE");
	strsep(&rest, ":");
	good = read_kind(&r, words, rest);
	if (good && strcmp(words, "constant") != 0)
		wrong = shape_finish(s);
	if (wrong != NULL)
		good = shape_complain(&r, text, wrong);
	free(words);
	return good;
}
