/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tells a thread that sleeps, or waits by UMWAIT, that a packet came: interrupts of receive queues, and the
 * address of the next descriptor. Not every driver has either; net_memif has none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether ports that are set up from now on are asked for interrupts of their receive queues. */
void port_wakes_ask(bool ask);
bool port_wakes_asked(void);

/* Has packets of the queue of a started port wake who waits for the epoll set `epoll`, until it is removed again, or the
 * port stopped. Returns whether its driver can. A queue is in one set at a time. */
bool port_wake_add(uint16_t id, uint16_t queue, int epoll);
void port_wake_remove(uint16_t id, uint16_t queue, int epoll);

/* Around a sleep: what comes from now on wakes, and wakes no more. Who sleeps asks the queue once in between. */
void port_wake_arm(uint16_t id, uint16_t queue);
void port_wake_disarm(uint16_t id, uint16_t queue);

/* Takes note of what woke. */
void port_wakes_take(int epoll);

/* Whether one can wait for the next descriptor of the queue; and until then, or until the TSC is `deadline`. */
bool port_monitor_there(uint16_t id, uint16_t queue);
void port_monitor(uint16_t id, uint16_t queue, uint64_t deadline);
