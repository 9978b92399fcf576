/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig's end behind the R-PHY port, for the rig itself. */
#pragma once

#include <stdbool.h>

/* Notes whose flows the numbers are; those that close have theirs until then. */
void rig_flows_note(bool closed);

/* A reader for each channel that is there. */
void rig_readers_make(void);

/* Channels of the list that come or differ have come or differ; those that go are gone. */
void rig_readers_change(void);
void rig_readers_end(void);
