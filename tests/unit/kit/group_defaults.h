/* SPDX-License-Identifier: BSD-3-Clause */
/* Defaults of the key table for service groups that tests and fuzz targets make without a file. */
#pragma once

#include "model/service_group.h"

/*
 * Gives each zero of the group, and of all items of its lists, the default of its key. A bool and a choice stay where
 * zero is one of their values, texts stay NULL, and the upstream scheduler's map needs `scheduled`. Values that
 * follow from several keys, as a flow's burst, are the loader's. A test that means the number 0 sets it afterwards.
 */
void service_group_defaults(struct service_group *sg);
