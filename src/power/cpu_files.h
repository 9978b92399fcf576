/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files below /sys/devices/system/cpu, or below another folder: small texts, each read or written as a whole.
 * Names and links cannot reach files outside of the folder. Tests supply functions instead of files, as
 * drivers round, clamp and refuse what a plain file accepts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_FILES_ROOT "/sys/devices/system/cpu"
#define CPU_FILES_TEXT 4096 /* bytes of a text with its terminator; kernel files are not longer */
#define CPU_FILES_NAME 128 /* bytes of a name below the root, with its terminator */

struct cpu_files {
	/* Both return 0 or a negative errno. Texts that were read have no trailing white space and no control
	 * characters. */
	int (*read)(void *ctx, const char *name, char *text, size_t size);
	int (*write)(void *ctx, const char *name, const char *text);
	void *ctx;
	int folder; /* descriptor of the root, from cpu_files_open() */
};

/* Opens the files below `root`. Returns 0 or a negative errno. Close with cpu_files_close(). */
int cpu_files_open(struct cpu_files *f, const char *root);

/* Does nothing if zeroed. */
void cpu_files_close(struct cpu_files *f);

/* Access the file "cpu3/cpufreq/KEY". */
int cpu_files_read(const struct cpu_files *f, unsigned core, const char *key, char *text,
		   size_t size);
int cpu_files_write(const struct cpu_files *f, unsigned core, const char *key, const char *text);

/* Returns kHz, or 0 if the file is missing or has no such number. */
uint32_t cpu_files_read_khz(const struct cpu_files *f, unsigned core, const char *key);
int cpu_files_write_khz(const struct cpu_files *f, unsigned core, const char *key, uint32_t khz);

/* Parses kHz from a text: digits only, up to CPU_FILES_MAX_KHZ; 0 for anything else. */
#define CPU_FILES_MAX_KHZ 100000000u /* 100 GHz */
uint32_t cpu_files_parse_khz(const char *text);
