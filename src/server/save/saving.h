/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of one save. For the files of this folder alone. */
#pragma once

#include "model/live/unsaved.h"
#include "server/save/save_files.h"
#include "server/server.h"

#define UNSAVED_ACTIONS 3
#define NO_SLOT SERVER_MAX_GROUPS

struct saving {
	struct server *server;
	struct server_devices devices; /* override those of the file */
	struct save_files files;
	struct server_config config; /* of the file on the disk */
	/* what the save changes, by kind (LIVE_OBJECTS: whole groups) */
	size_t counts[LIVE_OBJECTS + 1][UNSAVED_ACTIONS];
	size_t others; /* objects of the file that differ by no request, but by an edit of the file */
	const char *rewrite; /* why the text cannot be changed in place; NULL: it can */
	char reason[LIVE_LINE]; /* may be the text of `rewrite` */
	char why[LIVE_LINE]; /* the reason of a refusal */
};

/* The slot of the group in service with this ID, or NO_SLOT. */
static inline unsigned save_slot_of(const struct server *s, uint32_t id) {
	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service && s->groups[g].sg->id == id)
			return g;
	}
	return NO_SLOT;
}

/* Changes the texts of the files, without writing any. Returns false with a reason in `why`. */
bool save_edit_groups(struct saving *s);

/* A group in service with all values that are no defaults; NULL if memory is short. */
json_t *save_group_json(const struct live_group *l);

/* Writes the configuration in service as a new text. Returns false with a reason in `why`. */
bool save_whole(struct saving *s, struct secret_text *text);

/* Loads the new text of the server's file and compares it with the groups in service. Returns false
 * with a reason in `why` if a change of a request is missing. */
bool save_verify(struct saving *s, const struct secret_text *text);
