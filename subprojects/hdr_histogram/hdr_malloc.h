/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdlib.h>

#define hdr_malloc malloc
#define hdr_calloc calloc
#define hdr_realloc realloc
#define hdr_free free
