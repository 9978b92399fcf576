/* SPDX-License-Identifier: BSD-3-Clause */
/* Exit statuses of all programs, beside 0 (docs/command-line.md). */
#pragma once

#define EXIT_FAILED 1 /* no, or refused: failed while running */
#define EXIT_USAGE 2 /* wrong arguments or configuration */
