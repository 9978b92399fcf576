/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server's file whose groups stand in it as they are, seen as one whose groups have files of their own: what is
 * the same as the last time need not be read then (again.c). The text is divided where items of the list begin, which
 * is safe in a file that is written as plainly as `vcmts profile` writes it: whatever ends behind its line, or could,
 * is not divided.
 */
#pragma once

#include "model/server/kept.h"
#include "model/server_config.h"

struct server_part {
	const char *text; /* of the source, without the dash that it begins with */
	size_t size;
	struct digest digest;
};

struct server_parts {
	struct server_part list[SERVER_MAX_GROUPS];
	size_t count;
	struct server_files files;
	struct server_source source; /* to be loaded in the place of the one that was divided */
	char *text; /* of it */
};

/*
 * Divides a source, whose text must live on. What is the same as in `before` (NULL: nothing) was found to be plain
 * then. Returns false where it is not to be divided, or without memory. To be freed by server_parts_free() in
 * either case.
 */
bool server_parts_divide(struct server_parts *p, const struct server_source *source,
			 const struct kept_groups *before);

void server_parts_free(struct server_parts *p);

/* Notes what is there, for the next time. */
void server_parts_keep(const struct server_parts *p, struct kept_groups *kept);
