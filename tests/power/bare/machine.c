/* SPDX-License-Identifier: BSD-3-Clause */
/* Support for tests on a bare emulated CPU: output by its printer port, registers, and the fault handler. */
#include "bare.h"

#define PRINTER_PORT 0x378 /* Bochs writes its output to a file */
#define PRINTER_CONTROL 0x37a
#define PRINTER_ON 0x0c
#define PRINTER_STROBE 0x0d
#define SHUTDOWN_PORT 0x8900
#define FLAG_CARRY 1u
#define FLAGS_ARITHMETIC 0x8d5u /* cleared by TPAUSE: OF, SF, ZF, AF, PF, CF */
#define INVALID_OPCODE 6
#define TPAUSE_BYTES 4

volatile struct faults faults;
volatile bool emulated_limited;
static uint32_t failed;

/* In the order in which start.S pushes them. The general registers are numbered as in instructions. */
struct registers {
	uint64_t general[16];
	uint64_t vector, code;
	uint64_t rip, cs, flags, rsp, ss;
};

enum general { RAX, RCX, RDX };

void trap(struct registers *registers);
void run_bare(void);

static void out(uint16_t port, char byte) {
	__asm__ volatile("outb %0, %1" : : "a"(byte), "d"(port));
}

void print(const char *text) {
	for (; *text; text++) {
		out(PRINTER_PORT, *text);
		out(PRINTER_CONTROL, PRINTER_STROBE);
		out(PRINTER_CONTROL, PRINTER_ON);
	}
}

void print_number(uint64_t number) {
	char digits[21], *first = digits + sizeof(digits) - 1;

	*first = 0;
	do
		*--first = (char)('0' + number % 10);
	while (number /= 10);
	print(first);
}

void check(const char *what, bool passed, uint64_t value) {
	print(passed ? "ok: " : "FAILED: ");
	print(what);
	print(" (");
	print_number(value);
	print(")\n");
	failed += !passed;
}

uint32_t checks_failed(void) {
	return failed;
}

uint64_t read_msr(uint32_t number) {
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(number));
	return (uint64_t)high << 32 | low;
}

void write_msr(uint32_t number, uint64_t value) {
	__asm__ volatile("wrmsr"
			 :
			 : "c"(number), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)));
}

struct cpuid cpuid(uint32_t leaf, uint32_t subleaf) {
	struct cpuid result;

	__asm__ volatile("cpuid"
			 : "=a"(result.eax), "=b"(result.ebx), "=c"(result.ecx), "=d"(result.edx)
			 : "a"(leaf), "c"(subleaf));
	return result;
}

void power_off(void) {
	for (const char *word = "Shutdown"; *word; word++)
		out(SHUTDOWN_PORT, *word);
	for (;;)
		__asm__ volatile("hlt");
}

/* 66 0f ae /6 with a register, by the Intel SDM, independent of the code under test. */
static bool is_tpause(const uint8_t *code) {
	return code[0] == 0x66 && code[1] == 0x0f && code[2] == 0xae && code[3] >> 3 == 0x1e;
}

/* Handles #UD and #GP of TPAUSE: records its operands, skips it, and after #UD returns the flag that the test chose. */
void trap(struct registers *registers) {
	const uint8_t *code = (const uint8_t *)registers->rip;

	if (!is_tpause(code)) {
		print("FAILED: unexpected fault at ");
		print_number(registers->rip);
		print(", vector ");
		print_number(registers->vector);
		print("\n");
		power_off();
	}
	faults.state = (uint32_t)registers->general[code[3] & 7];
	faults.deadline = registers->general[RDX] << 32 | (uint32_t)registers->general[RAX];
	registers->flags &= ~(uint64_t)FLAGS_ARITHMETIC;
	if (registers->vector == INVALID_OPCODE) {
		faults.invalid++;
		registers->flags |= emulated_limited ? FLAG_CARRY : 0;
	} else {
		faults.protection++;
	}
	registers->rip += TPAUSE_BYTES;
}
