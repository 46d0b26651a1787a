/* queue.h - inside the fake CUDA runtime: memory blocks, and operations that wait for each other. Knows nothing of
 * streams, events and graphs, which are ways to say what waits for what. */
#ifndef OCC_FAKE_QUEUE_H
#define OCC_FAKE_QUEUE_H

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fake.h"

namespace fake
{

/* ---------------------------------------------------------------------------------------------------------- memory */

enum Place { DEVICE, PINNED, CALLER };

/* Pages of one block. The block ends where the pages end, so that the page behind it, which nobody may touch, shows
 * what goes too far. */
struct Block {
    char  *pages, *at;
    size_t mapped, bytes;
    Place  place;
};

Block *take_block(size_t bytes, Place place); /* poison: 0xff */
void   give_block(Block *block);
Block *block_of(const void *at);                           /* that holds this byte, or NULL */
bool   lies_in(const void *at, size_t bytes, Place place); /* all of it in one block of that place */
void   show_device(bool shown);                            /* may be read and written, or not at all */
void   show_callers(bool shown);

/* ------------------------------------------------------------------------------------------------------ operations */

struct Work {
    FakeKind              kind;
    std::string           name;
    size_t                bytes;
    std::function<void()> run;
    char                 *host; /* pinned bytes that it reads or writes: rows x width, `pitch` apart; or NULL */
    size_t                pitch, width, rows;
};

/* A moment: this operation is done. Operation 0 always is. `end`: when, on the virtual clock. */
struct Moment {
    int64_t op = 0, end = 0;
};

void   count(const Work &work); /* adds it to the counts of operations */
Moment enqueue(const Work &work, const std::vector<Moment> &after, int stream);
bool   is_done(Moment moment);
void   wait_for(Moment moment); /* runs pending operations in any allowed order until it is done */
void   run_some(Moment moment); /* runs at most a few of them, for a host that only asks */
void   wait_for_all(void);

/* ----------------------------------------------------------------------------------------------------------- state */

struct State {
    FakeSettings              settings;
    FakeCounts                counts;
    cudaError_t               last_error;
    std::map<char *, Block *> blocks; /* by their first byte */
    std::vector<FakeSpan>     timeline;
    std::set<std::string>     names;             /* of the timeline */
    int64_t                   engine[FAKE_MARK]; /* when each is free again */
    uint64_t                  random;
};
extern State state;

uint32_t draw(uint32_t n);

/* A misuse of the runtime. */
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

void forget_operations(void);

} // namespace fake

#endif
