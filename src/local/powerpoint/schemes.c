/* SPDX-License-Identifier: MIT */
/* The schemes of colors that agents know by name. */
#include "base/cleanup.h"
#include "local/powerpoint/tools.h"

const char *const scheme_roles[SCHEME_ROLES] = {"primary",        "secondary",   "accent1",
                                                "accent2",        "light",       "text",
                                                "gradient_start", "gradient_end"};

static const struct {
    const char *name, *rgb[SCHEME_ROLES];
} schemes[] = {
    {"modern_blue",
     {"0078D7", "282828", "00B0F0", "FFC000", "F7F7F7", "444444", "00B0F0", "0078D7"}},
    {"corporate_gray",
     {"444444", "0078D7", "595959", "D9D9D9", "F2F2F2", "333333", "D9D9D9", "595959"}},
    {"elegant_green",
     {"468847", "FFFFFF", "92D050", "70AD47", "EEECE1", "595959", "92D050", "468847"}},
    {"warm_red", {"C0504D", "444444", "E67E22", "F1C40F", "FDFDFD", "2C3E50", "F1C40F", "C0504D"}},
};

size_t scheme_count(void)
{
    return ARRAY_LEN(schemes);
}

const char *scheme_name(size_t i)
{
    return schemes[i].name;
}

const char *scheme_color(struct str scheme, struct str role)
{
    size_t which = 0;

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        if (str_is(scheme, schemes[i].name))
            which = i;
    }
    for (size_t i = 0; i < SCHEME_ROLES; i++) {
        if (str_is(role, scheme_roles[i]))
            return schemes[which].rgb[i];
    }
    return schemes[which].rgb[0];
}
