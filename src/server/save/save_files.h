/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a configuration while they are edited. */
#pragma once

#include "model/live/live_group.h"
#include "model/save/yaml_edit.h"
#include "model/server_config.h"

struct save_file {
	char *path;
	char *text; /* as it is on the disk */
	size_t size;
	struct yaml_edit edit;
	struct secret_text next; /* the new text */
};

/* The server's file is the first. */
struct save_files {
	struct save_file list[1 + SERVER_MAX_GROUPS];
	size_t count;
};

/* Reads a file and its spans. Returns NULL with a line in `why`. */
struct save_file *save_files_open(struct save_files *f, const char *path, char why[LIVE_LINE]);

/* Opens a group's own file, whose name may be relative to the folder of the server's file. */
struct save_file *save_files_open_own(struct save_files *f, const char *name, char why[LIVE_LINE]);

/* The source of own files with their new texts, for a load of the server's file. */
struct server_files save_files_source(struct save_files *f);

void save_files_close(struct save_files *f);

/* Replaces the file by one with this text, with its owner and mode; or creates it with mode 0600 if
 * `fresh`, and refuses if it exists. Returns false with a line in `why`. */
bool save_write(const char *path, const struct secret_text *text, bool fresh, char why[LIVE_LINE]);
