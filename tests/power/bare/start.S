/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ROM instead of a BIOS: switches from the reset vector to 64-bit mode and calls run_bare(). Variables and stack are
 * below 0x80000; the code runs from the ROM, in the last 64 KB of the first megabyte.
 */
#define SEGMENT 0xf0000
#define PAGES 0x1000 /* three tables that identity-map one page of 2 MB */
#define STACK 0x80000

#define CODE32 0x08
#define DATA 0x10
#define CODE64 0x18

#define CR0_PE 0x1
#define CR0_PG 0x80000000
#define CR4_PAE 0x20
#define MSR_MTRR_DEFAULT 0x2ff
#define MTRR_WRITE_BACK 0x806 /* enabled, all memory write-back: UMONITOR needs it */
#define MSR_EFER 0xc0000080
#define EFER_LME 0x100

	.section .reset, "ax"
	.code16
	ljmp $(SEGMENT >> 4), $(start16 - SEGMENT)

	.text
start16:
	cli
	lgdtl %cs:(gdt_register - SEGMENT)
	movl $CR0_PE, %eax
	movl %eax, %cr0
	ljmpl $CODE32, $start32

	.code32
start32:
	movw $DATA, %ax
	movw %ax, %ds
	movw %ax, %es
	movw %ax, %ss
	xorl %eax, %eax
	movl $PAGES, %edi
	movl $(STACK - PAGES) / 4, %ecx
	cld
	rep stosl
	movl $(PAGES + 0x1000 + 3), PAGES
	movl $(PAGES + 0x2000 + 3), PAGES + 0x1000
	movl $0x83, PAGES + 0x2000
	movl $MSR_MTRR_DEFAULT, %ecx
	movl $MTRR_WRITE_BACK, %eax
	xorl %edx, %edx
	wrmsr
	movl $CR4_PAE, %eax
	movl %eax, %cr4
	movl $PAGES, %eax
	movl %eax, %cr3
	movl $MSR_EFER, %ecx
	movl $EFER_LME, %eax
	wrmsr
	movl $(CR0_PG | CR0_PE), %eax
	movl %eax, %cr0
	ljmpl $CODE64, $start64

	.code64
start64:
	movl $STACK, %esp
	lidt idt_register
	call run_bare
1:	hlt
	jmp 1b

/* Both faults call trap() with the saved registers. #UD has no error code, so 0 is pushed. */
invalid_opcode:
	pushq $0
	pushq $6
	jmp 1f
protection:
	pushq $13
1:
	.irp register, r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rsp, rbx, rdx, rcx, rax
	pushq %\register
	.endr
	movq %rsp, %rdi
	call trap
	.irp register, rax, rcx, rdx, rbx
	popq %\register
	.endr
	addq $8, %rsp
	.irp register, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
	popq %\register
	.endr
	addq $16, %rsp
	iretq

	.balign 8
gdt:
	.quad 0
	.quad 0x00cf9b000000ffff
	.quad 0x00cf93000000ffff
	.quad 0x00af9b000000ffff
gdt_register:
	.word . - gdt - 1
	.long gdt

	.macro gate handler
	.word \handler - SEGMENT, CODE64, 0x8e00, SEGMENT >> 16
	.long 0, 0
	.endm
	.balign 8
idt:
	.fill 6 * 2, 8, 0 /* any other fault causes a triple fault */
	gate invalid_opcode
	.fill 6 * 2, 8, 0
	gate protection
idt_register:
	.word . - idt - 1
	.quad idt
