/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine with nothing on it: lines to the emulator, registers of the CPU, and faults that are expected. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What `trap` met; a fault of anything but a TPAUSE ends the machine. */
struct faults {
	uint32_t invalid; /* TPAUSEs that the CPU does not know: #UD */
	uint32_t protection; /* TPAUSEs that it refused: #GP */
	uint32_t state; /* of the last one: its register */
	uint64_t deadline;
};

extern volatile struct faults faults;
/* The flag of a TPAUSE that is not known to the CPU, which `trap` stands in for. */
extern volatile bool play_limited;

void say(const char *text);
void say_number(uint64_t number);

/* One line a check, and what was seen where it failed. */
void check(const char *what, bool held, uint64_t seen);
uint32_t checks_failed(void);

uint64_t read_msr(uint32_t number);
void write_msr(uint32_t number, uint64_t value);

struct cpuid {
	uint32_t eax, ebx, ecx, edx;
};
struct cpuid cpuid(uint32_t leaf, uint32_t subleaf);

/* Switches the machine off. */
void power_off(void);
