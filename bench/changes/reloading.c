/* SPDX-License-Identifier: BSD-3-Clause */
#include "reloading.h"

#include <stdio.h>
#include <stdlib.h>

#include "footprint.h"
#include "model/file.h"
#include "stopwatch.h"

static const struct server_devices as_in_the_file;

int reloading_open(struct reloading *r, struct bed *b, const char *config, const char *file,
		   const char *other) {
	reload_open(&r->reload, &b->server, config, &as_in_the_file);
	r->bed = b;
	r->file = file;
	r->texts[0] = file_read_or_print(file, true, &r->sizes[0], stderr);
	r->texts[1] = file_read_or_print(other, true, &r->sizes[1], stderr);
	if (r->texts[0] == NULL || r->texts[1] == NULL)
		return -1;
	return reload_run(&r->reload, true) ? 0 : -1;
}

/* Writes one of the two contents into the file. Returns false after a message. */
static bool write_text(const struct reloading *r, unsigned which) {
	FILE *f = fopen(r->file, "w");
	bool good = f != NULL && fwrite(r->texts[which], r->sizes[which], 1, f) == 1;

	if (f != NULL && fclose(f) != 0)
		good = false;
	if (!good)
		fprintf(stderr, "%s: cannot be written\n", r->file);
	return good;
}

void reloading_close(struct reloading *r) {
	if (r->texts[0] != NULL)
		write_text(r, 0);
	free(r->texts[0]);
	free(r->texts[1]);
	if (r->file != NULL)
		reload_free(&r->reload);
}

/* Writes the other content and times the reload. Returns false after a message. */
static bool reload_once(struct reloading *r) {
	double start, work;

	r->current = 1 - r->current;
	if (!write_text(r, r->current))
		return false;
	bed_kind_set(r->bed, CHANGE_RELOAD);
	start = monotonic_seconds();
	work = stopwatch_work();
	if (!reload_run(&r->reload, true))
		return false;
	r->ms[r->count] = (monotonic_seconds() - start) * 1e3;
	r->work_ms[r->count++] = (stopwatch_work() - work) * 1e3;
	stopwatch_pause();
	return true;
}

void reloading_task(void *arg, unsigned milliseconds) {
	struct reloading *r = arg;
	double end = monotonic_seconds() + milliseconds / 1e3;

	r->count = 0;
	do
		r->failed = !reload_once(r);
	while (monotonic_seconds() < end && r->count < RTE_DIM(r->ms) && !r->failed);
}

void reloading_json(const struct reloading *r, json_t *found) {
	stopwatch_json(found, "reload_ms", r->ms, r->count);
	stopwatch_json(found, "reload_work_ms", r->work_ms, r->count);
}
