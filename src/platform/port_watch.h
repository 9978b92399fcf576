/* SPDX-License-Identifier: BSD-3-Clause */
/* The link of a port, and whether the system takes its device away. By the control thread, but where it says otherwise. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What is told of it from here on: the kernel asks for a device of VFIO, or the driver finds it gone. To be called once
 * it is open; harmless where that is known. */
void port_watch(uint16_t id);

/* Whether one of these was told since then. May be asked often. */
bool port_is_wanted_back(uint16_t id);

/* Asks the driver, which may read a register: whether the device is there no more. */
bool port_is_removed(uint16_t id);

/* Asks the driver for the link, without waiting for it. */
bool port_has_link(uint16_t id);

/* Whether what is sent waits for the link, as nobody is at the other end yet: that is so with net_memif. */
bool port_waits_for_link(uint16_t id);

/*
 * Closes a port that nobody uses any more, and lets its device go, so that the kernel can have it. The device need not
 * be there. It can be found again by port_plug().
 */
void port_give_back(uint16_t id);
