/* SPDX-License-Identifier: BSD-3-Clause */
/* Where lines go, though nobody may read them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct log_out {
	int fd; /* that it writes to */
	bool own; /* opened here */
	bool socket;
	bool stuck; /* it was waited for in vain: it is not again before it takes something */
	bool torn; /* the last line is there in part */
};

/*
 * `fd` is others', too: what is to be written without waiting gets a description of its own where the kernel gives
 * one, as it does for pipes and terminals.
 */
void log_out_open(struct log_out *o, int fd);
void log_out_close(struct log_out *o);

/* A line with its end. Returns false where it was not taken: it is lost. */
bool log_out_write(struct log_out *o, const char *line, size_t size);
