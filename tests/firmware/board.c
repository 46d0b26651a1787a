/* board.c - runs a model once on an emulated board and tells its status, the stack that it touched and its outputs in
 * hexadecimal. The model's arena, inputs and outputs come from case.h, which measure.py writes. Knows nothing of what
 * it computes. */
#include <stdint.h>
#include <string.h>

#include "case.h"

enum { STACK_BYTES = 128 * 1024, PAINT = 0xa5 };

extern uint32_t board_data[], board_data_end[], board_data_from[], board_bss[], board_bss_end[], board_stack_top[];
void            board_start(void);
void            board_count_from(void);
void            board_count_to(void);
int             main(void);

/* --------------------------------------------------------------------------------- what the emulator offers */

/* Arm's semihosting: 4 prints a text, 0x18 ends the program. */
static void semihost(uint32_t operation, const void *argument)
{
    register uint32_t    r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void print(const char *text)
{
    semihost(4, text);
}

static void print_hex(const uint8_t *bytes, uint32_t count)
{
    static const char digit[] = "0123456789abcdef";
    char              line[65];

    for (uint32_t i = 0, n = 0; i < count; i++) {
        line[n++] = digit[bytes[i] >> 4];
        line[n++] = digit[bytes[i] & 15];
        if (n == sizeof line - 1 || i + 1 == count) {
            line[n] = 0;
            print(line);
            n = 0;
        }
    }
    print("\n");
}

/* Most significant byte first, as a number is read. */
static void print_number(const char *name, uint32_t value)
{
    const uint8_t byte[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};

    print(name);
    print_hex(byte, sizeof byte);
}

/* ----------------------------------------------------------------------------------------- the measurement */

/* Two marks that the counter knows by their addresses. */
__attribute__((noinline)) void board_count_from(void)
{
    __asm__ volatile("nop");
}

__attribute__((noinline)) void board_count_to(void)
{
    __asm__ volatile("nop");
}

/* Bytes below the stack pointer that the run changed: painted before, searched from the far end afterwards. */
__attribute__((noinline)) static uint32_t run_case(int *status)
{
    volatile uint8_t *top, *low;

    __asm__ volatile("mov %0, sp" : "=r"(top));
    low = top - STACK_BYTES;
    for (volatile uint8_t *p = low; p < top; p++)
        *p = PAINT;
    board_count_from();
    *status = CASE_RUN(&case_memory, &case_inputs, &case_outputs);
    board_count_to();
    while (low < top && *low == PAINT)
        low++;
    return (uint32_t)(top - low);
}

int main(void)
{
    int            status = 0;
    const uint32_t stack = run_case(&status);

    print_number("status ", (uint32_t)status);
    print_number("stack ", stack);
    for (uint32_t i = 0; i < sizeof case_output / sizeof *case_output; i++) {
        print("output ");
        print_hex(case_output[i].bytes, case_output[i].count);
    }
    semihost(0x18, (const void *)0x20026);
    return 0;
}

/* ------------------------------------------------------------------------------------------------- the start */

void board_start(void)
{
    memcpy(board_data, board_data_from, (size_t)((char *)board_data_end - (char *)board_data));
    memset(board_bss, 0, (size_t)((char *)board_bss_end - (char *)board_bss));
    *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20; /* the floating-point unit; without effect where there is none */
    __asm__ volatile("dsb\n\tisb");
    main();
}

static void board_fault(void)
{
    print("fault\n");
    semihost(0x18, (const void *)0x20023);
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static const void *const board_vectors[16] = {
    board_stack_top,           (const void *)board_start, (const void *)board_fault, (const void *)board_fault,
    (const void *)board_fault, (const void *)board_fault, (const void *)board_fault,
};
