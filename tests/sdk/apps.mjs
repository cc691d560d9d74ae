// SPDX-License-Identifier: MIT
// What somebody does who trains an agent, with the official client of MCP: acquire jira and slack
// with a seed, let the agent work, look at what it did, check it, and do the same once more.
// Usage: node apps.mjs URL KEY
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, key] = process.argv.slice(2);

async function api(method, path, body) {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

async function acquire(server) {
  return api("POST", `/sandbox/${server}`, {
    data: "default", seed: 42, now: "2026-01-15T09:00:00Z", ttl_seconds: 600,
  });
}

const said = [];

async function connect(sandbox) {
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(sandbox.server_url)));
  client.use = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    said.push(JSON.stringify(result));
    return JSON.parse(result.content[0].text);
  };
  return client;
}

// The agent's work; it has nothing but the two URLs.
async function work(jira, slack) {
  const [j, s] = [await connect(jira), await connect(slack)];
  const issue = await j.use("jira_create_issue", {
    project_key: "ATLAS", summary: "Check drift at -20 C", issue_type: "Task",
    description: "Northwind saw it again.",
  });
  await j.use("jira_add_comment", { issue_key: issue.key, comment: "Booked the cold chamber." });
  const found = await j.use("jira_search", { jql: 'project = ATLAS AND summary ~ "drift"' });
  const { channels } = await s.use("slack_user_list_channels", { channel_name: "atlas-firmware" });
  await s.use("slack_user_post_message", {
    channel_id: channels[0].id, text: `Filed ${issue.key}`,
  });
  await j.close();
  await s.close();
  return { key: issue.key, found: found.issues.map((x) => x.key) };
}

const jira = await acquire("jira");
const slack = await acquire("slack");
const [jiraPath, slackPath] = [`/sandbox/jira/${jira.sandbox_id}`,
                               `/sandbox/slack/${slack.sandbox_id}`];

const first = await work(jira, slack);
const saidFirst = said.splice(0);
const diffs = { jira: await api("GET", `${jiraPath}/diff?since=initial`),
                slack: await api("GET", `${slackPath}/diff?since=initial`) };
const calls = (await api("GET", `${jiraPath}/calls`)).calls;
const verified = await api("POST", `${slackPath}/verify`, {
  checks: [
    { name: "posted", sql: "SELECT count(*) FROM message WHERE text = ?",
      params: [`Filed ${first.key}`], equals: 1 },
    { name: "nothing else", table: "message", where: { text: "Filed nothing" }, count: 0 },
  ],
});

await api("POST", `${jiraPath}/reset`);
await api("POST", `${slackPath}/reset`);
const after = { jira: await api("GET", `${jiraPath}/diff?since=initial`),
                slack: await api("GET", `${slackPath}/diff?since=initial`) };

// The same world anew: the same results, byte for byte, by the same slots and by new ones.
const second = await work(jira, slack);
const saidSecond = said.splice(0);
const third = await work(await acquire("jira"), await acquire("slack"));
const saidThird = said.splice(0);

console.log(JSON.stringify({
  first, diffs, verified, after, calls: calls.map((c) => c.tool ?? c.name),
  isSame: [JSON.stringify(saidFirst) === JSON.stringify(saidSecond),
           JSON.stringify(saidFirst) === JSON.stringify(saidThird)],
  said: saidFirst.length, second, third,
}));
