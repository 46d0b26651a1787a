/* lanes.c - who runs which step. */
#include "emit/lanes.h"

#include "device/device.h"

int lane_count(const Program *p)
{
    return p->language == LANGUAGE_DEVICE ? DEVICE_LANES : p->nqueue > 1 ? p->nqueue : 0;
}

const char *lane_name(const Program *p, int lane)
{
    static const char *const name[DEVICE_LANES] = {
        [LANE_HOST] = "host", [LANE_DEVICE] = "device", [LANE_COPIES] = "copies"};

    return p->language == LANGUAGE_DEVICE ? name[lane] : arena_printf(p->arena, "queue %d", lane);
}

int lane_of(const Program *p, const Step *step)
{
    if (p->language != LANGUAGE_DEVICE)
        return step->queue;
    return step_on_device(step) ? LANE_DEVICE : step_is_transfer(p, step) ? LANE_COPIES : LANE_HOST;
}

int64_t copy_bytes(const Program *p, const Step *step)
{
    return p->buffer[step->operand[0].buffer].size;
}

const char *memory_name(const Program *p, const PlanOptions *options, int memory)
{
    static const char *const name[MEMORIES] = {
        [MEMORY_DEVICE] = "device", [MEMORY_PINNED] = "pinned", [MEMORY_HOST] = "host"};

    return p->language == LANGUAGE_DEVICE ? name[memory] : options->region[memory].name;
}
