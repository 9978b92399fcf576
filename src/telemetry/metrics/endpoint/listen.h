/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a listening TCP socket for "ADDRESS:PORT": numeric IPv4 or [IPv6]; an empty address means all of IPv4. */
#pragma once

#include <stddef.h>

#define LISTEN_TEXT 80 /* "[address]:port" */

/*
 * Returns the nonblocking socket, and its address in `where`. Returns -1 with `fault` 0 after a message if `address`
 * can never be used; or with an errno, without a message, if this machine does not permit it now: another process
 * may have the port, and an interface may get its address later.
 */
int listen_open(const char *address, char where[LISTEN_TEXT], int *family, int *fault);
