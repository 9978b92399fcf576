/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a listening TCP socket for "ADDRESS:PORT": numeric IPv4 or [IPv6]; an empty address means all of IPv4. */
#pragma once

#include <stddef.h>

#define LISTEN_TEXT 80 /* "[address]:port" */

/* Returns the nonblocking socket, and its address in `where`; or -1 after a message. */
int listen_open(const char *address, char where[LISTEN_TEXT], int *family);
