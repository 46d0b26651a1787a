/* count.c - a plugin of QEMU: how many instructions run from the first one of a function until the first of another.
 *   -plugin libcount.so,from=ADDRESS,to=ADDRESS[,profile=FILE]
 * `from` and `to` are addresses in hexadecimal; the program calls both functions once. Prints "instructions N" at the
 * end. With profile=FILE a line "ADDRESS COUNT" of each instruction that ran between them is written there.
 * Debian's package has no header of the interface (version 1, QEMU 4.2 to 8.2): what is used of it is declared here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t           qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { ADD_U64 = 0, NO_REGISTERS = 0 };

typedef void (*TranslateFn)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*ExecuteFn)(unsigned cpu, void *data);
typedef void (*ExitFn)(qemu_plugin_id_t id, void *data);
void     qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, TranslateFn fn);
void     qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, ExecuteFn fn, int flags, void *data);
void     qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int op, void *counter, uint64_t add);
void     qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, ExitFn fn, void *data);
size_t   qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);

extern __attribute__((visibility("default"))) int qemu_plugin_version;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                                               char **argv);
int                                        qemu_plugin_version = 1;

enum { CODE_BYTES = 4 << 20 }; /* the board's code memory starts at address 0 */

/* The interface hands its callbacks no place for state: one program runs, then the process ends. */
static uint64_t    total, began, ended, from, to;
static uint64_t    ran[CODE_BYTES / 2], ran_before[CODE_BYTES / 2]; /* by address / 2 */
static const char *profile;

static void begin(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    began = total;
    memcpy(ran_before, ran, sizeof ran);
}

static void end(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    ended = total;
    for (size_t i = 0; i < sizeof ran / sizeof *ran; i++)
        ran_before[i] = ran[i] - ran_before[i];
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
        const uint64_t           address = qemu_plugin_insn_vaddr(insn);
        if (address == from || address == to)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, address == from ? begin : end, NO_REGISTERS, NULL);
        qemu_plugin_register_vcpu_insn_exec_inline(insn, ADD_U64, &total, 1);
        if (profile && address < CODE_BYTES)
            qemu_plugin_register_vcpu_insn_exec_inline(insn, ADD_U64, &ran[address / 2], 1);
    }
}

static void finish(qemu_plugin_id_t id, void *data)
{
    FILE *file = profile ? fopen(profile, "w") : NULL;

    (void)id, (void)data;
    fprintf(stderr, "instructions %" PRIu64 "\n", ended - began);
    for (size_t i = 0; file && i < sizeof ran / sizeof *ran; i++)
        if (ran_before[i])
            fprintf(file, "%zx %" PRIu64 "\n", 2 * i, ran_before[i]);
    if (file)
        fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "from=", 5))
            from = strtoull(argv[i] + 5, NULL, 16);
        else if (!strncmp(argv[i], "to=", 3))
            to = strtoull(argv[i] + 3, NULL, 16);
        else if (!strncmp(argv[i], "profile=", 8))
            profile = strdup(argv[i] + 8);
        else
            return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
