/* A clock that stands still, preloaded into programs that write the time of day into files: two runs of a
 * program, seconds apart, then write the same. Timers go on, as they ask other functions. */
#include <time.h>

/* 2026-01-02 03:04:05 UTC. */
static const time_t stopped = 1767323045;

time_t time(time_t *into)
{
    if (into)
        *into = stopped;
    return stopped;
}
