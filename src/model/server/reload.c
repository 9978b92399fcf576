/* SPDX-License-Identifier: BSD-3-Clause */
/* Reloads a configuration and reads only the changed groups. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "model/file.h"
#include "model/load/loader.h"
#include "model/server/parts.h"
#include "model/server/server_reader.h"
#include "platform/secret/secret_memory.h"

/* Reads the changed groups only. Returns the number of errors, and does not print them. */
static int load_changed(const struct server_source *source, const struct load_cache *before,
			struct load_cache *kept) {
	char *text = NULL;
	size_t size;
	FILE *quiet = open_memstream(&text, &size);
	int count = 1;

	if (quiet == NULL)
		return count;
	count = server_load(source, before, kept, &kept->config, quiet);
	fclose(quiet);
	free(text);
	return count;
}

/* Error messages need line numbers of the whole file, so after an error the whole file is read. */
static int load_next(const struct server_source *source, const struct load_cache *before,
		     struct load_cache *kept, FILE *errors) {
	struct server_parts parts;
	int count = 1;

	if (server_parts_divide(&parts, source, before)) {
		count = load_changed(&parts.source, before, kept);
		server_parts_keep(&parts, kept);
	} else if (before != NULL) {
		count = load_changed(source, before, kept);
	}
	server_parts_free(&parts);
	if (count > 0) {
		*kept = (struct load_cache){.whole = kept->whole};
		count = server_load(source, NULL, kept, &kept->config, errors);
	}
	return count;
}

const struct server_config *server_config_reload_text(struct load_cache **kept,
						      const struct server_source *source,
						      FILE *errors) {
	struct load_cache *before = *kept, *next = calloc(1, sizeof(*next));

	if (next == NULL) {
		fprintf(errors, "%s: no memory left\n", source->name);
		return NULL;
	}
	digest_text(&next->whole, source->name, strlen(source->name));
	digest_text(&next->whole, source->text, source->size);
	digest_devices(&next->whole, source->devices, 0);
	if (before != NULL && !before->own_files && digest_same(&before->whole, &next->whole)) {
		free(next);
		return &before->config;
	}
	if (load_next(source, before, next, errors) > 0) {
		free(next);
		return NULL;
	}
	for (size_t g = 0; g < next->config.group_count; g++) {
		next->own_files =
			next->own_files || (next->groups[g].own_file && next->part_count == 0);
		if (next->groups[g].same) /* the next configuration owns its memory */
			before->config.groups[g].arena = NULL;
		next->groups[g].same = false;
	}
	server_config_free_cache(before);
	*kept = next;
	return &next->config;
}

void server_config_release(struct load_cache **kept) {
	struct load_cache *k = *kept;

	if (k == NULL)
		return;
	for (size_t g = 0; g < k->config.group_count; g++) {
		if (!k->groups[g].own_file)
			service_group_free(&k->config.groups[g]);
	}
	if (!k->own_files && k->part_count == 0) {
		server_config_free_cache(k);
		*kept = NULL;
	}
	malloc_trim(0);
}

void server_config_free_cache(struct load_cache *kept) {
	if (kept != NULL)
		server_config_free(&kept->config);
	free(kept);
}

const struct server_config *server_config_reload(struct load_cache **kept, const char *path,
						 const struct server_devices *devices,
						 FILE *errors) {
	struct server_source source = {
		.name = path, .files = &server_files_on_disk, .devices = devices};
	const struct server_config *config = NULL;
	char *text = file_read_or_print(path, true, &source.size, errors);

	source.text = text;
	if (text != NULL)
		config = server_config_reload_text(kept, &source, errors);
	secret_free(text);
	return config;
}
