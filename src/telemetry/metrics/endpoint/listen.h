/* SPDX-License-Identifier: BSD-3-Clause */
/* A listening TCP socket for "ADDRESS:PORT": IPv4 or [IPv6] in digits; an empty address stands for all of IPv4. */
#pragma once

#include <stddef.h>

#define LISTEN_TEXT 80 /* "[address]:port" */

/* Returns the socket, which does not block, and tells in `where` what it listens on; or -1 after a message. */
int listen_open(const char *address, char where[LISTEN_TEXT], int *family);
