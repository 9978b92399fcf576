/* SPDX-License-Identifier: BSD-3-Clause */
/* Names objects in messages about a request as the request names them: by ID, not by index. */
#pragma once

#include <jansson.h>

#include "model/live/live_group.h"

/* Rewrites each line "modem.service_flows[8].priority: TEXT" to "service flow 12 of modem
 * 02:00:00:00:00:01: priority: TEXT". `value` is the object that the message is about. */
void request_names(enum live_object object, const json_t *value, char why[LIVE_LINE]);
