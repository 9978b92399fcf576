/* SPDX-License-Identifier: BSD-3-Clause */
/* Support for tests on a CPU without an operating system: output to the emulator, MSRs, CPUID and expected faults. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Faults that trap() handled. A fault of any other instruction than TPAUSE ends the test. */
struct faults {
	uint32_t invalid; /* number of #UD: the CPU has no TPAUSE */
	uint32_t protection; /* number of #GP: invalid operand of TPAUSE */
	uint32_t state; /* operands of the last TPAUSE that faulted */
	uint64_t deadline;
};

extern volatile struct faults faults;
/* The carry flag that trap() returns from a TPAUSE that it emulates. */
extern volatile bool emulated_limited;

void print(const char *text);
void print_number(uint64_t number);

/* Prints one line with the result and `value`, and counts failures. */
void check(const char *what, bool passed, uint64_t value);
uint32_t checks_failed(void);

uint64_t read_msr(uint32_t number);
void write_msr(uint32_t number, uint64_t value);

struct cpuid {
	uint32_t eax, ebx, ecx, edx;
};
struct cpuid cpuid(uint32_t leaf, uint32_t subleaf);

/* Switches the machine off. */
void power_off(void);
