/* SPDX-License-Identifier: MIT */
/* The filesystem server in this process, on a workspace of its own: what leads out of it, edits
 * line by line, first and last lines, and the words of failures. */
#include "tool_fixture.h"

#include "local/kit/path.h"

static void nothing_leads_out(void **state)
{
    static const char *const outside[] = {
        "..", "../secret", "home/../../secret", "/etc/passwd", "/", "~/../../secret",
    };
    char args[400];

    (void)state;
    put("../secret", "s");
    for (size_t i = 0; i < ARRAY_LEN(outside); i++) {
        (void)snprintf(args, sizeof args, "{\"path\":\"%s\",\"content\":\"x\"}", outside[i]);
        check_call("read_text_file", args, false, "Access denied - path outside allowed");
        check_call("write_file", args, false, "Access denied - path outside allowed");
    }
    /* A folder whose name only begins like the workspace's is another one. */
    (void)snprintf(args, sizeof args, "{\"path\":\"%sbase\"}", root);
    check_call("read_text_file", args, false, "Access denied");
    check_call("read_text_file", "{\"path\":\"a\\u0000b\"}", false, "null byte");
    assert_int_equal(symlink("../secret", in("link")), 0);
    check_call("read_text_file", "{\"path\":\"link\"}", false, "symlink target outside allowed");
    check_call("write_file", "{\"path\":\"link\",\"content\":\"x\"}", false, "Access denied");
    assert_int_equal(symlink("..", in("up")), 0);
    check_call("read_text_file", "{\"path\":\"up/secret\"}", false, "Access denied");
    check_call("write_file", "{\"path\":\"up/new\",\"content\":\"x\"}", false,
               "Parent directory does not exist");
    check_call("move_file", "{\"source\":\"home\",\"destination\":\"up/gone\"}", false,
               "Parent directory does not exist");
    assert_int_equal(symlink("loop", in("loop")), 0);
    check_call("read_text_file", "{\"path\":\"loop\"}", false, "ELOOP");
    check_file("../secret", "s");
}

static void links_inside_are_followed(void **state)
{
    (void)state;
    put("file", "text");
    assert_int_equal(symlink("file", in("link")), 0);
    check_call("read_text_file", "{\"path\":\"link\"}", true, "text");
    check_call("read_text_file", "{\"path\":\"./home/..//file\"}", true, "text");
    put("home/mine", "m");
    check_call("read_text_file", "{\"path\":\"~/mine\"}", true, "m");
    check_call("write_file", "{\"path\":\"link\",\"content\":\"new\"}", true, "Successfully wrote");
    check_file("file", "new");
}

static void first_and_last_lines(void **state)
{
    static const struct {
        const char *args, *text;
        bool is_fine;
    } rows[] = {
        {"{\"path\":\"f\",\"head\":2}", "1\n2", true},
        {"{\"path\":\"f\",\"tail\":2}", "3\n4", true},
        {"{\"path\":\"f\",\"head\":99}", "1\n2\n3\n4", true},
        {"{\"path\":\"f\",\"tail\":99}", "1\n2\n3\n4", true},
        {"{\"path\":\"f\",\"head\":1,\"tail\":1}", "both head and tail", false},
        {"{\"path\":\"missing\"}", "ENOENT: no such file or directory, open", false},
        {"{\"path\":\"home\"}", "EISDIR", false},
    };

    (void)state;
    put("f", "1\n2\n3\n4");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_call("read_text_file", rows[i].args, rows[i].is_fine, rows[i].text);
    assert_true(call("read_text_file", "{\"path\":\"f\",\"head\":2}"));
    assert_string_equal(answer_text, "1\n2");
}

#define EDIT(edits) "{\"path\":\"f\",\"edits\":[" edits "],\"dryRun\":false}"

static void edits_replace_the_first_place(void **state)
{
    (void)state;
    put("f", "one\ntwo\none\n");
    check_call("edit_file", EDIT("{\"oldText\":\"one\",\"newText\":\"1\"}"), true, "-one\n+1\n");
    check_file("f", "1\ntwo\none\n");
    /* Each edit sees what the ones before it made. */
    check_call(
        "edit_file",
        EDIT("{\"oldText\":\"two\",\"newText\":\"2\"},{\"oldText\":\"1\\n2\",\"newText\":\"3\"}"),
        true, "```diff");
    check_file("f", "3\none\n");
    /* All of them or none. */
    check_call(
        "edit_file",
        EDIT("{\"oldText\":\"3\",\"newText\":\"x\"},{\"oldText\":\"zzz\",\"newText\":\"y\"}"),
        false, "Could not find exact match for edit:\nzzz");
    check_file("f", "3\none\n");
    check_call("edit_file",
               "{\"path\":\"f\",\"edits\":[{\"oldText\":\"3\",\"newText\":\"4\"}],"
               "\"dryRun\":true}",
               true, "+4");
    check_file("f", "3\none\n");
    /* Text is text: nothing in it stands for something else. */
    check_call("edit_file", EDIT("{\"oldText\":\"one\",\"newText\":\"$&\\\\1```\"}"), true,
               "````diff");
    check_file("f", "3\n$&\\1```\n");
}

static void edits_find_lines_with_other_space(void **state)
{
    (void)state;
    put("f", "if x:\n    a()\n    b()\nend\n");
    check_call("edit_file", EDIT("{\"oldText\":\"a()\\nb()\",\"newText\":\"c()\\nd()\"}"), true,
               "+    c()");
    put("f", "\ta()  \r\n\tb()\r\n");
    check_call("edit_file", EDIT("{\"oldText\":\"  a()\\n  b()\",\"newText\":\"  c()\"}"), true,
               "```diff");
    check_file("f", "\tc()\n");
    put("f", "a\n");
    check_call("edit_file", EDIT("{\"oldText\":\"a\\nb\",\"newText\":\"\"}"), false,
               "Could not find exact match");
    check_file("f", "a\n");
}

static void moves_and_folders(void **state)
{
    (void)state;
    put("a", "1");
    put("b", "2");
    check_call("move_file", "{\"source\":\"a\",\"destination\":\"b\"}", false,
               "Destination already exists: b");
    check_file("b", "2");
    check_call("move_file", "{\"source\":\"a\",\"destination\":\"home/c\"}", true,
               "Successfully moved");
    check_file("home/c", "1");
    check_call("move_file", "{\"source\":\"a\",\"destination\":\"d\"}", false, "ENOENT");
    check_call("create_directory", "{\"path\":\"x/y/z\"}", false,
               "Parent directory does not exist");
    check_call("create_directory", "{\"path\":\"x\"}", true, "Successfully created");
    check_call("create_directory", "{\"path\":\"x\"}", true, "Successfully created");
    check_call("create_directory", "{\"path\":\"b\"}", false, "EEXIST");
    check_call("list_directory", "{\"path\":\".\"}", true, "[FILE] b\n[DIR] home\n[DIR] x");
    check_call("list_directory", "{\"path\":\"b\"}", false, "ENOTDIR");
    check_call("search_files", "{\"path\":\".\",\"pattern\":\"**/c\",\"excludePatterns\":[]}", true,
               "home/c");
    check_call("search_files",
               "{\"path\":\".\",\"pattern\":\"**/c\",\"excludePatterns\":[\"home\"]}", true,
               "No matches found");
    check_call("get_file_info", "{\"path\":\"b\"}", true, "size: 1");
}

static void failures_have_the_words_of_node(void **state)
{
    struct local_call c = {.local = &place};

    (void)state;
    arena_init(&c.arena, MAX);
    assert_str(path_error(&c, -ENOENT, "open", "/x", NULL),
               "ENOENT: no such file or directory, open '/x'");
    assert_str(path_error(&c, -EISDIR, "read", NULL, NULL),
               "EISDIR: illegal operation on a directory, read");
    assert_str(path_error(&c, -EXDEV, "rename", "/x", "/y"),
               "EXDEV: cross-device link not permitted, rename '/x' -> '/y'");
    assert_str(path_error(&c, -9999, "open", "/x", NULL), "EIO: i/o error, open '/x'");
    arena_done(&c.arena);
}

static void servers_and_tools_by_name(void **state)
{
    const struct local_server *s = local_server(STR("filesystem"));

    (void)state;
    assert_non_null(s);
    assert_null(local_server(STR("nothing")));
    assert_null(local_server(STR("")));
    assert_non_null(local_tool(s, STR("read_file")));
    assert_ptr_equal(local_tool(s, STR("filesystem_read_file")), local_tool(s, STR("read_file")));
    assert_null(local_tool(s, STR("read_fil")));
    assert_null(local_tool(s, STR("filesystem_")));
}

#define FILES_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILES_TEST(nothing_leads_out),
        FILES_TEST(links_inside_are_followed),
        FILES_TEST(first_and_last_lines),
        FILES_TEST(edits_replace_the_first_place),
        FILES_TEST(edits_find_lines_with_other_space),
        FILES_TEST(moves_and_folders),
        FILES_TEST(failures_have_the_words_of_node),
        FILES_TEST(servers_and_tools_by_name),
    };

    server_name = "filesystem";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
