/* SPDX-License-Identifier: MIT */
/* Tools that ask the client. */
#include "api/conformance/fixtures.h"
#include "base/cleanup.h"

#define ELICIT "elicitation/create"
#define SAMPLE "sampling/createMessage"
#define ROOTS  "roots/list"

#define FORM(message, properties, required)                                                        \
    STR_INIT("{\"message\":\"" message "\",\"requestedSchema\":{\"type\":\"object\","              \
             "\"properties\":{" properties "},\"required\":[" required "]}}")
#define SAMPLING(text, most)                                                                       \
    STR_INIT("{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"" text   \
             "\"}}],\"maxTokens\":" most "}")
#define TEXT_FIELD(name) "\"" name "\":{\"type\":\"string\"}"

static const struct mcp_ask ask_name[] = {
    {"user_name", ELICIT, FORM("What is your name?", TEXT_FIELD("name"), "\"name\""), false}};
static const struct mcp_ask ask_capital[] = {
    {"capital_question", SAMPLE, SAMPLING("What is the capital of France?", "100"), false}};
static const struct mcp_ask ask_roots[] = {{"client_roots", ROOTS, STR_INIT("{}"), false}};
static const struct mcp_ask ask_confirm[] = {
    {"confirm", ELICIT, FORM("Please confirm", "\"ok\":{\"type\":\"boolean\"}", "\"ok\""), false}};
static const struct mcp_ask ask_many[] = {
    {"user_name", ELICIT, FORM("What is your name?", TEXT_FIELD("name"), "\"name\""), false},
    {"greeting", SAMPLE, SAMPLING("Generate a greeting", "50"), false},
    {"client_roots", ROOTS, STR_INIT("{}"), false},
};
static const struct mcp_ask ask_able[] = {
    {"user_name", ELICIT, FORM("What is your name?", TEXT_FIELD("name"), "\"name\""), true},
    {"greeting", SAMPLE, SAMPLING("Generate a greeting", "50"), true},
};
static const struct mcp_ask ask_defaults[] = {
    {"defaults", ELICIT,
     FORM("Please review and update the form fields with defaults",
          "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
          "\"age\":{\"type\":\"integer\",\"default\":30},"
          "\"score\":{\"type\":\"number\",\"default\":95.5},"
          "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
          "\"default\":\"active\"},\"verified\":{\"type\":\"boolean\",\"default\":true}",
          ""),
     false}};
static const struct mcp_ask ask_enums[] = {
    {"enums", ELICIT,
     FORM("Please select options from the enum fields",
          "\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]},"
          "\"titledSingle\":{\"type\":\"string\",\"oneOf\":["
          "{\"const\":\"value1\",\"title\":\"First Option\"},"
          "{\"const\":\"value2\",\"title\":\"Second Option\"},"
          "{\"const\":\"value3\",\"title\":\"Third Option\"}]},"
          "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
          "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
          "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
          "\"enum\":[\"option1\",\"option2\",\"option3\"]}},"
          "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":["
          "{\"const\":\"value1\",\"title\":\"First Choice\"},"
          "{\"const\":\"value2\",\"title\":\"Second Choice\"},"
          "{\"const\":\"value3\",\"title\":\"Third Choice\"}]}}",
          ""),
     false}};

const struct fixture_questions fixture_ask_name = {ask_name, 1, NULL},
                               fixture_ask_capital = {ask_capital, 1, "The model said"},
                               fixture_ask_roots = {ask_roots, 1, "Roots"},
                               fixture_ask_confirm = {ask_confirm, 1, "state-ok"},
                               fixture_ask_many = {ask_many, 3, "All answered"},
                               fixture_ask_able = {ask_able, 2, "Done"},
                               fixture_ask_defaults = {ask_defaults, 1, "Elicitation completed"},
                               fixture_ask_enums = {ask_enums, 1, "Elicitation completed"};

/* "WHAT: " and the answers as JSON. */
static void show_answers(struct mcp_call *c, const char *what, const struct json *answers)
{
    struct buf b auto_buf = BUF_INIT(1 << 20);

    if (!answers) {
        mcp_reply_text(c, STR("no answer"), true);
        return;
    }
    (void)buf_printf(&b, "%s: ", what);
    (void)json_write(&b, answers, JSON_COMPACT);
    mcp_reply_text(c, buf_str(&b), !buf_ok(&b));
}

static void answered(struct mcp_call *c, const struct json *answers)
{
    const struct fixture_questions *q = c->row;
    struct json *content = json_get(json_get(answers, "user_name"), "content");

    if (q->done || !answers)
        show_answers(c, q->done, answers);
    else
        mcp_reply_text(c,
                       arena_printf(c->arena, "Hello, " STR_FMT "!",
                                    STR_ARG(json_str(json_get(content, "name"), STR("nobody")))),
                       false);
}

void fixture_questions(struct mcp_call *c)
{
    const struct fixture_questions *q = c->row;

    mcp_ask(c, q->asks, q->n, answered);
}

void fixture_needs_sampling(struct mcp_call *c)
{
    if (mcp_client_can(c) & MCP_CAN_SAMPLE)
        mcp_reply_text(c, STR("the client can sample"), false);
    else
        mcp_reply_missing(c, MCP_CAN_SAMPLE);
}

/* ---- questions with the caller's words ---- */

static void sampled(struct mcp_call *c, const struct json *answers)
{
    struct str text = json_str(json_pointer(answers, "/sample/content/text"), STR("none"));

    mcp_reply_text(c, arena_printf(c->arena, "LLM response: " STR_FMT, STR_ARG(text)), !answers);
}

void fixture_sampling(struct mcp_call *c)
{
    struct buf b auto_buf = BUF_INIT(1 << 20);

    (void)buf_add_lit(&b, "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
                          "\"text\":");
    (void)json_write_str(&b, json_str(json_get(c->args, "prompt"), STR("")));
    (void)buf_add_lit(&b, "}}],\"maxTokens\":100}");
    mcp_ask(c, &(struct mcp_ask){"sample", SAMPLE, buf_str(&b), false}, 1, sampled);
}

static void elicited(struct mcp_call *c, const struct json *answers)
{
    show_answers(c, "User response", answers);
}

void fixture_elicitation(struct mcp_call *c)
{
    struct buf b auto_buf = BUF_INIT(1 << 20);

    (void)buf_add_lit(&b, "{\"message\":");
    (void)json_write_str(&b, json_str(json_get(c->args, "message"), STR("")));
    (void)buf_add_lit(&b, ",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
                          "\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
                          "\"email\":{\"type\":\"string\",\"description\":\"User's email "
                          "address\"}},\"required\":[\"username\",\"email\"]}}");
    mcp_ask(c, &(struct mcp_ask){"form", ELICIT, buf_str(&b), false}, 1, elicited);
}

/* ---- one question after another ---- */

static void round_3(struct mcp_call *c, const struct json *answers)
{
    show_answers(c, "Both rounds", answers);
}

static void round_2(struct mcp_call *c, const struct json *answers)
{
    static const struct mcp_ask ask = {
        "step2", ELICIT,
        FORM("Step 2: What is your favorite color?", TEXT_FIELD("color"), "\"color\""), false};

    if (answers)
        mcp_ask(c, &ask, 1, round_3);
    else
        show_answers(c, "", NULL);
}

void fixture_rounds(struct mcp_call *c)
{
    static const struct mcp_ask ask = {
        "step1", ELICIT, FORM("Step 1: What is your name?", TEXT_FIELD("name"), "\"name\""), false};

    mcp_ask(c, &ask, 1, round_2);
}
