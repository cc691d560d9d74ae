/* SPDX-License-Identifier: MIT */
/* The server "code-executor": Python code in files of the workspace. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "local/kit/path.h"
#include "local/kit/program.h"
#include "local/kit/servers.h"
#include "sys/io.h"

enum { TIMEOUT_MS = 300000, OUTPUT_MAX = 16 << 20, PATH_TEXT_MAX = 1024 };

/* Where code is kept, below the workspace. */
static const struct {
    const char *benchmark, *dir;
} dirs[] = {
    {"MCP_Atlas", "/repos/mcp_code_executor_workspace"},
    {"", ""},
};

/* The environment that code runs in; configure_environment changes it for all later calls. */
static const char *const kinds[] = {"conda", "venv", "venv-uv"};
static const char *const kind_keys[] = {"conda_name", "venv_path", "uv_venv_path"};
static struct {
    pthread_mutex_t lock;
    unsigned kind; /* of kinds */
    char places[ARRAY_LEN(kinds)][PATH_TEXT_MAX];
} settings = {.lock = PTHREAD_MUTEX_INITIALIZER, .kind = 1};

/* ---- answers: one JSON text ---- */

struct executor_answer {
    struct buf b;
    struct jw w;
};

static void begin_status(struct executor_answer *a, const char *status)
{
    buf_init(&a->b, LOCAL_ANSWER_MAX);
    a->w = jw_to(&a->b);
    jw_object(&a->w);
    jw_key(&a->w, "status");
    jw_cstr(&a->w, status);
}

static void put_status_text(struct executor_answer *a, const char *key, struct str value)
{
    jw_key(&a->w, key);
    jw_str(&a->w, value);
}

static void end_status(struct executor_answer *a, struct local_call *c)
{
    jw_end(&a->w);
    local_text(c, buf_str(&a->b));
    buf_done(&a->b);
}

static void say_error(struct local_call *c, struct str text)
{
    struct executor_answer a;

    begin_status(&a, "error");
    put_status_text(&a, "error", text);
    end_status(&a, c);
}

/* ---- places ---- */

static const char *code_storage(struct local_call *c)
{
    size_t i = 0;

    while (dirs[i].benchmark[0] && !str_is(c->benchmark, dirs[i].benchmark))
        i++;
    const char *dir = arena_printf(&c->arena, "%s%s", c->local->root, dirs[i].dir).p;
    if (dir)
        (void)io_mkdirs(dir, 0777, NULL);
    return dir;
}

/* "NAME_1a2b3c4d.py" in the storage, or "code_…" without a name; the name alone in *NAME. */
static const char *new_file(struct local_call *c, struct str wanted, struct str *name)
{
    unsigned char r[4] = {0};
    ptrdiff_t slash;

    (void)!getrandom(r, sizeof r, 0);
    while ((slash = str_chr(wanted, '/')) >= 0)
        wanted = str_skip(wanted, (size_t)slash + 1);
    if (str_ends(wanted, STR(".py")))
        wanted = str_slice(wanted, 0, wanted.len - 3);
    if (wanted.len == 0)
        wanted = STR("code");
    *name = arena_printf(&c->arena, STR_FMT "_%02x%02x%02x%02x.py", STR_ARG(wanted), r[0], r[1],
                         r[2], r[3]);
    const char *dir = code_storage(c);
    return dir && name->p ? arena_printf(&c->arena, "%s/%s", dir, name->p).p : NULL;
}

/* The interpreter of the environment: its own, or the system's. */
static const char *python(struct local_call *c)
{
    const char *path = NULL;

    (void)pthread_mutex_lock(&settings.lock);
    if (settings.kind > 0 && settings.places[settings.kind][0])
        path = arena_printf(&c->arena, "%s/bin/python3", settings.places[settings.kind]).p;
    (void)pthread_mutex_unlock(&settings.lock);
    return path && access(path, X_OK) == 0 ? path : "python3";
}

/* ---- running ---- */

static int run_python(struct local_call *c, const char *const *args, struct run *r)
{
    const char *argv[8] = {python(c), "-u"};

    for (size_t i = 0; i < 5 && args[i]; i++)
        argv[i + 2] = args[i];
    *r = (struct run){
        .argv = argv, .cwd = code_storage(c), .timeout_ms = TIMEOUT_MS, .max_output = OUTPUT_MAX};
    return run_program(r);
}

static void run_stored_file(struct local_call *c, const char *path, struct str generated)
{
    const char *const args[] = {path, NULL};
    struct run r;
    struct executor_answer a;
    int code = run_python(c, args, &r);
    bool is_good = code == 0 && !r.is_timed_out && r.status == 0;

    begin_status(&a, is_good && r.err.len == 0 ? "success" : "error");
    if (is_good)
        put_status_text(&a, "output", r.err.len > 0 ? buf_str(&r.err) : buf_str(&r.out));
    else if (code < 0)
        put_status_text(&a, "error",
                        arena_printf(&c->arena, "python3 cannot be started: %s", strerror(-code)));
    else if (r.is_timed_out)
        put_status_text(&a, "error",
                        arena_printf(&c->arena, "the program did not end within %d seconds",
                                     TIMEOUT_MS / 1000));
    else
        put_status_text(&a, "error",
                        arena_printf(&c->arena, "Command failed: python3 -u \"%s\"\n" STR_FMT, path,
                                     STR_ARG(buf_str(&r.err))));
    put_status_text(&a, "file_path", str_of(path));
    if (generated.p)
        put_status_text(&a, "generated_filename", generated);
    end_status(&a, c);
    run_done(&r);
}

static void execute_code(struct local_call *c)
{
    struct str code = local_str(c, "code"), name;

    if (code.len == 0) {
        local_fail(c, "Code is required");
        return;
    }
    const char *path = new_file(c, local_str(c, "filename"), &name);
    int r = path ? path_write(c, path, code) : -ENOMEM;
    if (r < 0)
        say_error(c, path_error(c, r, "open", path, NULL));
    else
        run_stored_file(c, path, name);
}

/* ---- files ---- */

static void initialize_code_file(struct local_call *c)
{
    struct str name;
    struct executor_answer a;
    const char *path = new_file(c, local_str(c, "filename"), &name);
    int r = path ? path_write(c, path, local_str(c, "content")) : -ENOMEM;

    if (r < 0) {
        say_error(c, path_error(c, r, "open", path, NULL));
        return;
    }
    begin_status(&a, "success");
    put_status_text(&a, "message", STR("File initialized successfully"));
    put_status_text(&a, "file_path", str_of(path));
    put_status_text(&a, "filename", name);
    end_status(&a, c);
}

/* The file that the call names, with its content; reports itself what is wrong. */
static const char *open_code_file(struct local_call *c, struct str *text)
{
    struct str why;
    const char *path = path_check(c, local_str(c, "file_path"), &why);
    int r = path ? path_read(c, path, text) : 0;

    if (!path)
        say_error(c, why);
    else if (r < 0)
        say_error(c, path_error(c, r, r == -EISDIR ? "read" : "open", path, NULL));
    return path && r == 0 ? path : NULL;
}

static void append_to_code_file(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);
    struct str text;
    struct executor_answer a;
    const char *path = open_code_file(c, &text);

    if (!path)
        return;
    (void)buf_add_str(&b, text);
    (void)buf_add_str(&b, local_str(c, "content"));
    int r = buf_ok(&b) ? path_write(c, path, buf_str(&b)) : -EFBIG;
    if (r < 0) {
        say_error(c, path_error(c, r, "open", path, NULL));
        return;
    }
    begin_status(&a, "success");
    put_status_text(&a, "message", STR("Content appended successfully"));
    put_status_text(&a, "file_path", str_of(path));
    end_status(&a, c);
}

static void execute_code_file(struct local_call *c)
{
    struct str text;
    const char *path = open_code_file(c, &text);

    if (path)
        run_stored_file(c, path, STR_NULL);
}

static void read_code_file(struct local_call *c)
{
    struct str text;
    struct executor_answer a;
    const char *path = open_code_file(c, &text);

    if (!path)
        return;
    begin_status(&a, "success");
    put_status_text(&a, "content", text);
    put_status_text(&a, "file_path", str_of(path));
    end_status(&a, c);
}

/* ---- packages ---- */

static const char *packages_text(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(1 << 16);
    const struct json *packages = json_get(c->args, "packages");

    if (!packages || packages->n == 0) {
        say_error(c, STR("No packages specified"));
        return NULL;
    }
    (void)json_write(&b, packages, JSON_COMPACT);
    return arena_str(&c->arena, buf_str(&b)).p;
}

/* Runs SCRIPT with the packages as its argument; what it prints are members of the answer. */
static void run_python_script(struct local_call *c, const char *script)
{
    const char *packages = packages_text(c);
    const char *const args[] = {"-c", script, packages, NULL};
    struct run r;
    struct executor_answer a;

    if (!packages)
        return;
    int code = run_python(c, args, &r);
    const struct json *v =
        code == 0 ? json_parse(&c->arena, str_trim(buf_str(&r.out)), NULL, NULL) : NULL;
    if (code < 0 || r.is_timed_out || !json_is(v, JSON_OBJECT)) {
        say_error(c, code < 0         ? str_of(strerror(-code))
                     : r.is_timed_out ? STR("it took too long")
                                      : arena_str(&c->arena, buf_str(&r.err)));
        run_done(&r);
        return;
    }
    begin_status(&a, json_get(v, "error") ? "error" : "success");
    (void)pthread_mutex_lock(&settings.lock);
    put_status_text(&a, "env_type", str_of(kinds[settings.kind]));
    (void)pthread_mutex_unlock(&settings.lock);
    for (size_t i = 0; i < v->n; i++) {
        jw_key_str(&a.w, v->members[i].key);
        jw_value(&a.w, &v->members[i].value);
    }
    end_status(&a, c);
    run_done(&r);
}

static void install_dependencies(struct local_call *c)
{
    run_python_script(
        c, "import json, subprocess, sys\n"
           "names = json.loads(sys.argv[1])\n"
           "p = subprocess.run([sys.executable, '-m', 'pip', 'install', '--', *names],\n"
           "                   capture_output=True, text=True)\n"
           "print(json.dumps({'error': 'Command failed: pip install ' + ' '.join(names) + "
           "'\\n' + p.stderr} if p.returncode else\n"
           "      {'installed_packages': names, 'output': p.stdout,\n"
           "       **({'warnings': p.stderr} if p.stderr else {})}))\n");
}

static void check_installed_packages(struct local_call *c)
{
    run_python_script(
        c, "import importlib, importlib.util, json, sys\n"
           "def look(name):\n"
           "    try:\n"
           "        if importlib.util.find_spec(name) is None:\n"
           "            return {'installed': False, 'error': 'Package not found'}\n"
           "        m = importlib.import_module(name)\n"
           "        v = getattr(m, '__version__', getattr(m, 'version', None))\n"
           "        return {'installed': True, 'version': None if v is None else str(v),\n"
           "                'location': getattr(m, '__file__', None)}\n"
           "    except ImportError as e:\n"
           "        return {'installed': False, 'error': str(e)}\n"
           "    except Exception as e:\n"
           "        return {'installed': False, 'error': 'Unexpected error: %s' % e}\n"
           "found = {name: look(name) for name in json.loads(sys.argv[1])}\n"
           "missing = [n for n, f in found.items() if not f['installed']]\n"
           "print(json.dumps({'all_installed': not missing, 'not_installed': missing,\n"
           "                  'package_details': found}))\n");
}

/* ---- the environment ---- */

static void write_settings(struct jw *w)
{
    jw_object(w);
    jw_key(w, "type");
    jw_cstr(w, kinds[settings.kind]);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!settings.places[i][0])
            continue;
        jw_key(w, kind_keys[i]);
        jw_cstr(w, settings.places[i]);
    }
    jw_end(w);
}

static void configure_environment(struct local_call *c)
{
    struct str type = local_str(c, "type");
    struct executor_answer a;
    unsigned kind = 0;

    while (kind < ARRAY_LEN(kinds) && !str_is(type, kinds[kind]))
        kind++;
    if (kind == ARRAY_LEN(kinds)) {
        say_error(c,
                  STR("Invalid arguments: 'type' is required and must be one of 'conda', 'venv', "
                      "or 'venv-uv'"));
        return;
    }
    struct str place = local_str(c, kind_keys[kind]);
    if (place.len == 0 || place.len >= PATH_TEXT_MAX) {
        say_error(c, arena_printf(&c->arena, "%s is required when type is '%s'", kind_keys[kind],
                                  kinds[kind]));
        return;
    }
    begin_status(&a, "success");
    put_status_text(&a, "message", STR("Environment configuration updated"));
    (void)pthread_mutex_lock(&settings.lock);
    jw_key(&a.w, "previous");
    write_settings(&a.w);
    settings.kind = kind;
    (void)snprintf(settings.places[kind], PATH_TEXT_MAX, STR_FMT, STR_ARG(place));
    jw_key(&a.w, "current");
    write_settings(&a.w);
    (void)pthread_mutex_unlock(&settings.lock);
    end_status(&a, c);
}

static void get_environment_config(struct local_call *c)
{
    struct executor_answer a;

    begin_status(&a, "success");
    jw_key(&a.w, "config");
    (void)pthread_mutex_lock(&settings.lock);
    write_settings(&a.w);
    (void)pthread_mutex_unlock(&settings.lock);
    end_status(&a, c);
}

static const struct local_tool tools[] = {
    {"execute_code", execute_code},
    {"initialize_code_file", initialize_code_file},
    {"append_to_code_file", append_to_code_file},
    {"execute_code_file", execute_code_file},
    {"read_code_file", read_code_file},
    {"install_dependencies", install_dependencies},
    {"check_installed_packages", check_installed_packages},
    {"configure_environment", configure_environment},
    {"get_environment_config", get_environment_config},
};

const struct local_server code_executor_server = {"code-executor", tools, ARRAY_LEN(tools)};
