/* The ROM of the emulated machine, in place of a BIOS: from the reset vector to the 32-bit entry of a Linux kernel, which it
   reads from the first disk a sector at a time ("The Linux/x86 Boot Protocol", 32-bit boot protocol). LOADS says what to
   read, in threes: first sector, sectors, address; PARAMETERS is the address of the boot parameters, KERNEL that of the entry. */
#define BASE 0xffff0000
#define HERE(label) BASE + (label - _start)
        .code16
        .globl  _start
_start: cli
        cld
        lgdtl   %cs:segments_pointer - _start
        movl    $0x11, %eax                     /* protected mode, no paging */
        movl    %eax, %cr0
        ljmpl   $0x10, $HERE(flat)
        .code32
flat:   movl    $0x18, %eax
        movl    %eax, %ds
        movl    %eax, %es
        movl    %eax, %ss
        movl    $HERE(loads), %esi
load:   movl    (%esi), %ebx                    /* the next sector */
        movl    4(%esi), %ebp                   /* sectors left */
        movl    8(%esi), %edi                   /* where to */
        testl   %ebp, %ebp
        jz      enter
sector: movw    $0x1f2, %dx                     /* one sector, its number in four ports, then READ SECTORS */
        movb    $1, %al
        outb    %al, %dx
        movl    %ebx, %eax
        incw    %dx
        outb    %al, %dx
        shrl    $8, %eax
        incw    %dx
        outb    %al, %dx
        shrl    $8, %eax
        incw    %dx
        outb    %al, %dx
        shrl    $8, %eax
        orb     $0xe0, %al
        incw    %dx
        outb    %al, %dx
        movb    $0x20, %al
        incw    %dx
        outb    %al, %dx
busy:   inb     %dx, %al
        testb   $0x80, %al
        jnz     busy
        testb   $8, %al
        jz      busy
        movw    $0x1f0, %dx
        movl    $256, %ecx
        rep insw
        incl    %ebx
        decl    %ebp
        jnz     sector
        addl    $12, %esi
        jmp     load
enter:  movl    $PARAMETERS, %esi
        xorl    %ebx, %ebx
        xorl    %edi, %edi
        movl    $KERNEL, %eax
        jmp     *%eax

        .balign 8
segments:                                       /* code at 0x10 and data at 0x18, both of all 4 GiB */
        .quad   0, 0, 0x00cf9b000000ffff, 0x00cf93000000ffff
segments_pointer:
        .word   31
        .long   HERE(segments)
        .balign 4
loads:  .long   LOADS, 0, 0, 0
        .org    0xfff0
        .code16
        jmp     _start
        .org    0x10000
