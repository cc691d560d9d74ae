/* SPDX-License-Identifier: MIT */
/* The fixtures of the official conformance suite of MCP, as tables. */
#include "api/conformance/fixtures.h"

#include "base/cleanup.h"

#define NO_ARGS NULL, NULL, NULL

static const char wide_schema[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",\"$defs\":{"
    "\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{\"street\":{"
    "\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},\"properties\":{\"name\":{\"type\":"
    "\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},\"contactMethod\":{\"type\":\"string\","
    "\"enum\":[\"phone\",\"email\"]},\"phone\":{\"type\":\"string\"},\"email\":{\"type\":"
    "\"string\"}},\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
    "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},\"required\":["
    "\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":[\"email\"]},"
    "\"additionalProperties\":false}";

#define ONE_STRING(name)                                                                           \
    "{\"type\":\"object\",\"properties\":{\"" name                                                 \
    "\":{\"type\":\"string\"}},\"required\":[\"" name "\"]}"

static const struct mcp_tool tools[] = {
    {"test_simple_text", NULL, "Answers with a text", NO_ARGS, .call = fixture_simple},
    {"test_image_content", NULL, "Answers with a picture", NO_ARGS, .call = fixture_image},
    {"test_audio_content", NULL, "Answers with a sound", NO_ARGS, .call = fixture_audio},
    {"test_embedded_resource", NULL, "Answers with a resource", NO_ARGS, .call = fixture_embedded},
    {"test_multiple_content_types", NULL, "Answers with all kinds", NO_ARGS, .call = fixture_mixed},
    {"test_tool_with_logging", NULL, "Logs while it runs", NO_ARGS, .call = fixture_logging},
    {"test_error_handling", NULL, "Fails", NO_ARGS, .call = fixture_error},
    {"test_tool_with_progress", NULL, "Tells how far it is", NO_ARGS, .call = fixture_progress},
    {"test_sampling", NULL, "Asks the model", ONE_STRING("prompt"), NULL, NULL,
     .call = fixture_sampling},
    {"test_elicitation", NULL, "Asks the user", ONE_STRING("message"), NULL, NULL,
     .call = fixture_elicitation},
    {"test_elicitation_sep1034_defaults", NULL, "Asks with defaults", NO_ARGS,
     .call = fixture_questions, .row = &fixture_ask_defaults},
    {"test_elicitation_sep1330_enums", NULL, "Asks with enums", NO_ARGS, .call = fixture_questions,
     .row = &fixture_ask_enums},
    {"json_schema_2020_12_tool", NULL, "Tool with JSON Schema 2020-12 features", wide_schema, NULL,
     NULL, .call = fixture_schema},
    {"test_reconnection", NULL, "Hangs up and goes on", NO_ARGS, .call = fixture_reconnect},
    {"test_missing_capability", NULL, "Needs sampling", NO_ARGS, .call = fixture_needs_sampling},
    {"test_streaming_elicitation", NULL, "Asks the user", NO_ARGS, .call = fixture_questions,
     .row = &fixture_ask_name},
    {"test_logging_tool", NULL, "Logs when that is wanted", NO_ARGS, .call = fixture_quiet},
    {"test_trigger_tool_change", NULL, "Tells of changed tools", NO_ARGS,
     .call = fixture_tools_changed},
    {"test_trigger_prompt_change", NULL, "Tells of changed prompts", NO_ARGS,
     .call = fixture_prompts_changed},
    {"test_input_required_result_elicitation", NULL, "Asks for a name", NO_ARGS,
     .call = fixture_questions, .row = &fixture_ask_name},
    {"test_input_required_result_sampling", NULL, "Asks the model", NO_ARGS,
     .call = fixture_questions, .row = &fixture_ask_capital},
    {"test_input_required_result_list_roots", NULL, "Asks for roots", NO_ARGS,
     .call = fixture_questions, .row = &fixture_ask_roots},
    {"test_input_required_result_request_state", NULL, "Keeps state", NO_ARGS,
     .call = fixture_questions, .row = &fixture_ask_confirm},
    {"test_input_required_result_tampered_state", NULL, "Keeps state", NO_ARGS,
     .call = fixture_questions, .row = &fixture_ask_confirm},
    {"test_input_required_result_multiple_inputs", NULL, "Asks for all", NO_ARGS,
     .call = fixture_questions, .row = &fixture_ask_many},
    {"test_input_required_result_capabilities", NULL, "Asks for what can be", NO_ARGS,
     .call = fixture_questions, .row = &fixture_ask_able},
    {"test_input_required_result_multi_round", NULL, "Asks twice", NO_ARGS, .call = fixture_rounds},
    {"test_header", NULL, "Has an argument in a header",
     "{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\",\"x-mcp-header\":"
     "\"Region\"}},\"required\":[\"region\"]}",
     NULL, NULL, .call = fixture_header},
    {"sum", "Sum", "Adds two numbers",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":"
     "\"integer\",\"default\":1}},\"required\":[\"a\"],\"additionalProperties\":false}",
     "{\"type\":\"object\",\"properties\":{\"sum\":{\"type\":\"integer\"}},\"required\":[\"sum\"]}",
     "{\"readOnlyHint\":true}", .call = fixture_sum},
    {"forever", NULL, "Ends when it is cancelled", NO_ARGS, .call = fixture_forever,
     .tasking = MCP_TASK_MAY},
    {"greet", NULL, "Answers at once", ONE_STRING("name"), NULL, NULL, .call = fixture_greet},
    {"slow_compute", NULL, "Takes its time",
     "{\"type\":\"object\",\"properties\":{\"seconds\":{\"type\":\"number\"},\"label\":{\"type\":"
     "\"string\"}}}",
     NULL, NULL, .call = fixture_slow, .tasking = MCP_TASK_MAY, .takes_ms = fixture_slow_ms},
    {"failing_job", NULL, "Fails after a second", NO_ARGS, .call = fixture_failing_job,
     .tasking = MCP_TASK_MUST},
    {"protocol_error_job", NULL, "Breaks after a second", NO_ARGS, .call = fixture_broken_job,
     .tasking = MCP_TASK_MUST},
    {"confirm_delete", NULL, "Asks before it deletes", ONE_STRING("filename"), NULL, NULL,
     .call = fixture_questions, .row = &fixture_ask_delete, .tasking = MCP_TASK_MUST},
    {"multi_input", NULL, "Asks twice at once", NO_ARGS, .call = fixture_questions,
     .row = &fixture_ask_both, .tasking = MCP_TASK_MUST},
    {"test_tool_with_task", NULL, "Asks for a name, then works for a while", NO_ARGS,
     .call = fixture_named_task, .tasking = MCP_TASK_LATER},
};

static const struct mcp_resource resources[] = {
    {"test://static-text", "Static text", NULL, "A text", "text/plain", fixture_read,
     "This is the content of the static text resource."},
    {"test://static-binary", "Static picture", NULL, "A picture", "image/png", fixture_read, "png"},
    {"test://watched-resource", "Watched", NULL, "Can be subscribed to", "text/plain", fixture_read,
     "Watched resource content"},
};

static const struct mcp_resource templates[] = {
    {"test://template/{id}/data", "Template", NULL, "Data of an id", "application/json",
     fixture_read, "template"},
};

static const struct mcp_argument two_args[] = {{"arg1", "First test argument", true},
                                               {"arg2", "Second test argument", true}};
static const struct mcp_argument uri_arg[] = {{"resourceUri", "Resource to embed", true}};

static const struct mcp_prompt prompts[] = {
    {"test_simple_prompt", NULL, "A text", NULL, 0, fixture_prompt, "simple"},
    {"test_prompt_with_arguments", NULL, "A text with arguments", two_args, 2, fixture_prompt,
     "args"},
    {"test_prompt_with_embedded_resource", NULL, "A resource", uri_arg, 1, fixture_prompt,
     "resource"},
    {"test_prompt_with_image", NULL, "A picture", NULL, 0, fixture_prompt, "image"},
    {"test_input_required_result_prompt", NULL, "Asks for its context", NULL, 0, fixture_ask_prompt,
     NULL},
};

struct loop *fixture_loop;

struct mcp_desc conformance_desc(void)
{
    return (struct mcp_desc){
        .name = "tidepool-conformance",
        .version = TIDEPOOL_VERSION,
        .instructions = "Fixtures of the conformance suite.",
        .tools = tools,
        .n_tools = ARRAY_LEN(tools),
        .resources = resources,
        .n_resources = ARRAY_LEN(resources),
        .templates = templates,
        .n_templates = ARRAY_LEN(templates),
        .prompts = prompts,
        .n_prompts = ARRAY_LEN(prompts),
        .complete = fixture_complete,
    };
}

struct mcp_server *conformance_new(struct loop *loop, struct err *e)
{
    const struct mcp_desc desc = conformance_desc();

    fixture_loop = loop;
    return mcp_server_new(loop, &desc, e);
}
