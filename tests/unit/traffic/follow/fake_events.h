/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between two configurations, as the objects of the events that tell it. */
#pragma once

#include <jansson.h>

/* A list of maps with `group`, `kind`, `action` and `object`, in an order in which they can be made. */
json_t *fake_events(const json_t *before, const json_t *after);
