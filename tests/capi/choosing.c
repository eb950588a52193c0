#include "choosing.h"
#include "fixture.h"

#include <stdint.h>
#include <string.h>

struct call call;

static uint64_t random_state;

void seed_choices(unsigned seed)
{
    random_state = seed * 2654435769u + 12345;
}

unsigned random_number(unsigned below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

int has(const char *part)
{
    return strstr(call.function, part) != NULL;
}

int is(const char *one, const char *other)
{
    return strcmp(one, other) == 0;
}

int is_hdf5(void)
{
    return fixture.format == NC_FORMAT_NETCDF4 || fixture.format == NC_FORMAT_NETCDF4_CLASSIC;
}

int is_sequence(void)
{
    return call.plan.strategy == RANDOM;
}

int choose(const char *argument, int right, int wrong, int hazardous)
{
    int index = call.choices.arguments++;
    call.choices.safe[index] = right + wrong;
    call.choices.hazardous[index] = hazardous;
    log_add("%s%s=", index ? ", " : "", argument);
    if (call.plan.strategy == VARIED && call.plan.argument == index) {
        call.hazard = call.plan.choice >= right + wrong;
        return call.plan.choice;
    }
    if (is_sequence()) {
        if (wrong && random_number(12) == 0)
            return right + (int)random_number((unsigned)wrong);
        return (int)random_number((unsigned)right);
    }
    return 0;
}

int call_function(const struct function *function, struct plan plan, struct choices *choices)
{
    memset(&call, 0, sizeof call);
    call.function = function->name;
    call.plan = plan;
    forget_given();
    log_add("%s(", function->name);
    function->call();
    if (choices)
        *choices = call.choices;
    return call.hazard;
}
