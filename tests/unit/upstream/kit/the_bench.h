/* SPDX-License-Identifier: BSD-3-Clause */
/* The bench of a program that has one. */
#pragma once

#include "upstream_bench.h"

static struct upstream_bench storage, *const bench = &storage;
