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

const struct server_config *reload_load(const struct reload *r, struct load_cache **kept,
					const char *path, char **text) {
	const struct server_config *config = NULL;
	size_t size;
	FILE *errors;

	*text = NULL;
	errors = open_memstream(text, &size);
	if (errors == NULL)
		return NULL;
	config = server_config_reload(kept, path, &r->devices, errors);
	fclose(errors);
	if (config == NULL)
		return NULL;
	free(*text);
	*text = NULL;
	return config;
}

const char *reload_first_line(const char *text, int *length) {
	if (text == NULL || *text == '\0')
		text = "no memory left";
	*length = (int)strcspn(text, "\n");
	return text;
}

/* Logs each line, which begins with a file name and line number. */
static void log_mistakes(const char *text) {
	static struct log_site site = {.level = LEVEL_ERROR, .area = "config"};

	while (text != NULL && *text != '\0') {
		char line[LOG_MESSAGE];
		size_t size = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)size, text);
		log_foreign(&site, site.level, line);
		text += size + (text[size] == '\n');
	}
}

static void report_errors(struct reload *r, const char *text) {
	int mistakes = 0, length;
	const char *first = reload_first_line(text, &length);

	for (const char *c = text; c != NULL && *c != '\0'; c++)
		mistakes += *c == '\n';
	log_mistakes(text);
	snprintf(r->line, sizeof(r->line), "%s: %d mistake%s, nothing was changed: %.*s", r->path,
		 mistakes, mistakes == 1 ? "" : "s", length, first);
}

static bool load_and_apply(struct reload *r, bool force) {
	char *mistakes, text[RECONFIGURE_LINE];
	const struct server_config *next = reload_load(r, &r->kept, r->path, &mistakes);
	bool good;

	if (next == NULL) {
		r->server->refused++;
		report_errors(r, mistakes);
		free(mistakes);
		return false;
	}
	good = server_reconfigure(r->server, next, force, text);
	r->server->refused += !good;
	server_config_release(&r->kept);
	snprintf(r->line, sizeof(r->line), "%s: %s%s", r->path, good ? "reloaded: " : "", text);
	return good;
}

static void notify_watcher(const struct reload *r, enum reload_stage stage) {
	if (r->watcher != NULL)
		r->watcher(r->watcher_ctx, stage);
}

bool reload_run(struct reload *r, bool force) {
	bool good;

	notify_watcher(r, RELOAD_BEGINS);
	good = load_and_apply(r, force);
	r->refused = !good;
	if (good)
		server_notify_reloaded(r->server, r->line);
	if (good)
		log_notice("config", LOG_FIELDS(LOG_STRING("path", r->path)), "%s", r->line);
	else
		log_error("config", LOG_FIELDS(LOG_STRING("path", r->path)), "%s", r->line);
	notify_watcher(r, RELOAD_IS_DONE);
	return good;
}

void reload_free(struct reload *r) {
	server_config_free_cache(r->kept);
}
