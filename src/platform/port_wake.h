/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wakes a thread that sleeps, or waits by UMWAIT, when a packet arrives: by interrupts of receive queues, or
 * the address of the next descriptor. Not every driver supports them; net_memif supports neither.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether ports that are configured from now on request receive queue interrupts. */
void port_wakes_enable(bool enable);
bool port_wakes_enabled(void);

/* Adds the interrupt of a started port's queue to the epoll set `epoll`, until it is removed or the port
 * stops. Returns whether the driver supports it. A queue can be in one set only. */
bool port_wake_add(uint16_t id, uint16_t queue, int epoll);
void port_wake_remove(uint16_t id, uint16_t queue, int epoll);

/* Arm and disarm the interrupt around a sleep. Poll the queue once after arming. */
void port_wake_arm(uint16_t id, uint16_t queue);
void port_wake_disarm(uint16_t id, uint16_t queue);

/* Clears pending events. */
void port_wakes_clear(int epoll);

/* Whether a thread can wait for the queue's next descriptor; and the wait, at most until the TSC is `deadline`. */
bool port_can_monitor(uint16_t id, uint16_t queue);
void port_monitor(uint16_t id, uint16_t queue, uint64_t deadline);
