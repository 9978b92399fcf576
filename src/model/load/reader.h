/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills structs from a YAML tree by the tables of keys.h, and reports values that a key does not
 * allow. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/arena.h"
#include "model/errors.h"
#include "model/keys/keys.h"
#include "model/tree.h"

struct reader {
	struct arena *arena; /* owns the lists and texts of the structs */
	struct errors *errors;
	/* remaining limit of values to visit; a value counts once for each alias that leads to
	 * it */
	uint64_t visits;
	/* the limit of visits or the memory is exhausted, and the error is reported */
	bool stopped;
};

/*
 * Reads `map` into the zeroed struct `object` of the table. Reports unknown, repeated and missing
 * keys. Values that a key does not allow stay zero, and their nodes become bad. Absent keys get
 * their defaults, except `optional` maps, which stay zero.
 */
void reader_read(struct reader *reader, const struct key *keys, struct node *map, void *object);

/* Reports unknown and repeated names in `map`, and in the maps inside it that a server file
 * merges. */
void reader_check_names(struct reader *reader, const struct key *keys, struct node *map);

/* Reads the value of one key like reader_read(); `up` is the path of its map. */
void reader_read_one(struct reader *reader, const struct key *key, struct node *value, void *object,
		     const struct path *up);
