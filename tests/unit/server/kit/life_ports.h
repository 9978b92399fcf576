/* SPDX-License-Identifier: BSD-3-Clause */
/* The wires of a life_bench. */
#pragma once

#include "life_bench.h"

/* The far ends are started; what groups name is to be set up by the server. */
void life_ports_open(struct life_bench *b);

/* The server has closed its own. */
void life_ports_close(struct life_bench *b);
