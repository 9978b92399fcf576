/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/log/log.h"
#include "server/changes.h"
#include "server/reconfigure.h"

void reload_open(struct reload *r, struct server *s, const char *path,
		 const struct server_devices *devices) {
	*r = (struct reload){.server = s, .path = path, .devices = *devices};
}

const struct server_config *reload_load(const struct reload *r, struct kept_groups **kept,
					const char *path, char **said) {
	const struct server_config *config = NULL;
	size_t size;
	FILE *errors;

	*said = NULL;
	errors = open_memstream(said, &size);
	if (errors == NULL)
		return NULL;
	config = server_config_load_again(kept, path, &r->devices, errors);
	fclose(errors);
	if (config == NULL)
		return NULL;
	free(*said);
	*said = NULL;
	return config;
}

const char *reload_first_line(const char *said, int *length) {
	if (said == NULL || *said == '\0')
		said = "no memory left";
	*length = (int)strcspn(said, "\n");
	return said;
}

/* Logs each line, which begins with a file name and line number. */
static void log_mistakes(const char *said) {
	static struct log_site site = {.level = LEVEL_ERROR, .area = "config"};

	while (said != NULL && *said != '\0') {
		char line[LOG_MESSAGE];
		size_t size = strcspn(said, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)size, said);
		log_foreign(&site, site.level, line);
		said += size + (said[size] == '\n');
	}
}

static void say_mistakes(struct reload *r, const char *said) {
	int mistakes = 0, length;
	const char *first = reload_first_line(said, &length);

	for (const char *c = said; c != NULL && *c != '\0'; c++)
		mistakes += *c == '\n';
	log_mistakes(said);
	snprintf(r->line, sizeof(r->line), "%s: %d mistake%s, nothing was changed: %.*s", r->path,
		 mistakes, mistakes == 1 ? "" : "s", length, first);
}

static bool load_and_take(struct reload *r) {
	char *mistakes, said[RECONFIGURE_LINE];
	const struct server_config *next = reload_load(r, &r->kept, r->path, &mistakes);
	bool good;

	if (next == NULL) {
		r->server->refused++;
		say_mistakes(r, mistakes);
		free(mistakes);
		return false;
	}
	good = server_reconfigure(r->server, next, said);
	r->server->refused += !good;
	server_config_settle(&r->kept);
	snprintf(r->line, sizeof(r->line), "%s: %s%s", r->path, good ? "read again: " : "", said);
	return good;
}

static void tell_watcher(const struct reload *r, enum reload_stage stage) {
	if (r->watcher != NULL)
		r->watcher(r->watcher_ctx, stage);
}

bool reload_run(struct reload *r) {
	bool good;

	tell_watcher(r, RELOAD_BEGINS);
	good = load_and_take(r);
	if (good)
		server_tell_reloaded(r->server, r->line);
	if (good)
		log_notice("config", LOG_FIELDS(LOG_STRING("path", r->path)), "%s", r->line);
	else
		log_error("config", LOG_FIELDS(LOG_STRING("path", r->path)), "%s", r->line);
	tell_watcher(r, RELOAD_IS_DONE);
	return good;
}

void reload_free(struct reload *r) {
	server_config_forget(r->kept);
}
