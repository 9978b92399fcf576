/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads a server from text, with files of groups from memory, and keeps the loader's messages. */
#pragma once

#include "test.h"

#include <errno.h>

#include "model/server_config.h"

/* Required keys of a group. `n`, a digit, makes identifiers and addresses distinct. */
#define CHANNELS(n) "channels: [{id: 1, type: ofdm, rate: 1.89 Gbps, session: 1" n "}]"
#define BONDING "bonding_groups: [{id: 1, channels: [1]}]"
#define MODEM(n)                                                                    \
	"{mac: \"02:01:00:00:00:0" n "\", addresses: [10.0.0." n ", \"2001:db8::" n \
	"\"], bonding_group: 1, security: {said: 1, cipher: none}, service_flows: [{id: 1}]}"
#define GROUP(n) "{service_group: " n ", " CHANNELS(n) ", modems: [" MODEM(n) "]}"

/* A list of files ends with one whose path is NULL. */
struct memory_file {
	const char *path;
	const char *text;
};

struct loaded_server {
	struct server_config config;
	int mistakes;
	char *messages;
};

static inline char *read_memory(void *context, const char *path, size_t max, size_t *size) {
	const struct memory_file *file = context;

	while (file != NULL && file->path != NULL && strcmp(file->path, path) != 0)
		file++;
	errno = ENOENT;
	if (file == NULL || file->path == NULL)
		return NULL;
	*size = strlen(file->text);
	assert_true(*size <= max);
	return strdup(file->text);
}

/* Loads a server whose groups' files are in `files`, which may be NULL. The caller frees it by unload_server(). */
static inline struct loaded_server load_server_on(const char *text, struct memory_file *files,
						  const struct server_devices *devices) {
	const struct server_files from = {.read = read_memory, .context = files};
	struct loaded_server loaded = {0};
	size_t length;
	FILE *errors = open_memstream(&loaded.messages, &length);

	assert_non_null(errors);
	loaded.mistakes = server_config_load_text("dir/server.yaml", text, strlen(text), &from,
						  devices, &loaded.config, errors);
	fclose(errors);
	assert_int_equal(loaded.config.groups == NULL, loaded.mistakes > 0);
	assert_int_equal(loaded.messages[0] == '\0', loaded.mistakes == 0);
	return loaded;
}

static inline struct loaded_server load_server(const char *text, struct memory_file *files) {
	return load_server_on(text, files, NULL);
}

/* Loads a valid text. */
static inline struct loaded_server load_valid_server(const char *text, struct memory_file *files) {
	struct loaded_server loaded = load_server(text, files);

	assert_string_equal(loaded.messages, "");
	return loaded;
}

static inline void unload_server(struct loaded_server *loaded) {
	server_config_free(&loaded->config);
	free(loaded->messages);
}
