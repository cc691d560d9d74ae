/* SPDX-License-Identifier: MIT */
/* The server "desktop-commander": its settings, which last as long as this program, and what it
 * counts. Files, searches, edits and processes are in files of their own. */
#include "local/commander/commander.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "local/kit/servers.h"
#include "local/kit/shell_words.h"

enum { SETTINGS_MAX = 64 << 10, LISTED_MAX = 5 };

enum kind { FILES, TERMINAL, EDITING, SEARCH, CONFIG, PROCESS, KIND_COUNT };

static const char *const kind_names[KIND_COUNT] = {"Filesystem", "Terminal", "Editing",
                                                   "Search",     "Config",   "Process"};

static const char default_settings[] =
    "{\"blockedCommands\":[\"mkfs\",\"format\",\"mount\",\"umount\",\"fdisk\",\"dd\",\"parted\","
    "\"diskpart\",\"sudo\",\"su\",\"passwd\",\"adduser\",\"useradd\",\"usermod\",\"groupadd\","
    "\"chsh\",\"visudo\",\"shutdown\",\"reboot\",\"halt\",\"poweroff\",\"init\",\"iptables\","
    "\"firewall\",\"netsh\",\"sfc\",\"bcdedit\",\"reg\",\"net\",\"sc\",\"runas\",\"cipher\","
    "\"takeown\"],\"defaultShell\":\"/bin/sh\",\"telemetryEnabled\":false,"
    "\"fileWriteLineLimit\":50,\"fileReadLineLimit\":1000}";

static struct {
    pthread_mutex_t lock;
    char *text; /* the settings as JSON; NULL: as they are at first */
    unsigned n_tool[64], n_failed, n_calls;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- settings ---- */

/* A copy in C's arena. */
static struct json *settings(struct local_call *c)
{
    (void)pthread_mutex_lock(&state.lock);
    struct str text = arena_str(&c->arena, str_of(state.text ? state.text : default_settings));
    (void)pthread_mutex_unlock(&state.lock);
    struct json *v = json_parse(&c->arena, text, NULL, NULL);
    if (v && !json_get(v, "allowedDirectories")) {
        struct json *dirs = json_new_array(&c->arena);
        (void)json_push(&c->arena, dirs, json_new_str(&c->arena, str_of(c->local->root)));
        (void)json_set(&c->arena, v, "allowedDirectories", dirs);
    }
    return v;
}

static bool keep_settings(const struct json *v)
{
    auto_buf struct buf b = BUF_INIT(SETTINGS_MAX);

    if (json_write(&b, v, JSON_COMPACT) < 0)
        return false;
    char *copy = strndup(b.p, b.len);
    (void)pthread_mutex_lock(&state.lock);
    if (copy) {
        free(state.text);
        state.text = copy;
    }
    (void)pthread_mutex_unlock(&state.lock);
    return copy;
}

static struct str pretty(struct local_call *c, const struct json *v)
{
    auto_buf struct buf b = BUF_INIT(SETTINGS_MAX * 4);

    (void)json_write(&b, v, JSON_PRETTY);
    return arena_str(&c->arena, buf_str(&b));
}

static void get_config(struct local_call *c)
{
    local_textf(c, "Current configuration:\n" STR_FMT, STR_ARG(pretty(c, settings(c))));
}

static void set_config_value(struct local_call *c)
{
    struct str key = local_str(c, "key");
    const struct json *value = json_get(c->args, "value");
    struct json *all = settings(c);

    if (key.len == 0 || key.len > 100) {
        local_fail(c, "Error: key is required");
        return;
    }
    if (value)
        (void)json_set_str(&c->arena, all, key, value);
    if (!keep_settings(all)) {
        local_fail(c, "Error: the settings have more than %d bytes", SETTINGS_MAX);
        return;
    }
    local_textf(c,
                "Successfully set " STR_FMT " to " STR_FMT "\n\nUpdated configuration:\n" STR_FMT,
                STR_ARG(key), STR_ARG(value ? pretty(c, value) : STR("undefined")),
                STR_ARG(pretty(c, all)));
}

/* ---- what settings allow ---- */

static bool is_path_below(struct str path, struct str dir)
{
    while (dir.len > 1 && dir.p[dir.len - 1] == '/')
        dir = str_slice(dir, 0, dir.len - 1);
    return str_is(dir, "/") ||
           (str_starts(path, dir) && (path.len == dir.len || path.p[dir.len] == '/'));
}

/* Absolute, links followed as far as there is something. */
static const char *resolve_given_path(struct local_call *c, struct str given)
{
    char real[PATH_MAX];
    struct str path;

    if (str_is(given, "~") || str_starts(given, STR("~/")))
        path = arena_printf(&c->arena, "%s" STR_FMT, c->local->home, STR_ARG(str_skip(given, 1)));
    else if (given.len == 0 || given.p[0] != '/')
        path = arena_printf(&c->arena, "%s/" STR_FMT, c->local->root, STR_ARG(given));
    else
        path = arena_str(&c->arena, given);
    if (!path.p || path.len >= PATH_MAX || memchr(path.p, '\0', path.len))
        return NULL;
    if (realpath(path.p, real))
        return arena_strdup(&c->arena, real);
    char *cut = arena_strdup(&c->arena, path.p);
    for (char *slash = cut ? strrchr(cut, '/') : NULL; slash; slash = strrchr(cut, '/')) {
        *slash = '\0';
        if (realpath(cut[0] ? cut : "/", real))
            return strstr(path.p + (slash - cut), "/..")
                       ? NULL
                       : arena_printf(&c->arena, "%s%s", strcmp(real, "/") == 0 ? "" : real,
                                      path.p + (slash - cut))
                             .p;
    }
    return NULL;
}

const char *commander_check(struct local_call *c, struct str given, struct str *why)
{
    auto_buf struct buf list = BUF_INIT(SETTINGS_MAX);
    const struct json *dirs = json_get(settings(c), "allowedDirectories");
    const char *path = resolve_given_path(c, given);
    bool is_allowed = dirs && dirs->n == 0;

    for (size_t i = 0; dirs && i < dirs->n; i++) {
        struct str dir = json_str(json_at(dirs, i), STR(""));
        is_allowed = is_allowed || (path && dir.len > 0 && is_path_below(str_of(path), dir));
        (void)buf_add_str(&list, i > 0 ? STR(", ") : STR(""));
        (void)buf_add_str(&list, dir);
    }
    if (path && is_allowed)
        return path;
    *why = arena_printf(&c->arena,
                        "Path not allowed: " STR_FMT
                        ". Must be within one of these directories: " STR_FMT,
                        STR_ARG(given), STR_ARG(buf_str(&list)));
    return NULL;
}

const char *commander_path(struct local_call *c, struct str given)
{
    struct str why = STR_NULL;
    const char *path = commander_check(c, given, &why);

    if (!path)
        local_fail(c, "Error: " STR_FMT, STR_ARG(why));
    return path;
}

void commander_fail(struct local_call *c, int code, const char *what, const char *path)
{
    local_fail(c, "Error: " STR_FMT, STR_ARG(path_error(c, code, what, path, NULL)));
}

static bool is_blocked(const struct json *blocked, struct str part, struct arena *a)
{
    const char *why;
    size_t n;
    const char **words = words_split(a, part, &n, &why);

    for (size_t i = 0; words && n > 0 && blocked && i < blocked->n; i++) {
        const char *base = strrchr(words[0], '/');
        if (str_is(json_str(json_at(blocked, i), STR("")), base ? base + 1 : words[0]))
            return true;
    }
    return false;
}

bool commander_may_run(struct local_call *c, struct str command)
{
    const struct json *blocked = json_get(settings(c), "blockedCommands");

    while (command.len > 0) {
        size_t n = 0;
        while (n < command.len && !strchr("|&;\n", command.p[n]))
            n++;
        if (is_blocked(blocked, str_slice(command, 0, n), &c->arena))
            return false;
        command = str_skip(command, n + 1);
    }
    return true;
}

/* ---- the tools, and what is counted of them ---- */

static void get_usage_stats(struct local_call *c);

static void give_feedback(struct local_call *c)
{
    local_text(c, STR("Feedback cannot be sent from this sandbox: no browser can be opened here."));
}

/* Name, kind, function. */
#define TOOLS(X)                                                                                   \
    X("get_config", CONFIG, get_config)                                                            \
    X("set_config_value", CONFIG, set_config_value)                                                \
    X("read_file", FILES, commander_read_file)                                                     \
    X("read_multiple_files", FILES, commander_read_multiple_files)                                 \
    X("write_file", FILES, commander_write_file)                                                   \
    X("create_directory", FILES, commander_create_directory)                                       \
    X("list_directory", FILES, commander_list_directory)                                           \
    X("move_file", FILES, commander_move_file)                                                     \
    X("search_files", SEARCH, commander_search_files)                                              \
    X("search_code", SEARCH, commander_search_code)                                                \
    X("get_file_info", FILES, commander_get_file_info)                                             \
    X("edit_block", EDITING, commander_edit_block)                                                 \
    X("start_process", TERMINAL, commander_start_process)                                          \
    X("read_process_output", TERMINAL, commander_read_process_output)                              \
    X("interact_with_process", TERMINAL, commander_interact_with_process)                          \
    X("force_terminate", TERMINAL, commander_force_terminate)                                      \
    X("list_sessions", TERMINAL, commander_list_sessions)                                          \
    X("list_processes", PROCESS, commander_list_processes)                                         \
    X("kill_process", PROCESS, commander_kill_process)                                             \
    X("get_usage_stats", CONFIG, get_usage_stats)                                                  \
    X("give_feedback_to_desktop_commander", CONFIG, give_feedback)

static const struct {
    const char *name;
    enum kind kind;
    void (*call)(struct local_call *c);
} counted[] = {
#define ROW(name, kind, call) {name, kind, call},
    TOOLS(ROW)
#undef ROW
};

/* The most used ones, "name: 3, name: 2". */
static struct str most_used(struct local_call *c, const unsigned *n_tool)
{
    auto_buf struct buf b = BUF_INIT(1024);
    bool is_said[ARRAY_LEN(counted)] = {false};

    for (int k = 0; k < LISTED_MAX; k++) {
        size_t best = ARRAY_LEN(counted);
        for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
            if (n_tool[i] > 0 && !is_said[i] &&
                (best == ARRAY_LEN(counted) || n_tool[i] > n_tool[best]))
                best = i;
        }
        if (best == ARRAY_LEN(counted))
            break;
        is_said[best] = true;
        (void)buf_printf(&b, "%s%s: %u", k > 0 ? ", " : "", counted[best].name, n_tool[best]);
    }
    return arena_str(&c->arena, b.len > 0 ? buf_str(&b) : STR("none"));
}

static void get_usage_stats(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(4096);
    unsigned n_tool[64], n_kind[KIND_COUNT] = {0}, n_unique = 0;

    (void)pthread_mutex_lock(&state.lock);
    unsigned n = state.n_calls, n_failed = state.n_failed;
    memcpy(n_tool, state.n_tool, sizeof n_tool);
    (void)pthread_mutex_unlock(&state.lock);
    for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
        n_kind[counted[i].kind] += n_tool[i];
        n_unique += n_tool[i] > 0;
    }
    (void)buf_printf(&b,
                     "📊 **Usage Summary**\n• Total calls: %u (%u successful, %u failed)\n"
                     "• Success rate: %u%%\n• Days using: 0\n• Sessions: 1\n• Unique tools: %u\n"
                     "• Most used: " STR_FMT "\n• Feedback given: No\n\n**By Category:**",
                     n, n - n_failed, n_failed, n ? (n - n_failed) * 100 / n : 0, n_unique,
                     STR_ARG(most_used(c, n_tool)));
    for (size_t i = 0; i < KIND_COUNT; i++)
        (void)buf_printf(&b, "\n• %s: %u", kind_names[i], n_kind[i]);
    local_text(c, buf_str(&b));
}

/* Every tool goes through here. */
static void call_counted_tool(struct local_call *c)
{
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(counted) && strcmp(counted[i].name, c->tool->name) != 0)
        i++;
    counted[i].call(c);
    (void)pthread_mutex_lock(&state.lock);
    state.n_tool[i]++;
    state.n_calls++;
    state.n_failed += c->is_error;
    (void)pthread_mutex_unlock(&state.lock);
}

static const struct local_tool tools[] = {
#define ROW(name, kind, call) {name, call_counted_tool},
    TOOLS(ROW)
#undef ROW
};

const struct local_server commander_server = {"desktop-commander", tools, ARRAY_LEN(tools)};
