/* SPDX-License-Identifier: BSD-3-Clause */
/* The link of a port, and requests of the system to remove its device. Called by the control
 * thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Watches an open port for removal: the kernel requests a VFIO device, or the driver reports that the device
 * is gone. A further call for the same port forgets earlier requests. */
void port_watch(uint16_t id);

/* Whether the removal was requested or reported since port_watch(). Cheap. */
bool port_must_release(uint16_t id);

/* Asks the driver, which may read a register, whether the device is gone. */
bool port_is_removed(uint16_t id);

/* Asks the driver for the link state, without waiting. */
bool port_has_link(uint16_t id);

/* Whether sent packets stay in the queue until the link is up. That is so for net_memif without a peer. */
bool port_waits_for_link(uint16_t id);

/* Closes a port that no worker uses and detaches its device, so that the kernel can remove it. The
 * device may be gone. port_plug() can add it again. */
void port_detach(uint16_t id);
