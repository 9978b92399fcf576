/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors that a reader adds. `up` is the path of the map; NULL: the top. */
#pragma once

#include <stdint.h>

#include "model/load/reader.h"

/* Reports that the map lacks `key`, with the values that the key allows. */
void reader_report_missing(struct reader *reader, const struct node *map, const struct path *up,
			   const struct key *key);

/* Reports a name that is none of `keys`, with a similar key or all of them. Hides a name that may be
 * a secret. */
void reader_report_unknown(struct reader *reader, struct node *name, const struct path *up,
			   const struct key *keys);

/* Reports that the map at `up` has `key` a second time at `line`. */
void reader_report_repeated(struct errors *errors, uint32_t line, const struct path *up,
			    const char *key, uint32_t first);

/* Reports that `key` does not allow the value of `node`, and marks the node as bad. */
void reader_refuse(struct reader *reader, struct node *node, const struct path *path,
		   const struct key *key);
