/* SPDX-License-Identifier: BSD-3-Clause */
/* What libraries print, line by line into the log. */
#pragma once

#include <stdio.h>

#include "platform/log/log.h"

/*
 * A stream whose lines are logged under `area`, of the level that `level` tells of each; NULL: errors. NULL: no
 * memory. To be closed by fclose(), before the log is.
 */
FILE *log_stream_open(const char *area, enum log_level (*level)(void));

/* From now on what is printed to `stderr` is logged, and as it was again. Where memory is short, and with other C
 * libraries than glibc, it remains as it is. By one thread, while no other prints. */
void log_stderr_take(void);
void log_stderr_give_back(void);

/* The stream for what people read behind the service, such as the report: it waits for its reader. */
FILE *log_people(void);
