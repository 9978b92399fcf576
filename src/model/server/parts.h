/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Presents a server's file as one whose groups have files of their own, so that
 * server_config_reload() need not read unchanged groups. The text is divided where items of the
 * list begin. That is safe in a plain file, such as `vcmts profile` writes. A file in which a value
 * ends, or may end, after its line is not divided.
 */
#pragma once

#include "model/server/load_cache.h"
#include "model/server_config.h"

struct server_part {
	const char *text; /* in the source, from the line of its dash */
	size_t size;
	struct digest digest;
};

struct server_parts {
	struct server_part list[SERVER_MAX_GROUPS];
	size_t count;
	struct server_files files;
	struct server_source source; /* the source to load instead of the divided one */
	char *text; /* of `source` */
};

/*
 * Divides a source, whose text must outlive `p`. Parts that are the same as in `before` (NULL:
 * none) are known to be plain. Returns false if the source cannot be divided, or memory is short.
 * The caller calls server_parts_free() in either case.
 */
bool server_parts_divide(struct server_parts *p, const struct server_source *source,
			 const struct load_cache *before);

void server_parts_free(struct server_parts *p);

/* Records the parts for the next load. */
void server_parts_keep(const struct server_parts *p, struct load_cache *kept);
