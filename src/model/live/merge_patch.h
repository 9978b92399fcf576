/* SPDX-License-Identifier: BSD-3-Clause */
/* A JSON merge patch (RFC 7396), extended to items of lists. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

/*
 * Applies `patch` to `target`, both objects: null removes a key, an object is merged into an
 * object, any other value replaces. Where `target` has a list of items with an `id` and `patch` an
 * object, its names are IDs: {"service_flows": {"17": {"priority": 3}, "18": null}} changes one
 * item and removes another; an unknown ID is appended. Returns false if memory is short; then
 * `target` is unusable.
 */
bool merge_patch(json_t *target, json_t *patch);
