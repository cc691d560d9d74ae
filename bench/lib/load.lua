-- SPDX-License-Identifier: MIT
-- For wrk: METHOD, content type, body and headers come from the command line behind "--"; the
-- result goes to standard output as one line of JSON behind "RESULT ".
--     wrk … -s load.lua URL -- METHOD BODY "Name: value" …

function init(args)
    wrk.method = args[1] or "GET"
    if args[2] and args[2] ~= "" then
        wrk.body = args[2]
        wrk.headers["Content-Type"] = "application/json"
    end
    for i = 3, #args do
        local name, value = args[i]:match("^([^:]+):%s*(.*)$")
        wrk.headers[name] = value
    end
end

function done(summary, latency, requests)
    local e = summary.errors
    io.write(string.format(
        'RESULT {"requests":%d,"seconds":%.6f,"p50_us":%d,"p99_us":%d,"max_us":%d,' ..
        '"failed":%d,"refused":%d}\n',
        summary.requests, summary.duration / 1e6, latency:percentile(50),
        latency:percentile(99), latency.max, e.connect + e.read + e.write + e.timeout, e.status))
end
