/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/run_frequencies.h"

#include <limits.h>

#include "commands/run_folder.h"
#include "platform/log/log.h"

struct power *run_frequencies_open(struct server *s) {
	static char folder[PATH_MAX];
	char why[OWNED_FOLDER_LINE];
	const char *fault = run_folder(folder, sizeof(folder), why);
	const struct power_setup setup = {.folder = fault == NULL ? folder : NULL};

	if (fault != NULL)
		log_info("power", LOG_FIELDS(LOG_STRING("path", folder)), "%s: %s", folder, fault);
	return power_create(s, &setup);
}

/* Idle settings are not compared: server_idle() applies them. */
static bool differs(const struct power_config *a, const struct power_config *b) {
	return a->policy != b->policy || a->driver != b->driver || a->latency != b->latency ||
	       a->has_busy_hours != b->has_busy_hours || a->busy_hours.from != b->busy_hours.from ||
	       a->busy_hours.to != b->busy_hours.to;
}

void run_frequencies_update(struct power *p, const struct server *s) {
	if (p != NULL && differs(power_config_of(p), &s->power))
		power_set(p, &s->power);
}
