/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a load, so that the next load need not read unchanged groups again. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/layouts.h"
#include "model/server_config.h"
#include "model/tree.h"

/* A hash of 256 bits over all input. It does not protect against intended collisions. */
struct digest {
	uint64_t state[4];
};

void digest_text(struct digest *digest, const char *text, size_t size);

/* Adds a node and all nodes in it, without their lines. Returns false if there are too many. */
bool digest_node(struct digest *digest, struct node *node);

/* Adds the device names that override those of all groups. */
void digest_devices(struct digest *digest, const struct server_devices *devices, size_t groups);

/* The record of a group that has a file of its own, or is a part of a divided file (parts.h). */
struct load_cache_group {
	bool own_file; /* the other members are valid */
	/* during a load: the group is unchanged, and the previous load owns its memory */
	bool same;
	struct digest digest;
	struct thread_config threads; /* before cores were assigned */
	/* Keys of `threads` that the group's own file gives, and no other map. */
	bool own_layout, own_cores, own_main_core;
};

struct load_cache {
	struct server_config config;
	struct digest whole; /* of the server's file */
	bool own_files; /* a group has a file of its own */
	struct load_cache_group groups[SERVER_MAX_GROUPS];
	/* Digests of the parts of a divided file, see parts.h; else empty. */
	struct digest parts[SERVER_MAX_GROUPS];
	size_t part_count;
};

bool digest_same(const struct digest *a, const struct digest *b);
bool load_cache_group_same(const struct load_cache_group *before,
			   const struct load_cache_group *now);

/* Records the threads of a group that was read; the lines of its own file begin at `own_line`. */
void load_cache_record_threads(struct load_cache_group *kept, const struct placed_group *placed,
			       uint32_t own_line);

/* Sets the lines of a group that was not read again; `placed` has the lines from other maps. */
void load_cache_set_lines(const struct load_cache_group *kept, struct placed_group *placed,
			  uint32_t own_line);
