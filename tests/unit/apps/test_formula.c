/* SPDX-License-Identifier: MIT */
/* Formulas over a small sheet: what each shows in its cell, limits, and what people type. */
#include "../check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/formula/formula.h"
#include "base/cleanup.h"

/* The sheet "Data":      A        B       C          D
 *                     1  Region   Units   Price      Date
 *                     2  North    10      $2.50      2026-01-15
 *                     3  South    20      $3.00      2026-01-31
 *                     4  North    30      $4.00      2026-02-10
 *                     5  East     (blank) TRUE       12%
 *                     6  =1/0 as an error, "x y  z", 5 as text, -7
 * and "Q1 plan" with 100 in A1, "Ünïcode" in B1. */
static const char *const data[][4] = {
    {"Region", "Units", "Price", "Date"},
    {"North", "10", "$2.50", "2026-01-15"},
    {"South", "20", "$3.00", "2026-01-31"},
    {"North", "30", "$4.00", "2026-02-10"},
    {"East", "", "TRUE", "12%"},
    {"#DIV/0!", "x y  z", "'5", "-7"},
};

static struct arena arena;
static struct formula_env env;

static int sheet_of(void *ctx, struct str name)
{
    (void)ctx;
    return str_iis(name, "Data") ? 0 : str_iis(name, "Q1 plan") ? 1 : -1;
}

static void extent_of(void *ctx, int sheet, struct formula_extent *ret)
{
    (void)ctx;
    *ret = (struct formula_extent){100, 26, sheet == 0 ? 6 : 1, sheet == 0 ? 4 : 2};
}

static void cell_of(void *ctx, struct formula_place at, struct formula_value *ret)
{
    struct formula_entry entry = {.format = ""};

    (void)ctx;
    if (at.sheet == 0 && at.row < ARRAY_LEN(data) && at.col < 4)
        formula_enter(str_of(data[at.row][at.col]), &entry);
    else if (at.sheet == 1 && at.row == 0 && at.col < 2)
        formula_enter(at.col == 0 ? STR("100") : STR("Ünïcode"), &entry);
    *ret = entry.value;
}

static double random_of(void *ctx)
{
    (void)ctx;
    return 0.25;
}

/* The formula as it shows in F2 of Data; arrays as "{a,b;c}". */
static const char *show(const char *text)
{
    static struct buf out = BUF_INIT(1 << 16);
    struct formula_value v;
    struct err e = ERR_INIT;

    arena_reset(&arena);
    env = (struct formula_env){.sheet = sheet_of,
                               .extent = extent_of,
                               .cell = cell_of,
                               .random = random_of,
                               .now = 46037.375, /* 2026-01-15 09:00 */
                               .arena = &arena,
                               .steps = 1000000};
    buf_clear(&out);
    const struct formula *f = formula_compile(&arena, str_of(text), &env, 0, &e);
    if (!f) {
        (void)buf_printf(&out, "error %d", e.code);
        return buf_cstr(&out);
    }
    formula_eval(f, &env, (struct formula_place){0, 1, 5}, &v);
    if (env.is_over)
        return "over";
    if (v.type != FORMULA_ARRAY) {
        formula_show(&out, &v, STR(""));
        return buf_cstr(&out);
    }
    for (uint32_t i = 0; i < v.array->rows * v.array->cols; i++) {
        (void)buf_add_char(&out, i == 0 ? '{' : i % v.array->cols == 0 ? ';' : ',');
        formula_show(&out, &v.array->items[i], STR(""));
    }
    (void)buf_add_char(&out, '}');
    return buf_cstr(&out);
}

struct row {
    const char *formula, *shown;
};

static void check_rows(const struct row *rows, size_t n)
{
    unsigned n_wrong = 0;

    for (size_t i = 0; i < n; i++) {
        const char *got = show(rows[i].formula);
        if (strcmp(got, rows[i].shown) == 0)
            continue;
        print_error("%s: %s, expected %s\n", rows[i].formula, got, rows[i].shown);
        n_wrong++;
    }
    assert_int_equal(n_wrong, 0);
}
#define CHECK(rows) check_rows(rows, ARRAY_LEN(rows))

static void test_operators(void **state)
{
    static const struct row rows[] = {
        {"=1+2*3", "7"},
        {"=(1+2)*3", "9"},
        {"=2^3^2", "64"},
        {"=-2^2", "4"},
        {"=2^-1", "0.5"},
        {"=50%", "0.5"},
        {"=200%%", "0.02"},
        {"=10-4-3", "3"},
        {"=1/3", "0.3333333333"},
        {"=2/3", "0.6666666667"},
        {"=10/4/5", "0.5"},
        {"=\"a\"&\"b\"&1+1", "ab2"},
        {"=1&2=12", "FALSE"},
        {"=\"12\"=1&2", "TRUE"},
        {"=\"abc\"=\"ABC\"", "TRUE"},
        {"=\"a\"<\"B\"", "TRUE"},
        {"=99<\"a\"", "TRUE"},
        {"=\"zz\"<TRUE", "TRUE"},
        {"=1<>2", "TRUE"},
        {"=3>=3", "TRUE"},
        {"=\"5\"+1", "6"},
        {"=TRUE+1", "2"},
        {"=\"x\"+1", "#VALUE!"},
        {"=1/0", "#DIV/0!"},
        {"=1e3", "1000"},
        {"=.5+0.25", "0.75"},
        {"=123456789012", "123456789012"},
        {"=1e20", "1E+20"},
        {"=0.1+0.2", "0.3"},
        {"=\"say \"\"hi\"\"\"", "say \"hi\""},
        {"=#N/A", "#N/A"},
        {"=TRUE", "TRUE"},
        {" = 1 + 1 ", "2"},
        {"=1/3&\"\"", "0.333333333333333"},
        {"=A5=\"\"", "FALSE"},
        {"=B5=\"\"", "TRUE"},
        {"=B5=0", "TRUE"},
        {"=B5=FALSE", "TRUE"},
        {"=-\"3\"", "-3"},
        {"=+A2", "North"},
    };

    (void)state;
    CHECK(rows);
}

static void test_references(void **state)
{
    static const struct row rows[] = {
        {"=B2", "10"},
        {"=$B$2+B$3", "30"},
        {"=B5", ""},
        {"=Z99", ""},
        {"=Data!B4", "30"},
        {"='Q1 plan'!A1", "100"},
        {"='q1 PLAN'!A1*2", "200"},
        {"=Nope!A1", "#REF!"},
        {"=#REF!", "#REF!"},
        {"=SUM(B:B)", "60"},
        {"=SUM(B2:B)", "60"},
        {"=SUM(B3:B)", "50"},
        {"=SUM(2:2)", "$46,049.50"},
        {"=SUM(B2:B4,100)", "160"},
        {"=SUM(B4:B2)", "60"},
        {"=B2:B4", "10"}, /* the one in row 2 */
        {"=A1:D1", "#VALUE!"},
        {"=B2:B4*2", "20"},
        {"=C2", "$2.50"},
        {"=C2*2", "$5.00"},
        {"=C2/C3", "0.8333333333"},
        {"=SUM(C2:C4)", "$9.50"},
        {"=D2", "1/15/2026"},
        {"=D2+1", "1/16/2026"},
        {"=D3-D2", "16"},
        {"=A6", "#DIV/0!"},
        {"=A6+1", "#DIV/0!"},
        {"=nothing", "#NAME?"},
        {"=NOTHING(1)", "#NAME?"},
        {"=SUM()", "#N/A"},
        {"=ABS(1,2)", "#N/A"},
    };

    (void)state;
    CHECK(rows);
}

static void test_malformed(void **state)
{
    static const struct row rows[] = {
        {"=", "error -22"},         {"=1+", "error -22"},        {"=(1", "error -22"},
        {"=1)", "error -22"},       {"=SUM(1", "error -22"},     {"=\"open", "error -22"},
        {"='open!A1", "error -22"}, {"=1 2", "error -22"},       {"={1,2", "error -22"},
        {"=@A1", "error -22"},      {"=#HUH!", "error -22"},     {"=Data!", "error -22"},
        {"=*1", "error -22"},       {"=\xff\xfe!", "error -22"},
    };

    (void)state;
    CHECK(rows);
}

static void test_math(void **state)
{
    static const struct row rows[] = {
        {"=ROUND(2.5)", "3"},
        {"=ROUND(-2.5)", "-3"},
        {"=ROUND(1.005,2)", "1.01"},
        {"=ROUND(1234,-2)", "1200"},
        {"=ROUNDUP(1.01,1)", "1.1"},
        {"=ROUNDUP(1.1,1)", "1.1"},
        {"=ROUNDDOWN(-1.99)", "-1"},
        {"=TRUNC(8.9)", "8"},
        {"=INT(-1.5)", "-2"},
        {"=ABS(D6)", "7"},
        {"=MOD(-3,5)", "2"},
        {"=MOD(3,-5)", "-2"},
        {"=MOD(1,0)", "#DIV/0!"},
        {"=QUOTIENT(-7,2)", "-3"},
        {"=POWER(2,10)", "1024"},
        {"=SQRT(16)", "4"},
        {"=SQRT(-1)", "#NUM!"},
        {"=EXP(0)", "1"},
        {"=LN(EXP(2))", "2"},
        {"=LOG(8,2)", "3"},
        {"=LOG10(1000)", "3"},
        {"=LN(0)", "#NUM!"},
        {"=PI()", "3.141592654"},
        {"=ROUND(SIN(RADIANS(30)),4)", "0.5"},
        {"=ATAN2(1,1)*4=PI()", "TRUE"},
        {"=CEILING(7,5)", "10"},
        {"=FLOOR(7.9)", "7"},
        {"=MROUND(7,5)", "5"},
        {"=EVEN(3)", "4"},
        {"=ODD(2)", "3"},
        {"=ODD(3)", "3"},
        {"=FACT(5)", "120"},
        {"=COMBIN(5,2)", "10"},
        {"=GCD(12,18)", "6"},
        {"=LCM(4,6)", "12"},
        {"=SIGN(-3)", "-1"},
        {"=RAND()", "0.25"},
        {"=RANDBETWEEN(1,8)", "3"},
    };

    (void)state;
    CHECK(rows);
}

static void test_statistics(void **state)
{
    static const struct row rows[] = {
        {"=SUM(1,\"2\",TRUE)", "4"},
        {"=SUM(1,\"x\")", "#VALUE!"},
        {"=SUM(B2:B6)", "60"},
        {"=SUM(A2:A6)", "#DIV/0!"},
        {"=PRODUCT(B2:B4)", "6000"},
        {"=SUMSQ(3,4)", "25"},
        {"=AVERAGE(B2:B5)", "20"},
        {"=AVERAGE(A2:A5)", "#DIV/0!"},
        {"=COUNT(A1:D6)", "11"},
        {"=COUNTA(A1:D6)", "23"},
        {"=COUNTBLANK(A1:D6)", "1"},
        {"=COUNTUNIQUE(A2:A5)", "3"},
        {"=MIN(B2:B4,5)", "5"},
        {"=MAX(B2:B4)", "30"},
        {"=MAX(C2:C4)", "$4.00"},
        {"=MEDIAN(1,2,3,4)", "2.5"},
        {"=MODE(1,2,2,3)", "2"},
        {"=MODE(1,2)", "#N/A"},
        {"=LARGE(B2:B4,1)", "30"},
        {"=SMALL(B2:B4,2)", "20"},
        {"=LARGE(B2:B4,4)", "#NUM!"},
        {"=RANK(20,B2:B4)", "2"},
        {"=RANK(10,B2:B4,TRUE)", "1"},
        {"=RANK(11,B2:B4)", "#N/A"},
        {"=STDEV(B2:B4)", "10"},
        {"=VAR(1,2,3,4)", "1.666666667"},
        {"=VARP(1,2,3,4)", "1.25"},
        {"=STDEV(1)", "#DIV/0!"},
        {"=PERCENTILE(B2:B4,0.25)", "15"},
        {"=QUARTILE(B2:B4,3)", "25"},
        {"=CORREL(B2:B4,B2:B4)", "1"},
        {"=SLOPE({2;4;6},{1;2;3})", "2"},
        {"=INTERCEPT({3;5;7},{1;2;3})", "1"},
        {"=FORECAST(4,{3;5;7},{1;2;3})", "9"},
        {"=SUBTOTAL(9,B2:B4)", "60"},
    };

    (void)state;
    CHECK(rows);
}

static void test_criteria(void **state)
{
    static const struct row rows[] = {
        {"=SUMIF(A2:A5,\"North\",B2:B5)", "40"},
        {"=SUMIF(A:A,\"north\",B:B)", "40"},
        {"=SUMIF(B2:B4,\">10\")", "50"},
        {"=SUMIF(B2:B4,\">=\"&B3)", "50"},
        {"=SUMIF(A2:A5,\"*th\",B2)", "60"},
        {"=SUMIF(A2:A5,\"?ast\",B2:B5)", "0"},
        {"=SUMIFS(B2:B4,A2:A4,\"North\",B2:B4,\">10\")", "30"},
        {"=SUMIFS(B2:B4,A2:A3,\"North\")", "#VALUE!"},
        {"=SUMIFS(B2:B4,A2:A3,\"North\",B2:B4,1)", "#VALUE!"},
        {"=COUNTIF(A2:A6,\"North\")", "2"},
        {"=COUNTIF(A2:A5,\"<>North\")", "2"},
        {"=COUNTIF(B2:B6,\"\")", "1"},
        {"=COUNTIF(B2:B6,\"<>\")", "4"},
        {"=COUNTIF(C2:C6,TRUE)", "1"},
        {"=COUNTIF(C2:C6,5)", "1"},
        {"=COUNTIF(D2:D4,\">2026-01-20\")", "2"},
        {"=COUNTIF(D2:D4,D2)", "1"},
        {"=COUNTIFS(A2:A4,\"North\",B2:B4,\"<20\")", "1"},
        {"=AVERAGEIF(A2:A4,\"North\",B2:B4)", "20"},
        {"=AVERAGEIF(A2:A4,\"West\",B2:B4)", "#DIV/0!"},
        {"=AVERAGEIFS(B2:B4,A2:A4,\"South\")", "20"},
        {"=MAXIFS(B2:B4,A2:A4,\"North\")", "30"},
        {"=MINIFS(B2:B4,A2:A4,\"North\")", "10"},
        {"=COUNTIF({\"a*c\",\"abc\"},\"a~*c\")", "1"},
    };

    (void)state;
    CHECK(rows);
}

static void test_logic(void **state)
{
    static const struct row rows[] = {
        {"=IF(B2>5,\"big\",\"small\")", "big"},
        {"=IF(B2>50,\"big\")", "FALSE"},
        {"=IF(FALSE,1/0,\"ok\")", "ok"},
        {"=IF(\"x\",1,2)", "#VALUE!"},
        {"=IFS(B2>50,\"a\",B2>5,\"b\")", "b"},
        {"=IFS(FALSE,1)", "#N/A"},
        {"=IFERROR(1/0,\"none\")", "none"},
        {"=IFERROR(A6)", ""},
        {"=IFERROR(5,1)", "5"},
        {"=IFNA(NA(),1)", "1"},
        {"=IFNA(1/0,1)", "#DIV/0!"},
        {"=AND(TRUE,1)", "TRUE"},
        {"=AND(B2>5,B3>50)", "FALSE"},
        {"=OR(FALSE,0,\"TRUE\")", "TRUE"},
        {"=XOR(TRUE,TRUE,TRUE)", "TRUE"},
        {"=NOT(0)", "TRUE"},
        {"=AND(A2:A3)", "#VALUE!"},
        {"=SWITCH(A2,\"South\",1,\"North\",2,9)", "2"},
        {"=SWITCH(7,1,1,9)", "9"},
        {"=SWITCH(7,1,1)", "#N/A"},
        {"=CHOOSE(2,\"a\",\"b\")", "b"},
        {"=CHOOSE(3,\"a\",\"b\")", "#NUM!"},
        {"=ISBLANK(B5)", "TRUE"},
        {"=ISBLANK(A5)", "FALSE"},
        {"=ISNUMBER(B2)", "TRUE"},
        {"=ISNUMBER(C6)", "FALSE"},
        {"=ISTEXT(C6)", "TRUE"},
        {"=ISERROR(A6)", "TRUE"},
        {"=ISERR(NA())", "FALSE"},
        {"=ISNA(NA())", "TRUE"},
        {"=ISLOGICAL(C5)", "TRUE"},
        {"=ISDATE(D2)", "TRUE"},
        {"=ISEVEN(B2)", "TRUE"},
        {"=ISODD(B2)", "FALSE"},
        {"=N(TRUE)", "1"},
        {"=TYPE(\"a\")", "2"},
        {"=ERROR.TYPE(1/0)", "2"},
    };

    (void)state;
    CHECK(rows);
}

static void test_lookup(void **state)
{
    static const struct row rows[] = {
        {"=VLOOKUP(\"South\",A2:C5,2,FALSE)", "20"},
        {"=VLOOKUP(\"south\",A2:C5,3,0)", "$3.00"},
        {"=VLOOKUP(\"West\",A2:C5,2,FALSE)", "#N/A"},
        {"=VLOOKUP(25,B2:C4,2)", "$3.00"},
        {"=VLOOKUP(5,B2:C4,2)", "#N/A"},
        {"=VLOOKUP(\"North\",A2:C5,9,FALSE)", "#REF!"},
        {"=VLOOKUP(\"North\",A2:C5,0,FALSE)", "#VALUE!"},
        {"=HLOOKUP(\"Price\",A1:D4,3,FALSE)", "$3.00"},
        {"=LOOKUP(25,B2:B4,A2:A4)", "South"},
        {"=XLOOKUP(\"South\",A2:A4,B2:B4)", "20"},
        {"=XLOOKUP(\"West\",A2:A4,B2:B4,\"none\")", "none"},
        {"=XLOOKUP(25,B2:B4,A2:A4,,-1)", "South"},
        {"=XLOOKUP(25,B2:B4,A2:A4,,1)", "North"},
        {"=XLOOKUP(\"North\",A2:A4,B2:B4,,0,-1)", "30"},
        {"=XLOOKUP(\"South\",A2:A4,B2:C4)", "{20,$3.00}"},
        {"=MATCH(\"South\",A1:A5,0)", "3"},
        {"=MATCH(25,B2:B4)", "2"},
        {"=MATCH(25,B2:B4,0)", "#N/A"},
        {"=MATCH(25,{30,20,10},-1)", "1"},
        {"=XMATCH(30,B2:B4)", "3"},
        {"=INDEX(A1:D6,3,2)", "20"},
        {"=INDEX(B2:B4,2)", "20"},
        {"=INDEX(A1:D1,3)", "Price"},
        {"=INDEX(A1:D6,7,1)", "#REF!"},
        {"=INDEX(B2:B4,MATCH(\"South\",A2:A4,0))", "20"},
        {"=SUM(INDEX(A1:D6,0,2))", "60"},
        {"=INDEX({1,2;3,4},2,1)", "3"},
        {"=ROW()", "2"},
        {"=COLUMN()", "6"},
        {"=ROW(B7)", "7"},
        {"=COLUMN(C1)", "3"},
        {"=ROWS(A1:B9)", "9"},
        {"=COLUMNS(A:C)", "3"},
        {"=ROWS(A:A)", "100"},
        {"=ADDRESS(2,28)", "$AB$2"},
        {"=ADDRESS(2,3,4,TRUE,\"Q1 plan\")", "'Q1 plan'!C2"},
        {"=INDIRECT(\"B\"&3)", "20"},
        {"=INDIRECT(\"'Q1 plan'!A1\")", "100"},
        {"=SUM(INDIRECT(\"B2:B4\"))", "60"},
        {"=INDIRECT(\"nope!A1\")", "#REF!"},
        {"=OFFSET(A1,2,1)", "20"},
        {"=SUM(OFFSET(B2,0,0,3,1))", "60"},
        {"=OFFSET(A1,-1,0)", "#REF!"},
    };

    (void)state;
    CHECK(rows);
}

static void test_texts(void **state)
{
    static const struct row rows[] = {
        {"=CONCATENATE(\"a\",1,TRUE)", "a1TRUE"},
        {"=CONCAT(\"a\",\"b\")", "ab"},
        {"=JOIN(\"-\",A2:A4)", "North-South-North"},
        {"=TEXTJOIN(\", \",TRUE,A2:A4,\"\",\"x\")", "North, South, North, x"},
        {"=TEXTJOIN(\"-\",FALSE,B4:B5,1)", "30--1"},
        {"=JOIN(\",\",B5:B5,\"a\")", ",a"},
        {"=LEFT(\"hello\",2)", "he"},
        {"=LEFT(\"hello\")", "h"},
        {"=RIGHT(\"hello\",3)", "llo"},
        {"=RIGHT(\"hi\",9)", "hi"},
        {"=MID(\"hello\",2,3)", "ell"},
        {"=MID('Q1 plan'!B1,1,3)", "Ünï"},
        {"=LEN('Q1 plan'!B1)", "7"},
        {"=LEFT(\"a\",-1)", "#VALUE!"},
        {"=UPPER(\"aBc\")", "ABC"},
        {"=LOWER(\"ABC\")", "abc"},
        {"=PROPER(\"mAYA cHEN-lee\")", "Maya Chen-Lee"},
        {"=TRIM(\"  a   b \")", "a b"},
        {"=TRIM(B6)", "x y z"},
        {"=FIND(\"l\",\"hello\")", "3"},
        {"=FIND(\"l\",\"hello\",4)", "4"},
        {"=FIND(\"L\",\"hello\")", "#VALUE!"},
        {"=SEARCH(\"L\",\"hello\")", "3"},
        {"=SUBSTITUTE(\"a-b-c\",\"-\",\"+\")", "a+b+c"},
        {"=SUBSTITUTE(\"a-b-c\",\"-\",\"+\",2)", "a-b+c"},
        {"=REPLACE(\"abcdef\",2,3,\"X\")", "aXef"},
        {"=REPT(\"ab\",3)", "ababab"},
        {"=REPT(\"ab\",30000)", "#VALUE!"},
        {"=EXACT(\"a\",\"A\")", "FALSE"},
        {"=REGEXMATCH(\"ATLAS-12\",\"^[A-Z]+-\\d+$\")", "TRUE"},
        {"=REGEXMATCH(\"x\",\"(\")", "#REF!"},
        {"=REGEXEXTRACT(\"ATLAS-12 and 13\",\"\\d+\")", "12"},
        {"=REGEXEXTRACT(\"ATLAS-12\",\"([A-Z]+)-\")", "ATLAS"},
        {"=TEXTJOIN(\"|\",TRUE,REGEXEXTRACT(\"ATLAS-12\",\"([A-Z]+)-(\\d)(\\d)\"))", "ATLAS|1|2"},
        {"=REGEXEXTRACT(\"x\",\"y\")", "#N/A"},
        {"=REGEXEXTRACT(\"x\",\"[\")", "#REF!"},
        {"=REGEXREPLACE(\"a1b22\",\"[0-9]+\",\"#\")", "a#b#"},
        {"=REGEXREPLACE(\"Chen, Maya\",\"(\\w+), (\\w+)\",\"$2 $1\")", "Maya Chen"},
        {"=REGEXREPLACE(\"ab\",\"\",\"-\")", "-a-b-"},
        {"=HYPERLINK(\"https://a.example\",\"A\")", "A"},
        {"=HYPERLINK(\"https://a.example\")", "https://a.example"},
        {"=SPARKLINE({1,2,3})", ""},
        {"=IMPORTRANGE(\"abc\",\"A1\")", "#REF!"},
        {"=LET(x,2,y,x*3,x+y)", "8"},
        {"=LET(x,2)", "#N/A"},
        {"=LET(f,LAMBDA(n,n*n),f(5)+f(2))", "29"},
        {"=LAMBDA(a,b,a-b)(7,3)", "4"},
        {"=LAMBDA(a,a)", "#N/A"},
        {"=LAMBDA(a,a)(1,2)", "#N/A"},
        {"=nobody", "#NAME?"},
        {"=nobody(1)", "#NAME?"},
        {"=SUM(MAP({1,2,3},LAMBDA(v,v*10)))", "60"},
        {"=SUM(MAP({1,2},{10,20},LAMBDA(v,w,v*w)))", "50"},
        {"=MAP({1,2},{1},LAMBDA(v,w,v*w))", "#VALUE!"},
        {"=REDUCE(100,{1,2,3},LAMBDA(acc,v,acc+v))", "106"},
        {"=TEXTJOIN(\",\",TRUE,SCAN(0,{1,2,3},LAMBDA(acc,v,acc+v)))", "1,3,6"},
        {"=TEXTJOIN(\",\",TRUE,BYROW({1,2;3,4},LAMBDA(r,SUM(r))))", "3,7"},
        {"=TEXTJOIN(\",\",TRUE,BYCOL({1,2;3,4},LAMBDA(c,MAX(c))))", "3,4"},
        {"=MAP({1,2},5)", "#N/A"},
        {"=VALUE(\"$1,234.50\")", "1234.5"},
        {"=VALUE(\"x\")", "#VALUE!"},
        {"=TEXT(1234.567,\"#,##0.00\")", "1,234.57"},
        {"=TEXT(0.256,\"0.0%\")", "25.6%"},
        {"=TEXT(2.5,\"0\")", "3"},
        {"=TEXT(-0.5,\"0\")", "-1"},
        {"=TEXT(1.005,\"0.00\")", "1.01"},
        {"=TEXT(2.4999,\"0\")", "2"},
        {"=TEXT(0.1,\"0.############\")", "0.1"},
        {"=TEXT(D2,\"yyyy-mm-dd\")", "2026-01-15"},
        {"=TEXT(D2,\"dddd, mmmm d, yyyy\")", "Thursday, January 15, 2026"},
        {"=TEXT(D2,\"ddd mmm yy\")", "Thu Jan 26"},
        {"=TEXT(0.5,\"hh:mm AM/PM\")", "12:00 PM"},
        {"=TEXT(NOW(),\"h:mm:ss\")", "9:00:00"},
        {"=TEXT(5,\"000\")", "005"},
        {"=TEXT(-5,\"0.0;(0.0)\")", "(5.0)"},
        {"=TEXT(0,\"0;-0;\"\"none\"\"\")", "none"},
        {"=TEXT(1234567,\"$#,##0\")", "$1,234,567"},
        {"=TEXT(12345,\"0.00E+00\")", "1.23E+04"},
        {"=TEXT(\"abc\",\"0\")", "abc"},
        {"=TEXT(-0.001,\"0.0\")", "0.0"},
        {"=FIXED(1234.5,1)", "1,234.5"},
        {"=DOLLAR(5)", "$5.00"},
        {"=CHAR(65)&CODE(\"a\")", "A97"},
        {"=T(5)&T(\"x\")", "x"},
        {"=CLEAN(\"a\"&CHAR(7)&\"b\")", "ab"},
    };

    (void)state;
    CHECK(rows);
}

static void test_dates(void **state)
{
    static const struct row rows[] = {
        {"=DATE(2026,1,15)", "1/15/2026"},
        {"=DATE(2026,14,1)", "2/1/2027"},
        {"=DATE(2026,1,0)", "12/31/2025"},
        {"=DATE(2026,1,15)=D2", "TRUE"},
        {"=DATE(2026,1,15)+0", "1/15/2026"},
        {"=VALUE(DATE(1900,1,1))", "2"},
        {"=VALUE(DATE(2024,2,29))", "45351"},
        {"=TODAY()", "1/15/2026"},
        {"=NOW()", "1/15/2026 9:00:00"},
        {"=TIME(14,30,0)", "2:30:00 PM"},
        {"=YEAR(D2)", "2026"},
        {"=MONTH(D4)", "2"},
        {"=DAY(D3)", "31"},
        {"=HOUR(NOW())", "9"},
        {"=MINUTE(TIME(9,45,30))", "45"},
        {"=SECOND(TIME(9,45,30))", "30"},
        {"=WEEKDAY(D2)", "5"},
        {"=WEEKDAY(D2,2)", "4"},
        {"=WEEKNUM(D2)", "3"},
        {"=ISOWEEKNUM(D2)", "3"},
        {"=EDATE(D3,1)", "2/28/2026"},
        {"=EOMONTH(D2,0)", "1/31/2026"},
        {"=EOMONTH(D2,-1)", "12/31/2025"},
        {"=DAYS(D4,D2)", "26"},
        {"=DATEDIF(D2,D4,\"D\")", "26"},
        {"=DATEDIF(DATE(2020,5,20),D2,\"Y\")", "5"},
        {"=DATEDIF(DATE(2020,5,20),D2,\"YM\")", "7"},
        {"=DATEDIF(DATE(2020,5,20),D2,\"MD\")", "26"},
        {"=DATEDIF(D4,D2,\"D\")", "#NUM!"},
        {"=NETWORKDAYS(D2,D4)", "19"},
        {"=NETWORKDAYS(D2,D4,DATE(2026,1,19))", "18"},
        {"=WORKDAY(D2,10)", "1/29/2026"},
        {"=WORKDAY(D2,-4)", "1/9/2026"},
        {"=DATEVALUE(\"2026-01-15\")", "46037"},
        {"=\"2026-01-15\"+1", "46038"},
        {"=YEARFRAC(DATE(2026,1,1),DATE(2026,7,1))", "0.5"},
        {"=YEAR(-1)", "#NUM!"},
    };

    (void)state;
    CHECK(rows);
}

static void test_arrays(void **state)
{
    static const struct row rows[] = {
        {"={1,2;3,4}", "{1,2;3,4}"},
        {"={A2:A4,B2:B4}", "{North,10;South,20;North,30}"},
        {"={1,2;3}", "#REF!"},
        {"=SUM({1,2;3,4})", "10"},
        {"=SUMPRODUCT(B2:B4,C2:C4)", "205"},
        {"=SUMPRODUCT((A2:A4=\"North\")*B2:B4)", "40"},
        {"=SUMPRODUCT(B2:B4,C2:C3)", "#VALUE!"},
        {"=SUMPRODUCT(LEN(A2:A4))", "15"},
        {"=ARRAYFORMULA(B2:B4*2)", "{20;40;60}"},
        {"=ARRAYFORMULA(IF(B2:B4>15,\"y\",\"n\"))", "{n;y;y}"},
        {"=ARRAYFORMULA(SUM(B2:B4*C2:C4))", "$205.00"},
        {"=SUMPRODUCT(1/COUNTIF(A2:A4,A2:A4))", "2"},
        {"=ARRAYFORMULA(VLOOKUP({\"South\";\"North\"},A2:B4,2,FALSE))", "{20;10}"},
        {"=ARRAYFORMULA(B2:B4+{1,2})", "{11,12;21,22;31,32}"},
        {"=TRANSPOSE(A2:A4)", "{North,South,North}"},
        {"=UNIQUE(A2:A5)", "{North;South;East}"},
        {"=SORT(B2:B4,1,FALSE)", "{30;20;10}"},
        {"=SORT(A2:B4)", "{North,10;North,30;South,20}"},
        {"=SORT(A2:B4,1,TRUE,2,FALSE)", "{North,30;North,10;South,20}"},
        {"=FILTER(B2:B4,A2:A4=\"North\")", "{10;30}"},
        {"=FILTER(A2:B4,B2:B4>10,A2:A4=\"North\")", "{North,30}"},
        {"=FILTER(B2:B4,B2:B4>99)", "#N/A"},
        {"=SUM(FILTER(B2:B4,A2:A4=\"North\"))", "40"},
        {"=SEQUENCE(2,2)", "{1,2;3,4}"},
        {"=SPLIT(\"a,b,,3\",\",\")", "{a,b,3}"},
        {"=FLATTEN(A2:B3)", "{North;10;South;20}"},
        {"=SEQUENCE(1000,1000)", "#VALUE!"},
    };

    (void)state;
    CHECK(rows);
}

static void test_money(void **state)
{
    static const struct row rows[] = {
        {"=PMT(0.06/12,12,1000)", "-$86.07"},      {"=FV(0,12,-100)", "$1,200.00"},
        {"=PV(0.1,1,0,-110)", "$100.00"},          {"=NPV(0.1,110)", "$100.00"},
        {"=ROUND(IRR({-100,60,60}),4)", "13.07%"}, {"=NPER(0,-10,100)", "10"},
    };

    (void)state;
    CHECK(rows);
}

static void test_limits(void **state)
{
    char text[4096];
    size_t n;

    (void)state;
    /* Nesting: 64 levels and one more. */
    for (unsigned depth = FORMULA_MAX_DEPTH - 1; depth <= FORMULA_MAX_DEPTH; depth++) {
        n = 0;
        for (unsigned i = 0; i < depth; i++)
            text[n++] = '(';
        text[n++] = '1';
        for (unsigned i = 0; i < depth; i++)
            text[n++] = ')';
        text[n] = '\0';
        assert_string_equal(show(text), depth < FORMULA_MAX_DEPTH ? "1" : "error -7");
    }
    /* A chain of operators. */
    for (unsigned length = FORMULA_MAX_CHAIN; length <= FORMULA_MAX_CHAIN + 1; length++) {
        n = 0;
        for (unsigned i = 0; i < length; i++) {
            text[n++] = '1';
            text[n++] = '+';
        }
        text[n++] = '1';
        text[n] = '\0';
        assert_string_equal(show(text), length <= FORMULA_MAX_CHAIN ? "257" : "error -7");
    }
    assert_string_equal(show("=SUM(ARRAYFORMULA(SEQUENCE(300,300)*SEQUENCE(300,300)))*0+1"), "1");
    assert_string_equal(show("=SUMPRODUCT(COUNTIF(SEQUENCE(99999),SEQUENCE(99999)))"), "over");
    assert_string_equal(show("=LEN(REPT(\"a\",50000))"), "50000");
    assert_string_equal(show("=REPT(\"a\",50000)&\"a\""), "#VALUE!");
}

static void test_entry(void **state)
{
    static const struct {
        const char *text, *shown, *format;
        enum formula_type type;
    } rows[] = {
        {"12", "12", "", FORMULA_NUMBER},
        {"-1.5e3", "-1500", "", FORMULA_NUMBER},
        {"1,234", "1,234", "#,##0", FORMULA_NUMBER},
        {"1,234.5", "1,234.50", "#,##0.00", FORMULA_NUMBER},
        {"12,34", "12,34", "", FORMULA_TEXT},
        {"$1,200", "$1,200", "$#,##0", FORMULA_NUMBER},
        {"-$5.5", "-$5.50", "$#,##0.00", FORMULA_NUMBER},
        {"45%", "45%", "0%", FORMULA_NUMBER},
        {"4.5%", "4.50%", "0.00%", FORMULA_NUMBER},
        {"2026-01-15", "2026-01-15", "yyyy-mm-dd", FORMULA_NUMBER},
        {"1/15/2026", "1/15/2026", "m/d/yyyy", FORMULA_NUMBER},
        {"1/15/26", "1/15/2026", "m/d/yyyy", FORMULA_NUMBER},
        {"Jan 15, 2026", "Jan 15, 2026", "mmm d, yyyy", FORMULA_NUMBER},
        {"2026-02-30", "2026-02-30", "", FORMULA_TEXT},
        {"9:30 PM", "9:30 PM", "h:mm AM/PM", FORMULA_NUMBER},
        {"21:30", "21:30", "h:mm", FORMULA_NUMBER},
        {"25:00", "25:00", "", FORMULA_TEXT},
        {"2026-01-15 09:00", "2026-01-15 9:00:00", "yyyy-mm-dd h:mm:ss", FORMULA_NUMBER},
        {"true", "TRUE", "", FORMULA_BOOL},
        {"'12", "12", "", FORMULA_TEXT},
        {"hello", "hello", "", FORMULA_TEXT},
        {" 7 ", "7", "", FORMULA_NUMBER},
        {"ATLAS-2", "ATLAS-2", "", FORMULA_TEXT},
        {"1-2-3-4", "1-2-3-4", "", FORMULA_TEXT},
        {"#N/A", "#N/A", "", FORMULA_ERROR},
        {"", "", "", FORMULA_BLANK},
        {".", ".", "", FORMULA_TEXT},
        {"+", "+", "", FORMULA_TEXT},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf b = BUF_INIT(256);
        struct formula_entry entry;
        formula_enter(str_of(rows[i].text), &entry);
        formula_show(&b, &entry.value, str_of(entry.format));
        assert_int_equal(entry.value.type, rows[i].type);
        assert_string_equal(entry.format, rows[i].format);
        (void)buf_add_char(&b, '\0');
        assert_string_equal(b.p, rows[i].shown);
    }
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),  cmocka_unit_test(test_references),
        cmocka_unit_test(test_malformed),  cmocka_unit_test(test_math),
        cmocka_unit_test(test_statistics), cmocka_unit_test(test_criteria),
        cmocka_unit_test(test_logic),      cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_texts),      cmocka_unit_test(test_dates),
        cmocka_unit_test(test_arrays),     cmocka_unit_test(test_money),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_entry),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
