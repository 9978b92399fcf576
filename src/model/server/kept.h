/* SPDX-License-Identifier: BSD-3-Clause */
/* What is remembered of a load, so that the next one need not read what is the same. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/layouts.h"
#include "model/server_config.h"
#include "model/tree.h"

/* 256 bits of all that was said. Not against those who look for two texts with the same one. */
struct digest {
	uint64_t lane[4];
};

void digest_text(struct digest *digest, const char *text, size_t size);

/* A node with all that stands in it, but its lines. False where that is too much to look at. */
bool digest_node(struct digest *digest, struct node *node);

/* Names of devices that all groups have. */
void digest_devices(struct digest *digest, const struct server_devices *devices, size_t groups);

/* Of a group that has a file of its own. */
struct kept_group {
	bool own_file; /* and the rest is known */
	bool same; /* while a load lasts: its memory is still that of the load before */
	struct digest digest;
	struct thread_config threads; /* before they were dealt out */
	/* What its own file says of threads, not what stands elsewhere. */
	bool own_layout, own_cores, own_main_core;
};

struct kept_groups {
	struct server_config config;
	struct digest whole; /* of the server's file */
	bool own_files; /* some group has one */
	struct kept_group groups[SERVER_MAX_GROUPS];
	/* Of a file that was divided, see parts.h; else none. */
	struct digest parts[SERVER_MAX_GROUPS];
	size_t part_count;
};

bool digest_same(const struct digest *a, const struct digest *b);
bool kept_same(const struct kept_group *before, const struct kept_group *now);

/* What there is to know of a group that was read; its own file's lines begin at `own_line`. */
void kept_threads(struct kept_group *kept, const struct placed_group *placed, uint32_t own_line);

/* Lines of a group that was not read: `placed` has those from elsewhere. */
void kept_place(const struct kept_group *kept, struct placed_group *placed, uint32_t own_line);
