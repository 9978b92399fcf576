/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether the user of the service can read the configuration. Root can read every file, so that its check of a
 * file says nothing about the service. */
#pragma once

/* If this process is root and `path` is in the folder of the service's configuration, /etc/vcmts, prints a line to
 * stderr unless the user vcmts can read it. Without such a user, and for other users, does nothing. */
void check_reader(const char *path);
