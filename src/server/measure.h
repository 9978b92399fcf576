/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is measured on request: cycles of stages, and how long packets stay. By the control thread, while workers run
 * or not: each worker switches what it runs between two of its rounds. Figures are those since it was switched on, and
 * stay when it is switched off.
 */
#pragma once

#include "server/server.h"

/* Whether the cycles of all stages are measured; they are after server_serve(). Nothing happens where it is so. */
void server_account(struct server *s, bool on);

/* Whether it is measured how long packets stay; it is not after server_serve(). Returns 0, or -1 after a message when
 * memory is short: then nothing was changed. */
int server_latency(struct server *s, bool on);

/* For a group that comes, and the share of a port: what the server measures, they do. The first returns as above. */
int server_measure_group(struct server *s, unsigned group);
void server_measure_share(struct server *s, struct port_share *share);

/* For how long the figures were measured, ms. Under the lock, where it is another thread. */
uint64_t server_measured_ms(const struct server *s, const struct server_measure *m);
