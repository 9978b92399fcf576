/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints progress each second on a thread of its own. */
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "summary/words.h"

#define STEP_MS 20 /* progress_end() waits at most this long */
#define COLUMNS 79
#define MORE ", and more"

static double seconds_now(void) {
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Reads counts that another thread increments. */
static struct progress progress_read(const struct progress *p) {
	struct progress now;
	const uint64_t *from = (const uint64_t *)p;
	uint64_t *to = (uint64_t *)&now;

	for (size_t i = 0; i < sizeof(now) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	return now;
}

static void progress_sum(struct progress *sum, const struct progress *p) {
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)p;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

/* The line so far. */
struct line {
	char *text;
	size_t length;
	size_t end; /* to end it here leaves space for MORE */
};

__attribute__((format(printf, 2, 3))) static void line_add(struct line *line, const char *format,
							   ...) {
	va_list values;

	va_start(values, format);
	line->length += (size_t)vsnprintf(line->text + line->length, PROGRESS_LINE - line->length,
					  format, values);
	va_end(values);
}

/* Adds a count that is not 0. */
static void line_add_fault(struct line *line, uint64_t count, const char *name) {
	char number[WORDS_SIZE];

	if (line->length + strlen(MORE) <= COLUMNS)
		line->end = line->length;
	if (count > 0)
		line_add(line, ", %s %s", words_count(count, number), name);
}

/* Rates refer to the time since the last line, which may exceed a second on a busy machine. */
static void line_add_rate(struct line *line, const char *direction, uint64_t bytes,
			  uint64_t *before, double seconds) {
	char rate[WORDS_SIZE];

	line_add(line, "%s %10s %s", line->text[line->length - 1] == 's' ? "" : ",",
		 words_rate((double)(bytes - *before) * 8 / seconds, rate), direction);
	*before = bytes;
}

static void line_add_counts(struct line *line, const struct progress *sum) {
	char proven[WORDS_SIZE], lost[WORDS_SIZE];

	line_add(line, "; %10s proven, %s lost", words_count(sum->proven, proven),
		 words_count(sum->lost, lost));
	line->end = line->length;
	line_add_fault(line, sum->overtaken, "overtaken");
	line_add_fault(line, sum->corrupted, "corrupted");
	line_add_fault(line, sum->duplicated, "duplicated");
	line_add_fault(line, sum->reordered, "reordered");
	line_add_fault(line, sum->undecipherable, "undecipherable");
	if (line->length > COLUMNS) {
		line->length = line->end;
		line_add(line, MORE);
	}
}

void progress_line(struct progress_lines *p, double elapsed, double seconds,
		   char text[PROGRESS_LINE]) {
	struct progress down = progress_read(&p->run->downstream);
	struct progress up = progress_read(&p->run->upstream);
	struct line line = {.text = text};

	line_add(&line, "%4.0f s", elapsed);
	if (p->downstream)
		line_add_rate(&line, "down", down.sent_bytes, &p->down, seconds);
	if (p->upstream)
		line_add_rate(&line, "up", up.sent_bytes, &p->up, seconds);
	progress_sum(&down, &up);
	if (p->run->send_only)
		line_add(&line, " sent");
	else
		line_add_counts(&line, &down);
	line_add(&line, "\n");
}

static void *lines_show(void *context) {
	static const struct timespec step = {.tv_nsec = STEP_MS * 1000000};
	struct progress_lines *p = context;
	double begun = seconds_now(), next = begun + 1;
	char text[PROGRESS_LINE];

	p->at = begun;
	while (!__atomic_load_n(&p->end, __ATOMIC_ACQUIRE)) {
		double now;

		nanosleep(&step, NULL);
		now = seconds_now();
		if (now < next)
			continue;
		progress_line(p, now - begun, now - p->at, text);
		fputs(text, stderr);
		p->at = now;
		while (next <= now)
			next += 1;
	}
	return NULL;
}

void progress_begin(struct progress_lines *p, const struct run *run, bool downstream,
		    bool upstream) {
	*p = (struct progress_lines){.run = run, .downstream = downstream, .upstream = upstream};
	p->begun = pthread_create(&p->thread, NULL, lines_show, p) == 0;
}

void progress_end(struct progress_lines *p) {
	__atomic_store_n(&p->end, true, __ATOMIC_RELEASE);
	if (p->begun)
		pthread_join(p->thread, NULL);
}
