/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the configuration in service as a new file, and compares new files with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/keys/keys.h"
#include "model/live/undone.h"
#include "model/save/yaml_text.h"
#include "server/save/saving.h"

#define INDENT 4 /* columns of a group's keys */

/* Copies the text of a key that concerns the whole server; no request changes these. */
static void copy_key(const struct saving *s, struct secret_text *t, const char *key) {
	const struct save_file *file = &s->files.list[0];
	const struct span *value = span_value(file->edit.root, key);

	if (value == NULL)
		return;
	secret_text_puts(t, key);
	secret_text_puts(t, ": ");
	if (value->type == SPAN_MAP && !value->flow) {
		/* the lines after the key, with their indentation */
		size_t start = value->start;

		while (start > 0 && file->text[start - 1] == ' ')
			start--;
		secret_text_puts(t, "\n");
		secret_text_put(t, file->text + start, value->end - start);
	} else {
		secret_text_put(t, file->text + value->start, value->end - value->start);
	}
	secret_text_puts(t, "\n");
}

static bool put_group(struct secret_text *t, const struct live_group *l) {
	json_t *json = save_group_json(l);

	if (json == NULL)
		return false;
	secret_text_puts(t, "  - ");
	yaml_text_block(t, json, INDENT);
	secret_text_puts(t, "\n");
	json_decref(json);
	return true;
}

bool save_whole(struct saving *s, struct secret_text *text) {
	const struct server *server = s->server;
	bool good = true;

	if (span_value(s->files.list[0].edit.root, server_groups_key.name) != NULL)
		copy_key(s, text, server_name_key.name);
	copy_key(s, text, server_max_groups_key.name);
	copy_key(s, text, server_power_key.name);
	copy_key(s, text, server_metrics_key.name);
	copy_key(s, text, server_needs_version_key.name);
	secret_text_puts(text, server_groups_key.name);
	secret_text_puts(text, ":\n");
	for (unsigned g = 0; good && g < server->group_count; g++) {
		if (server->groups[g].in_service)
			good = put_group(text, &server->groups[g].live);
	}
	if (good && !text->failed)
		return true;
	snprintf(s->why, sizeof(s->why), "no memory left");
	return false;
}

/* Adds the changes of requests that the group of the new file lacks. */
static bool compare_group(struct saving *s, const struct service_group *sg, struct undone *undone) {
	unsigned slot = save_slot_of(s->server, sg->id);
	struct live_changes changes;
	char why[LIVE_LINE];

	if (slot == NO_SLOT) {
		undone_add(undone, unsaved_find_group(&s->server->unsaved, sg->id));
		return true;
	}
	if (!live_difference(&s->server->groups[slot].live, sg, &changes, why)) {
		snprintf(s->why, sizeof(s->why), "service group %u differs: %.300s", sg->id, why);
		return false;
	}
	undone_add_changes(undone, &s->server->unsaved, &s->server->groups[slot].live, &changes);
	live_changes_free(&changes);
	return true;
}

/* Adds groups in service that the new file lacks. */
static void compare_missing(const struct saving *s, const struct server_config *config,
			    struct undone *undone) {
	for (unsigned g = 0; g < s->server->group_count; g++) {
		uint32_t id = s->server->groups[g].in_service ? s->server->groups[g].sg->id : 0;
		size_t n = 0;

		while (n < config->group_count && config->groups[n].id != id)
			n++;
		if (id != 0 && n == config->group_count)
			undone_add_group(undone, &s->server->unsaved, id);
	}
}

/* Loads the text. Returns false with the first mistake in `why`. */
static bool load_text(struct saving *s, const struct secret_text *text,
		      struct server_config *config) {
	const struct server_files files = save_files_source(&s->files);
	char *errors = NULL;
	size_t size;
	FILE *out = open_memstream(&errors, &size);
	int mistakes = 1;

	if (out != NULL) {
		mistakes = server_config_load_text(s->files.list[0].path, text->at, text->size,
						   &files, &s->devices, config, out);
		fclose(out);
	}
	if (mistakes > 0)
		snprintf(s->why, sizeof(s->why), "it has mistakes: %.*s",
			 errors != NULL ? (int)strcspn(errors, "\n") : 0, errors);
	free(errors);
	return mistakes == 0;
}

bool save_verify(struct saving *s, const struct secret_text *text) {
	struct server_config config = {0};
	struct undone undone = {0};
	char name[UNSAVED_NAME];
	bool good = load_text(s, text, &config);

	for (size_t n = 0; good && n < config.group_count; n++)
		good = compare_group(s, &config.groups[n], &undone);
	if (good)
		compare_missing(s, &config, &undone);
	if (good && undone.count > 0) {
		unsaved_name(undone.shown[0], name);
		snprintf(s->why, sizeof(s->why), "%s differs", name);
		good = false;
	}
	server_config_free(&config);
	return good;
}
