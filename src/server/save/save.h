/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes changes that requests have made (unsaved.h) to the configuration file. The text of the file
 * changes where objects differ, and keeps comments, order and further edits elsewhere. Only a file
 * that cannot be changed in place gets a new text, from the configuration in service.
 */
#pragma once

#include <stdbool.h>

#include "server/reload.h"
#include "server/server.h"

struct save_result {
	char line[RELOAD_LINE]; /* a summary, or the reason of a refusal */
	bool comments; /* the text was changed in place; else it is new */
};

/*
 * Saves to the file of `r`, and to own files of its groups; or to `path`, which must not exist.
 * Files are replaced at once by new ones of the same owner and mode; a new file has mode 0600, as it
 * may have keys. Before that, the new text is loaded and compared with the groups in service. After
 * a save to the file of `r`, its changes are no longer unsaved. Returns false with the reason in
 * `line`; then no file has changed, unless the reason names one. For the control thread alone.
 */
bool server_save(struct server *s, const struct reload *r, const char *path,
		 struct save_result *result);
