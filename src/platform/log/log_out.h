/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of the log. A reader that stops cannot block it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct log_out {
	int fd; /* the descriptor to write to */
	bool own; /* opened by log_out_open() */
	bool socket;
	bool stuck; /* a wait timed out: no further waits until the output is writable */
	bool partial; /* the last line was written in part */
};

/* Other processes may share `fd`. For nonblocking writes, pipes and terminals get a new open file
 * description, if the kernel allows it. */
void log_out_open(struct log_out *o, int fd);
void log_out_close(struct log_out *o);

/* Writes a line, which includes its newline. Returns false if it is lost. */
bool log_out_write(struct log_out *o, const char *line, size_t size);
