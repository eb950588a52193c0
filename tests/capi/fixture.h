/* The files that calls are made on. */
#ifndef FIXTURE_H
#define FIXTURE_H

enum { MOST_IDS = 24 };

/* Ids that calls are made with: the file first, then the other file, then groups and what was opened. */
extern struct fixture {
    int format, has_records;
    int ids[MOST_IDS], id_count;
    int closed; /* an id that no file has any more */
} fixture;

/* Remembers the id that a function gave, where it gave one; or closes what that function opened. */
void learn_ids(const char *function, const void *memory, int remember);

#endif
