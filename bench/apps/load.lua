-- SPDX-License-Identifier: MIT
-- For wrk: the messages of the command line behind "--" to an MCP URL, one after the other and
-- again; a target may come before a message ("/path?query {…}"), else it is the URL's own. The
-- result goes to standard output as one line of JSON behind "RESULT ".

local requests, at = {}, 0

function init(args)
    wrk.headers["Content-Type"] = "application/json"
    wrk.headers["Accept"] = "application/json, text/event-stream"
    for i = 1, #args do
        local target, message = args[i]:match("^(/%S*) (.*)$")
        requests[i] = wrk.format("POST", target, nil, message or args[i])
    end
    math.randomseed(1)
    at = math.random(#requests)
end

function request()
    at = at % #requests + 1
    return requests[at]
end

function done(summary, latency, requests)
    local e = summary.errors
    io.write(string.format(
        'RESULT {"requests":%d,"seconds":%.6f,"p50_us":%d,"p99_us":%d,"max_us":%d,' ..
        '"failed":%d,"refused":%d}\n',
        summary.requests, summary.duration / 1e6, latency:percentile(50),
        latency:percentile(99), latency.max, e.connect + e.read + e.write + e.timeout, e.status))
end
