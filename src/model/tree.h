/* SPDX-License-Identifier: BSD-3-Clause */
/* A YAML file as a tree of nodes that know their lines. Nothing here knows what a key means. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/arena.h"
#include "model/errors.h"

enum node_type {
	NODE_SCALAR,
	NODE_LIST,
	NODE_MAP, /* children are key, value, key, value ... */
	NODE_ALIAS,
};

struct node {
	uint8_t type;
	bool bad; /* a mistake was reported here: the value is not to be relied on */
	uint32_t line; /* from 1; of several files as in errors.h */
	uint32_t length; /* bytes of a scalar; children of a list; pairs of a map */
	union {
		const char *text; /* NUL-terminated, and may hold NULs of its own */
		struct node *first;
		struct node *target;
	};
	struct node *next; /* sibling */
};

struct tree {
	struct arena *arena;
	struct node *root;
	uint64_t nodes;
};

/*
 * Reads the one document in `size` bytes of UTF-8 at `text`, whose lines count from `first`. Returns false after it has reported
 * exactly one mistake; the tree is to be given to tree_free() in either case. An alias never names
 * a node that holds it, so walking the tree ends (though an alias may multiply the work).
 */
bool tree_load(struct tree *tree, const char *text, size_t size, uint32_t first,
	       struct errors *errors);
void tree_free(struct tree *tree);

/*
 * Gives the lines of a node and of all that stands in it the numbers from `first` on; what it names by
 * aliases keeps its own. Returns the number behind its last line.
 */
uint32_t tree_renumber(struct node *node, uint32_t first);

/* The node itself, behind aliases. */
struct node *node_resolve(struct node *node);

/* The value of `key` in a map as it stands (perhaps an alias); NULL where there is none. */
struct node *node_present(const struct node *map, const char *key);

/* The value of `key`, behind aliases, unless it is missing or bad. */
struct node *node_field(const struct node *map, const char *key);

/* Is the key absent, or its value not bad? Then what was read, or its default, may be relied on. */
bool node_sound(const struct node *map, const char *key);
