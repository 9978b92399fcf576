/* SPDX-License-Identifier: BSD-3-Clause */
/* A YAML file as a tree of nodes with line numbers. The tree does not know what a key means. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/arena.h"
#include "model/errors.h"

#define TREE_TOO_DEEP "maps and lists in more than 16 levels"

enum node_type {
	NODE_SCALAR,
	NODE_LIST,
	NODE_MAP, /* children are key, value, key, value ... */
	NODE_ALIAS,
};

struct node {
	uint8_t type;
	bool bad; /* an error in the value was reported: do not use the value */
	uint32_t line; /* from 1; with several files as in errors.h */
	uint32_t length; /* bytes of a scalar, items of a list, or pairs of a map */
	union {
		const char *text; /* NUL-terminated, and may contain NULs */
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
 * Reads the one document in `size` bytes of UTF-8 at `text`; its lines count from `first`. Returns
 * false after it has reported exactly one error; the caller calls tree_free() in either case. An
 * alias never names a node that contains it, so walking the tree ends (though aliases may multiply
 * the work).
 */
bool tree_load(struct tree *tree, const char *text, size_t size, uint32_t first,
	       struct errors *errors);
void tree_free(struct tree *tree);

/* Numbers the lines of a node and all nodes in it from `first` on; nodes that its aliases name keep
 * their lines. Returns the number after its last line. */
uint32_t tree_renumber(struct node *node, uint32_t first);

/* Follows aliases to the node itself. */
struct node *node_resolve(struct node *node);

/* The value of `key` in a map, possibly an alias; NULL if there is none. */
struct node *node_present(const struct node *map, const char *key);

/* The value of `key` with aliases resolved; NULL if it is missing or bad. */
struct node *node_field(const struct node *map, const char *key);

/* Whether the struct has a valid value for the key: that of the file, or the default of an absent
 * key. */
bool node_is_valid(const struct node *map, const char *key);
