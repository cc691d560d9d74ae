/* SPDX-License-Identifier: MIT */
/* Numbers of PostgreSQL's own types, which never change: those of pg_type.dat. */
#pragma once

enum pg_type {
    PG_BOOL = 16,
    PG_INT8 = 20,
    PG_INT2 = 21,
    PG_INT4 = 23,
    PG_OID = 26,
    PG_JSON = 114,
    PG_FLOAT4 = 700,
    PG_FLOAT8 = 701,
    PG_INT4S = 1007,
    PG_TEXTS = 1009,
    PG_VARCHARS = 1015,
    PG_INT8S = 1016,
    PG_DATE = 1082,
    PG_TIME = 1083,
    PG_TIMESTAMP = 1114,
    PG_TIMESTAMPTZ = 1184,
    PG_NUMERIC = 1700,
    PG_UUID = 2950,
    PG_JSONB = 3802,
};
