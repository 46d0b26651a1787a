/* device.h - a program for a device with memory of its own: which steps run there, in which memory each buffer lies,
 * the copies between memories, and when the host waits. Knows nothing of offsets and text.
 *
 * The host's one thread goes through the steps by number. A step of the device, or a copy from or to it, it only puts
 * into the device's stream, which works in order; a step of its own it runs at once. So whatever the host does comes
 * before all that it puts into the stream later, and only in one case must it wait: before it touches memory that a
 * copy still in the stream reads or writes (waits.c). */
#ifndef OCC_DEVICE_DEVICE_H
#define OCC_DEVICE_DEVICE_H

#include "program/options.h"
#include "program/program.h"

/* The memories of a program for a device, in the order of the plan's regions. */
enum { MEMORY_DEVICE, MEMORY_PINNED, MEMORY_HOST, MEMORIES };

/* Bytes at the start of the device's constants that hold the code of the first kernel that failed, and of its copy in
 * pinned memory. */
enum { STATUS_BYTES = 256 };

/* No limit to the size of a memory is known. */
#define MEMORY_BYTES ((int64_t)1 << 50)

/* The options of a program for a device. Returns 0, or -1 with a message where one cannot be served
 * (device_options.c). */
int device_options(const Options *from, Options *to, Diag *diag);

/* Nodes whose steps run on the host: names of nodes, or of their results (placement.c). */
typedef struct Placement {
    const char **name;
    int          count, capacity;
} Placement;

/* Reads the file of --place. Returns 0, or -1 with a message: it cannot be read, or the model has no such name. */
int  placement_read(Placement *placement, const Model *model, const char *path, Diag *diag);
bool placement_is_of_host(const Placement *placement, const Step *step);

/* Gives every step its home (home.c). placement NULL: no node is told to stay on the host. */
void program_find_homes(Program *program, Placing placing, const Placement *placement);

/* Why that home will be the host, in words for the report; NULL: it will be the device. */
const char *step_host_reason(const Program *program, const Step *step, Placing placing, const Placement *placement);

/* Gives every buffer its memory: what steps of both sides touch exists twice, and steps copy it where one side needs
 * what the other has written. State lies on the device if some step there touches it, or if `state_there`. Each step
 * has an operand array of its own afterwards (copies.c). */
void program_add_copies(Program *program, int io_arena, bool io_device, bool state_there);

/* Turns the constants that steps on the device read into windows of resident blocks: of one, but for those that are
 * read at run-time offsets, which have one each. Where kernels may fail, that one begins with the code of the first
 * that did, of which pinned memory has a copy. Behind program_add_copies (resident.c). */
void program_make_resident(Program *program);

/* Decides before which steps the host waits for the device (waits.c). */
void program_find_host_waits(Program *program);

/* Moves the host's copies from and to the caller's memory to both ends of the program, behind the steps that set
 * run-time extents; where the host has steps of its own, to both ends of what stands between two of these (graph.c). */
void program_gather_staging(Program *program);

/* Finds the loops that a graph can hold, and marks their steps (captured.c). */
void program_capture_loops(Program *program);

/* Finds the loops that a row can hold whose branches the device decides by these conditions (by slot; buffer -1: none),
 * and marks their steps (captured.c). */
void program_unroll_loops(Program *program, const Operand *condition);

/* The most steps that the host goes through for such a loop and what stands beside it, those of all iterations: open
 * walks them once, and CUDA keeps a node for each that the device is given. At the 1.5 to 2 us that a launch takes on
 * an H100 they delay open by some 15 ms. */
enum { MOST_WALKED = 8192 };

/* The steps that the host goes through in a range, all iterations counted, at the largest extents; saturates. given:
 * only those that it gives the device, which are the nodes of a graph. */
int64_t program_walked(const Program *program, Range range, bool given);

/* Whether run-time integers are set outside of captured loops: then a graph is of their values. */
bool program_has_open_extents(const Program *program);

/* Finds the steps that become one graph, or stretches of them that become a graph each (graph.c). */
void program_find_graph(Program *program);

/* The fewest steps of a stretch. On an H100 a launch of a graph takes 2.5 to 5 us of the host, one of a kernel 1.5 to
 * 2: from four steps on a graph takes no longer (4 * 1.5 > 5). */
enum { LEAST_STRETCH = 4 };

/* The number of the stretch that begins with a step; -1: none does. */
int program_stretch_at(const Program *program, int step);

/* Whether the device is given the step, and it touches no memory of the caller's (graph.c). */
bool step_has_fixed_places(const Program *program, const Step *step);

/* Whether each time the host gives the device this step it has the same addresses, sizes and arguments, in each
 * iteration of a captured loop those of this iteration (graph.c). */
bool step_never_changes(const Program *program, const Step *step);

/* Finds the rows of steps whose branches the device can decide (decided.c), each of which gets its condition on the
 * device as an operand; before the program is planned. */
void program_find_decided(Program *program);

/* The number of the row that begins with a step, or -1; whether a step is in one. */
int  program_decided_at(const Program *program, int step);
bool program_decides_without_host(const Program *program, int step);

/* The graphs of a row of the program: the one of all that the device does, or those of its stretches. *steps: what the
 * device is given in all of them; *nodes: likewise, in all iterations of captured loops, at most. */
int program_graphs(const Program *program, Range row, int *steps, int64_t *nodes);

/* In a row of the program (flow_rows): from the first outermost step that the device is given, or that holds one,
 * behind the last; empty where there is none. */
Range program_device_range(const Program *program, Range row);

/* Checks copies between memories again, before planning lets two tensors share a buffer (recheck_copies.c). Returns 0,
 * or -1 with a message (a bug of occamyc). */
int program_recheck_copies(const Program *program, Diag *diag);

/* Checks homes, memories and waits again, step by step (recheck_device.c). Returns 0, or -1 with a message (a bug of
 * occamyc). */
int program_recheck_device(const Program *program, const Plan *plan, Diag *diag);

/* Blocks of so many threads that a step with a kernel of the device's own can keep busy (grid.c). tensor: tensor cores
 * multiply its factors, if they are such as these can */
int64_t twin_blocks(const Step *step, int threads, bool tensor);

/* The step's kernel has this name, or is one of a family whose names begin with it and an underscore. */
bool step_is_of(const Step *step, const char *name);

/* Whether the device's own kernel of a step can count its places, at the largest extents (twin_limits.c). */
bool twin_holds(const Step *step);

/* A convolution whose weights are [output][tap][input], perhaps one that an engine of a library may compute. */
bool step_is_krsc(const Step *step);

/* A stack of products of two computed matrices of floats, perhaps one that a library may compute. */
bool step_is_product(const Step *step);

/* Two blocks of the step's kernel should find room in a processor, at the cost of registers. */
bool twin_in_pairs(const Step *step);

/* The step runs on the device. */
static inline bool step_on_device(const Step *step)
{
    return step->kind == STEP_KERNEL && step->home != HOME_NONE && step->home != HOME_HOST;
}

/* The host computes a run-time integer from others, or checks one. */
static inline bool step_is_of_extents(const Step *step)
{
    return step->kind == STEP_SET || step->kind == STEP_CHECK;
}

/* All that the device is given in a run is one graph. */
static inline bool program_has_graph(const Program *program)
{
    return program->graph.begin < program->graph.end;
}

/* The graph depends on run-time integers, so that `open` cannot make it. */
static inline bool program_has_open_graph(const Program *program)
{
    return program_has_graph(program) && program_has_open_extents(program);
}

/* The memory that a buffer lies in; MEMORIES: the caller's, or in the source. */
int buffer_memory(const Program *program, int buffer);

/* Bytes of the buffers of a kind, but those that lie on a device. */
int64_t program_bytes_on_host(const Program *program, BufferKind kind);

/* The first BUFFER_RESIDENT of a memory; -1: there is none. */
int program_resident(const Program *program, int memory);

/* The offset of a constant in a resident block, which gets it if it has no equal one yet. */
int64_t program_place_resident(Program *program, int resident, int weight);

/* Bytes of the constants in the device's memory. */
int64_t program_constant_bytes(const Program *program);

/* A copy that the device's stream makes; another one is the host's own. */
bool step_is_transfer(const Program *program, const Step *step);

/* Whether some step on the device may fail. */
bool program_device_fails(const Program *program);

#endif
