/* SPDX-License-Identifier: BSD-3-Clause */
/* A stdio stream that logs the output of libraries line by line. */
#pragma once

#include <stdio.h>

#include "platform/log/log.h"

/* Opens a stream whose lines are logged under `area`; `level` returns the level of the current
 * line. Returns NULL without memory. Close with fclose() before the log is closed. */
FILE *log_stream_open(const char *area, enum log_level (*level)(void));
