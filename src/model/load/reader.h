/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills structs from a YAML tree by the tables of keys.h, and reports what does not fit them. */
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
	uint64_t visits; /* values that may still be visited, those behind aliases every time */
	bool stopped; /* out of visits or memory; reported */
};

/*
 * Reads `map` into `object`, which is zeroed and laid out as the table says. Values that do not fit
 * keep zero and their nodes become bad. Absent keys take their defaults.
 */
void reader_read(struct reader *reader, const struct key *keys, struct node *map, void *object);

/* Reports the names in `map` that are no keys or come again, also in maps that are put together. */
void reader_check_names(struct reader *reader, const struct key *keys, struct node *map);

/* The value of one key, as reader_read() takes it; `up` is where its map stands. */
void reader_read_one(struct reader *reader, const struct key *key, struct node *value, void *object,
		     const struct path *up);

/* Reports what `node` says, where it cannot be a value of `key`. */
void reader_refuse(struct reader *reader, struct node *node, const struct path *path,
		   const struct key *key);
