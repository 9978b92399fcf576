/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of an object as a client is told them, by the table that its file is read by. */
#pragma once

#include "model/arena.h"
#include "model/keys/keys.h"

/*
 * The table `keys` for what is told of an object in service: without secrets; `required` are those that it always has; sizes and
 * protocols are numbers; examples take the place of defaults. Behind them stand the rows of `more`; where one of these is a list
 * of maps that `keys` has, too, the keys of its items stand behind those of the list's. NULL: no memory in `arena`.
 */
const struct key *keys_told(struct arena *arena, const struct key *keys, const struct key *more);
