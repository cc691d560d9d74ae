-- SPDX-License-Identifier: MIT
-- For wrk: the messages of the command line behind "--" to an MCP URL, or the lines of a file
-- ("@PATH"), one after the other and again; a target may come before a message ("/path?query {…}"), else it is the URL's own. The
-- result goes to standard output as one line of JSON behind "RESULT ".

local requests, at = {}, 0

local function add(line)
    local target, message = line:match("^(/%S*) (.*)$")
    requests[#requests + 1] = wrk.format("POST", target, nil, message or line)
end

function init(args)
    wrk.headers["Content-Type"] = "application/json"
    wrk.headers["Accept"] = "application/json, text/event-stream"
    for i = 1, #args do
        if args[i]:sub(1, 1) == "@" then
            for line in io.lines(args[i]:sub(2)) do
                add(line)
            end
        else
            add(args[i])
        end
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
