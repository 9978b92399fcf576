/* SPDX-License-Identifier: BSD-3-Clause */
#include "stopwatch.h"

#include <time.h>

#define PAUSE_NS 20000000

double stopwatch_work(void) {
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void stopwatch_pause(void) {
	struct timespec t = {0, PAUSE_NS};

	nanosleep(&t, NULL);
}

void stopwatch_json(json_t *found, const char *key, const double *values, unsigned count) {
	json_t *list = json_array();

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(list, json_real(values[i]));
	if (found == NULL)
		json_decref(list);
	else
		json_object_set_new(found, key, list);
}
