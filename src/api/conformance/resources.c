/* SPDX-License-Identifier: MIT */
/* Resources, prompts, completion. */
#include "api/conformance/fixtures.h"

/* The row says what is there; "png" is the picture, "template" what a template stands for. */
void fixture_read(struct mcp_call *c)
{
    const char *text = c->row;
    bool is_png = str_is(str_of(text), "png"), is_made = str_is(str_of(text), "template");
    struct str made = arena_printf(
        c->arena,
        "{\"id\":\"" STR_FMT "\",\"templateTest\":true,\"data\":\"Data for ID: " STR_FMT "\"}",
        STR_ARG(c->vars[0]), STR_ARG(c->vars[0]));
    struct jw *w = mcp_result_begin(c);

    jw_key(w, "contents");
    jw_array(w);
    jw_object(w);
    jw_key(w, "uri");
    jw_str(w, c->name);
    jw_key(w, "mimeType");
    jw_cstr(w, is_png ? "image/png" : is_made ? "application/json" : "text/plain");
    jw_key(w, is_png ? "blob" : "text");
    jw_str(w, is_png ? str_of(fixture_png) : is_made ? made : str_of(text));
    jw_end(w);
    jw_end(w);
    mcp_result_end(c);
}

static void user_begin(struct jw *w)
{
    jw_object(w);
    jw_key(w, "role");
    jw_cstr(w, "user");
    jw_key(w, "content");
}

static void user_text(struct jw *w, const char *text)
{
    user_begin(w);
    fixture_text(w, text);
    jw_end(w);
}

/* The row says which kind of prompt it is. */
void fixture_prompt(struct mcp_call *c)
{
    struct str kind = str_of(c->row);
    struct str one = json_str(json_get(c->args, "arg1"), STR(""));
    struct str two = json_str(json_get(c->args, "arg2"), STR(""));
    struct jw *w = mcp_result_begin(c);

    jw_key(w, "messages");
    jw_array(w);
    if (str_is(kind, "simple"))
        user_text(w, "This is a simple prompt for testing.");
    if (str_is(kind, "args"))
        user_text(w, arena_printf(c->arena,
                                  "Prompt with arguments: arg1='" STR_FMT "', arg2='" STR_FMT "'",
                                  STR_ARG(one), STR_ARG(two))
                         .p);
    if (str_is(kind, "resource")) {
        user_begin(w);
        fixture_resource(w, json_str(json_get(c->args, "resourceUri"), STR("")), "text/plain",
                         "Embedded resource content for testing.");
        jw_end(w);
        user_text(w, "Please process the embedded resource above.");
    }
    if (str_is(kind, "image")) {
        user_begin(w);
        fixture_media(w, "image", fixture_png, "image/png");
        jw_end(w);
        user_text(w, "Please analyze the image above.");
    }
    jw_end(w);
    mcp_result_end(c);
}

static void prompt_asked(struct mcp_call *c, const struct json *answers)
{
    struct json *content = json_get(json_get(answers, "context"), "content");
    struct str text = json_str(json_get(content, "context"), STR("none"));
    struct jw *w = mcp_result_begin(c);

    jw_key(w, "messages");
    jw_array(w);
    user_text(w, arena_printf(c->arena, "Context: " STR_FMT, STR_ARG(text)).p);
    jw_end(w);
    mcp_result_end(c);
}

void fixture_ask_prompt(struct mcp_call *c)
{
    static const struct mcp_ask ask = {
        "context", "elicitation/create",
        STR_INIT("{\"message\":\"What context should the prompt use?\",\"requestedSchema\":{"
                 "\"type\":\"object\",\"properties\":{\"context\":{\"type\":\"string\"}},"
                 "\"required\":[\"context\"]}}"),
        false};

    mcp_ask(c, &ask, 1, prompt_asked);
}

void fixture_complete(struct mcp_call *c)
{
    static const char *const words[] = {"paris", "park", "party", "test", "testing"};
    struct str begun = json_str(json_pointer(c->params, "/argument/value"), STR(""));
    struct jw *w = mcp_result_begin(c);

    jw_key(w, "completion");
    jw_object(w);
    jw_key(w, "values");
    jw_array(w);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_starts(str_of(words[i]), begun))
            jw_cstr(w, words[i]);
    jw_end(w);
    jw_key(w, "hasMore");
    jw_bool(w, false);
    jw_end(w);
    mcp_result_end(c);
}
