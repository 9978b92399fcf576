/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/save/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/keys/keys.h"
#include "model/live/live_kind.h"
#include "platform/log/log.h"
#include "server/save/saving.h"

/* Loads the file as it is on the disk. */
static bool load(struct saving *s, const char *path) {
	const struct save_file *file = save_files_open(&s->files, path, s->why);
	char *text = NULL;
	size_t size;
	FILE *errors;
	int length, mistakes = 1;

	if (file == NULL)
		return false;
	errors = open_memstream(&text, &size);
	if (errors != NULL) {
		const struct server_files files = save_files_source(&s->files);

		mistakes = server_config_load_text(path, file->text, file->size, &files,
						   &s->devices, &s->config, errors);
		fclose(errors);
	}
	if (mistakes > 0) {
		const char *first = reload_first_line(text, &length);

		snprintf(s->why, sizeof(s->why), "%.*s", length, first);
	}
	free(text);
	return mistakes == 0;
}

/* A file elsewhere cannot name own files relative to its folder. */
static void own_files_stay(struct saving *s) {
	const struct span *list = span_value(s->files.list[0].edit.root, server_groups_key.name);

	if (list == NULL || list->type != SPAN_LIST)
		return;
	for (const struct span *item = list->first; item != NULL; item = item->next) {
		if (span_value(item, group_file_key.name) != NULL)
			s->rewrite = "service groups have files of their own";
	}
}

/* Makes the new texts of all files, unless one cannot be changed in place. */
static void make_texts(struct saving *s) {
	for (size_t i = 0; i < s->files.count; i++) {
		struct save_file *file = &s->files.list[i];

		if (file->edit.failed == NULL)
			yaml_edit_write(&file->edit, &file->next);
		if (file->edit.failed != NULL)
			s->rewrite = file->edit.failed;
		else if (file->next.failed)
			s->rewrite = "its changes overlap";
	}
	if (s->rewrite == NULL && !save_verify(s, &s->files.list[0].next)) {
		snprintf(s->reason, sizeof(s->reason), "with its other text, %.300s", s->why);
		s->rewrite = s->reason;
	}
}

/* Writes own files first: the server's file then completes the change. */
static bool write_texts(struct saving *s, const char *path) {
	for (size_t i = s->files.count; i > 0; i--) {
		const struct save_file *file = &s->files.list[i - 1];

		if (path != NULL && i == 1)
			return save_write(path, &file->next, true, s->why);
		if (file->edit.count > 0 && !save_write(file->path, &file->next, false, s->why))
			return false;
	}
	return true;
}

static bool write_whole(struct saving *s, const char *path) {
	const char *to = path != NULL ? path : s->files.list[0].path;
	struct secret_text text = {0};
	bool good;

	if (s->others > 0) {
		snprintf(
			s->why, sizeof(s->why),
			"its text cannot be changed in place, as %.200s, and a new text would lose "
			"%zu edits that are not in service",
			s->rewrite, s->others);
		return false;
	}
	good = save_whole(s, &text) && save_verify(s, &text) &&
	       save_write(to, &text, path != NULL, s->why);
	secret_text_free(&text);
	return good;
}

/* Appends "1 modem added, 2 channels changed". */
static void append_counts(const struct saving *s, char *line, size_t size) {
	const char *before = "";
	size_t used = 0;

	for (unsigned i = (LIVE_OBJECTS + 1) * UNSAVED_ACTIONS; i > 0; i--) { /* groups first */
		const struct unsaved_object o = {.object = (i - 1) / UNSAVED_ACTIONS};
		unsigned action = UNSAVED_ACTIONS - 1 - (i - 1) % UNSAVED_ACTIONS;
		size_t count = s->counts[o.object][action];

		if (count == 0 || used >= size)
			continue;
		used += (size_t)snprintf(line + used, size - used, "%s%zu %s%s %s", before, count,
					 o.object == LIVE_GROUP ? "limit" : unsaved_kind(&o),
					 count == 1 ? "" : "s", unsaved_action_name(action));
		before = ", ";
	}
	if (used == 0)
		snprintf(line, size, "nothing differs");
}

static void describe(const struct saving *s, const char *to, struct save_result *result) {
	char counts[LIVE_LINE], *whole = realpath(to, NULL);
	size_t used;

	append_counts(s, counts, sizeof(counts));
	used = (size_t)snprintf(result->line, sizeof(result->line), "%s: saved: %s",
				whole != NULL ? whole : to, counts);
	free(whole);
	if (s->rewrite != NULL && used < sizeof(result->line))
		used += (size_t)snprintf(result->line + used, sizeof(result->line) - used,
					 "; comments are lost, as %s", s->rewrite);
	if (s->others > 0 && used < sizeof(result->line))
		snprintf(result->line + used, sizeof(result->line) - used,
			 "; %zu edit%s of the file %s not in service: config.reload applies %s",
			 s->others, s->others == 1 ? "" : "s", s->others == 1 ? "is" : "are",
			 s->others == 1 ? "it" : "them");
}

static bool save(struct saving *s, const char *file, const char *path) {
	if (!load(s, file) || !save_edit_groups(s))
		return false;
	if (path != NULL)
		own_files_stay(s);
	if (s->rewrite == NULL)
		make_texts(s);
	return s->rewrite == NULL ? write_texts(s, path) : write_whole(s, path);
}

bool server_save(struct server *server, const struct reload *r, const char *path,
		 struct save_result *result) {
	struct saving *s = calloc(1, sizeof(*s));
	const char *to = path != NULL ? path : r->path;
	bool good;

	*result = (struct save_result){0};
	if (s == NULL) {
		snprintf(result->line, sizeof(result->line), "%s: no memory left", to);
		return false;
	}
	s->server = server;
	s->devices = r->devices;
	good = save(s, r->path, path);
	result->comments = s->rewrite == NULL;
	if (good)
		describe(s, to, result);
	else
		snprintf(result->line, sizeof(result->line), "%s: not saved: %s", r->path, s->why);
	if (good && path == NULL)
		unsaved_clear(&server->unsaved);
	if (good)
		log_notice("config", LOG_FIELDS(LOG_STRING("path", to)), "%s", result->line);
	else
		log_error("config", LOG_FIELDS(LOG_STRING("path", to)), "%s", result->line);
	save_files_close(&s->files);
	server_config_free(&s->config);
	free(s);
	return good;
}
