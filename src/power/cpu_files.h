/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files below /sys/devices/system/cpu, or below another folder: small texts, each read or written as a whole.
 * Nothing outside of that folder is reached, whatever a name or a link says. Tests have functions of their own in
 * the place of files, as drivers round, clamp and refuse what a plain file takes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_FILES_ROOT "/sys/devices/system/cpu"
#define CPU_FILES_TEXT 4096 /* bytes of a text with its end; the kernel has no longer ones */
#define CPU_FILES_NAME 128 /* bytes of a name below the root, with its end */

struct cpu_files {
	/* Both return 0 or a negative errno. What was read has no white space at its end, and no control characters. */
	int (*read)(void *ctx, const char *name, char *text, size_t size);
	int (*write)(void *ctx, const char *name, const char *text);
	void *ctx;
	int folder; /* the root, open; of cpu_files_open() */
};

/* Those below `root`. Returns 0 or a negative errno. To be closed by cpu_files_close(). */
int cpu_files_open(struct cpu_files *f, const char *root);

/* Harmless on a zeroed one. */
void cpu_files_close(struct cpu_files *f);

/* "cpu3/cpufreq/KEY" */
int cpu_files_read(const struct cpu_files *f, unsigned core, const char *key, char *text,
		   size_t size);
int cpu_files_write(const struct cpu_files *f, unsigned core, const char *key, const char *text);

/* A number of kHz, or 0 where none is told: no such file, or something else in it. */
uint32_t cpu_files_read_khz(const struct cpu_files *f, unsigned core, const char *key);
int cpu_files_write_khz(const struct cpu_files *f, unsigned core, const char *key, uint32_t khz);

/* The same of any text: digits alone, up to CPU_FILES_MOST_KHZ; 0 of anything else. */
#define CPU_FILES_MOST_KHZ 100000000u /* 100 GHz */
uint32_t cpu_files_parse_khz(const char *text);
