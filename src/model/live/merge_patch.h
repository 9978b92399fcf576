/* SPDX-License-Identifier: BSD-3-Clause */
/* A JSON merge patch (RFC 7396), with a word for items of lists. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

/*
 * Makes `target`, an object, what `patch`, an object, says: null removes a key, an object goes into the object there,
 * all else replaces what there is. Where `target` has a list of items with an `id` and `patch` an object, its
 * names are ids: {"service_flows": {"17": {"priority": 3}, "18": null}} changes one and removes another; an id that
 * is not there comes behind the others. Returns false without memory: `target` is then of no use.
 */
bool merge_patch(json_t *target, json_t *patch);
