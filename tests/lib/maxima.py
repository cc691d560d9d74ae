# SPDX-License-Identifier: MIT
"""The metrics of limits (docs/LIMITS.md)."""


def figures(s, name):
    """The metric tidepool_limitNAME by (resource, of)."""
    found, start = {}, "tidepool_limit%s{" % name
    for line in s.get("/metrics").body.decode().splitlines():
        if line.startswith(start):
            labels, value = line[len(start):].split("} ")
            labels = dict(x.split("=") for x in labels.split(","))
            found[labels["resource"].strip('"'), labels["of"].strip('"')] = int(value)
    return found


def most(s, resource, of):
    return figures(s, "")[resource, of]


def used(s, resource, of="service"):
    return figures(s, "_used")[resource, of]


def refused(s, resource, of="account"):
    return figures(s, "_refused_total")[resource, of]
