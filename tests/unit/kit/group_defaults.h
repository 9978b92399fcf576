/* SPDX-License-Identifier: BSD-3-Clause */
/* Defaults of the configuration for service groups that tests and fuzz targets build without a file. */
#pragma once

#include "model/service_group.h"

/* Sets each member that is 0 to the default of its key, in the group and in the items of its lists. Bools, strings and
 * choices with a value 0 stay. The upstream scheduler's map gets defaults if `scheduled` is set. Values that the loader
 * derives from several keys, such as a flow's burst, are not set. A test that needs the number 0 sets it afterwards. */
void service_group_set_defaults(struct service_group *sg);
