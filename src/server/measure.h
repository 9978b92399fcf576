/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switches the measurement of stage cycles and packet latency. The control thread alone calls these
 * functions; a running worker applies them between two rounds. Figures count from when the
 * measurement was switched on, and remain when it is switched off.
 */
#pragma once

#include "server/server.h"

/* Switches cycle measurement of all stages, which is on after server_serve(). */
void server_account(struct server *s, bool on);

/* Switches latency measurement, which is off after server_serve(). Returns 0, or -1 and logs the
 * reason if memory is short; then nothing has changed. */
int server_latency(struct server *s, bool on);

/* Apply the server's settings to a group that is added, and to the share of a port. The first
 * returns as server_latency(). */
int server_measure_group(struct server *s, unsigned group);
void server_measure_share(struct server *s, struct port_share *share);

/* How long the figures were measured, ms. Threads other than the control thread hold the server's
 * lock. */
uint64_t server_measured_ms(const struct server *s, const struct server_measure *m);
