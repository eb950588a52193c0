/* Calls every function with each choice of each of its arguments, the others as usual.
 *
 *     every FORMAT STATE RECORDS safe|hazardous [FUNCTION]
 *
 * Each function has fresh files and a process of its own; each hazardous call too. */
#include "arguments.h"
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int format, has_records;
static enum state state;

static void start(const struct function *function)
{
    use_fixture(format, state, has_records);
    /* Until they are stored, types that variables have take more members in the original. */
    if (strncmp(function->name, "nc_insert_", strlen("nc_insert_")) == 0)
        nc_sync(fixture.ids[0]);
}

static void safe_calls(const struct function *function)
{
    struct choices choices;
    start(function);
    call_function(function, (struct plan){USUAL, 0, 0}, &choices);
    for (int argument = 0; argument < choices.arguments; argument++)
        for (int choice = 1; choice < choices.safe[argument]; choice++)
            call_function(function, (struct plan){VARIED, argument, choice}, NULL);
    leave_fixture();
}

/* One hazardous call; false where the function has no more of them. */
static int hazardous_call(const struct function *function, int number)
{
    struct choices choices;
    start(function);
    call_function(function, (struct plan){USUAL, 0, 0}, &choices);
    for (int argument = 0; argument < choices.arguments; argument++)
        for (int hazard = 0; hazard < choices.hazardous[argument]; hazard++)
            if (number-- == 0) {
                int choice = choices.safe[argument] + hazard;
                call_function(function, (struct plan){VARIED, argument, choice}, NULL);
                return 1;
            }
    return 0;
}

/* Runs in a process of its own; false where that says there is no more. */
static int apart(const struct function *function, int number)
{
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        exit(3);
    if (child == 0) {
        /* In single calls the original may walk through memory that is not its own for as long as it likes. */
        alarm(number < 0 ? 60 : 10);
        if (number < 0)
            safe_calls(function);
        _exit(number < 0 || hazardous_call(function, number) ? 0 : 1);
    }
    int ended;
    if (waitpid(child, &ended, 0) != child)
        exit(3);
    if (WIFSIGNALED(ended) || (WIFEXITED(ended) && WEXITSTATUS(ended) > 1)) {
        log_add("%s: died", function->name);
        log_end();
    }
    return !(WIFEXITED(ended) && WEXITSTATUS(ended) == 1);
}

int main(int count, char **arguments)
{
    if (count < 5)
        return 2;
    format = atoi(arguments[1]);
    state = (enum state)atoi(arguments[2]);
    has_records = atoi(arguments[3]);
    int hazardous = strcmp(arguments[4], "hazardous") == 0;
    use_one_cache();
    for (size_t i = 0; i < function_count; i++) {
        if (count > 5 && strcmp(arguments[5], functions[i].name) != 0)
            continue;
        log_add("== %s", functions[i].name);
        log_end();
        for (int number = 0; hazardous && apart(&functions[i], number);)
            number++;
        if (!hazardous)
            apart(&functions[i], -1);
    }
    return 0;
}
