/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects at random, with the keys of a file. */
#pragma once

#include "world.h"

/* The object of this number for a request; what it refers to is of the model. To be freed by json_decref(). */
json_t *item_make(struct world *w, const struct op *op, unsigned number);

/* Addresses of a modem, which no other modem of the bench has. */
json_t *item_addresses(struct world *w, unsigned group, unsigned modem);

/* So many bytes as hexadecimal digits. */
void item_hex(struct world *w, char *text, unsigned bytes);
