/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/save/save_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/file.h"
#include "platform/secret/secret_memory.h"

struct save_file *save_files_open(struct save_files *f, const char *path, char why[LIVE_LINE]) {
	struct save_file *file = &f->list[f->count];

	file->path = strdup(path);
	if (file->path != NULL)
		file->text = file_read(path, FILE_MAX, true, &file->size);
	if (file->text == NULL) {
		snprintf(why, LIVE_LINE, "%s: %s", path, strerror(errno));
		free(file->path);
		file->path = NULL;
		return NULL;
	}
	f->count++;
	yaml_edit_open(&file->edit, file->text, file->size);
	return file;
}

/* The path of a name relative to the folder of the server's file; NULL if memory is short. */
static char *path_of(const struct save_files *f, const char *name) {
	const char *slash = strrchr(f->list[0].path, '/');
	int folder = slash != NULL && name[0] != '/' ? (int)(slash - f->list[0].path) + 1 : 0;
	char *path;

	return asprintf(&path, "%.*s%s", folder, f->list[0].path, name) < 0 ? NULL : path;
}

struct save_file *save_files_open_own(struct save_files *f, const char *name, char why[LIVE_LINE]) {
	char *path = path_of(f, name);
	struct save_file *file = NULL;

	if (path == NULL) {
		snprintf(why, LIVE_LINE, "no memory left");
		return NULL;
	}
	for (size_t i = 1; i < f->count && file == NULL; i++)
		file = strcmp(f->list[i].path, path) == 0 ? &f->list[i] : NULL;
	if (file == NULL)
		file = save_files_open(f, path, why);
	free(path);
	return file;
}

static char *read_next(void *context, const char *path, size_t max, size_t *size) {
	const struct save_files *f = context;

	for (size_t i = 1; i < f->count; i++) {
		const struct save_file *file = &f->list[i];
		char *text;

		if (strcmp(file->path, path) != 0)
			continue;
		text = malloc(file->next.size + 1);
		if (text != NULL && file->next.size > 0)
			memcpy(text, file->next.at, file->next.size);
		*size = file->next.size;
		return text;
	}
	return file_read(path, max, true, size);
}

struct server_files save_files_source(struct save_files *f) {
	return (struct server_files){.read = read_next, .context = f};
}

void save_files_close(struct save_files *f) {
	for (size_t i = 0; i < f->count; i++) {
		struct save_file *file = &f->list[i];

		yaml_edit_free(&file->edit);
		secret_text_free(&file->next);
		secret_free(file->text);
		free(file->path);
	}
	f->count = 0;
}
