/* SPDX-License-Identifier: BSD-3-Clause */
/* What libraries print, line by line into the log. */
#pragma once

#include <stdio.h>

#include "platform/log/log.h"

/*
 * A stream whose lines are logged under `area`, of the level that `level` tells of each. NULL: no memory. To
 * be closed by fclose(), before the log is.
 */
FILE *log_stream_open(const char *area, enum log_level (*level)(void));
