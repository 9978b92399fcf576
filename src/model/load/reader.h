/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fills structs from a YAML tree by the tables of keys.h, and reports values that do not fit them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/arena.h"
#include "model/errors.h"
#include "model/keys/keys.h"
#include "model/tree.h"

struct reader {
	struct arena *arena; /* owns what is read */
	struct errors *errors;
	/* values that may still be visited; those behind aliases count each time */
	uint64_t visits;
	bool stopped; /* visits or memory ran out; reported */
};

/* Reads `map` into `object`, which is zeroed and laid out as in the table. Values that do not fit
 * stay zero, and their nodes become bad. Absent keys get their defaults. */
void reader_read(struct reader *reader, const struct key *keys, struct node *map, void *object);

/* Reports unknown and repeated names in `map`, also in maps that are merged. */
void reader_check_names(struct reader *reader, const struct key *keys, struct node *map);

/* Reads the value of one key like reader_read(); `up` is the path of its map. */
void reader_read_one(struct reader *reader, const struct key *key, struct node *value, void *object,
		     const struct path *up);

/* Reports that the value of `node` does not fit `key`. */
void reader_refuse(struct reader *reader, struct node *node, const struct path *path,
		   const struct key *key);
