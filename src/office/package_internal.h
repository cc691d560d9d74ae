/* SPDX-License-Identifier: MIT */
/* Between the files of package.h. */
#pragma once

#include "office/package.h"

/* A document without relationships. */
extern const char rels_empty[];
/* Where the relationships of PART are: "/xl/_rels/workbook.xml.rels". */
struct str rels_name(struct package *p, const struct part *part);
