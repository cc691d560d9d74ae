/* SPDX-License-Identifier: MIT */
/* Arithmetic: the same as Python 3.11 has it, which these rows were taken from. */
#include "../check.h"

#include <errno.h>
#include <string.h>

#include "apps/calc/calc.h"
#include "base/cleanup.h"

static const struct {
    const char *expression, *result, *error;
} rows[] = {
    {"1+1", "2", NULL},
    {"2*3+4", "10", NULL},
    {"2+3*4", "14", NULL},
    {"(2+3)*4", "20", NULL},
    {"7/2", "3.5", NULL},
    {"6/2", "3.0", NULL},
    {"7//2", "3", NULL},
    {"-7//2", "-4", NULL},
    {"7//-2", "-4", NULL},
    {"-7%3", "2", NULL},
    {"7%-3", "-2", NULL},
    {"-7.5//2", "-4.0", NULL},
    {"-7.5%2", "0.5", NULL},
    {"7.5//-2", "-4.0", NULL},
    {"1e3//7", "142.0", NULL},
    {"0.1+0.2", "0.30000000000000004", NULL},
    {"1/3", "0.3333333333333333", NULL},
    {"2/3", "0.6666666666666666", NULL},
    {"10/4", "2.5", NULL},
    {"1e16", "1e+16", NULL},
    {"1e15", "1000000000000000.0", NULL},
    {"123456789.123", "123456789.123", NULL},
    {"1e-5", "1e-05", NULL},
    {"0.0001", "0.0001", NULL},
    {"0.00012345", "0.00012345", NULL},
    {"1e22", "1e+22", NULL},
    {"1e23", "1e+23", NULL},
    {"5e-324", "5e-324", NULL},
    {"1.7976931348623157e308", "1.7976931348623157e+308", NULL},
    {"2**10", "1024", NULL},
    {"2**-2", "0.25", NULL},
    {"2**0.5", "1.4142135623730951", NULL},
    {"-2**2", "-4", NULL},
    {"(-2)**2", "4", NULL},
    {"(-2)**3", "-8", NULL},
    {"2**3**2", "512", NULL},
    {"2**-1", "0.5", NULL},
    {"--1", "1", NULL},
    {"-+-3", "3", NULL},
    {"+5", "5", NULL},
    {"0**0", "1", NULL},
    {"0.0**0", "1.0", NULL},
    {"1_000_000", "1000000", NULL},
    {"0x1F", "31", NULL},
    {"0b101", "5", NULL},
    {"0o17", "15", NULL},
    {"1.", "1.0", NULL},
    {".5", "0.5", NULL},
    {"1e5", "100000.0", NULL},
    {"1E5", "100000.0", NULL},
    {"1_0.5_0e1_0", "105000000000.0", NULL},
    {"100!=99", "True", NULL},
    {"2**64", "18446744073709551616", NULL},
    {"2**100", "1267650600228229401496703205376", NULL},
    {"-2**63", "-9223372036854775808", NULL},
    {"10**30", "1000000000000000000000000000000", NULL},
    {"10**20/3", "3.333333333333333e+19", NULL},
    {"2**1000/2**999", "2.0", NULL},
    {"2**2000/2**1999", "2.0", NULL},
    {"12345678901234567890*98765432109876543210", "1219326311370217952237463801111263526900", NULL},
    {"-12345678901234567890//7", "-1763668414462081128", NULL},
    {"-12345678901234567890%7", "6", NULL},
    {"10**25//-3", "-3333333333333333333333334", NULL},
    {"10**25%-3", "-2", NULL},
    {"factorial(20)", "2432902008176640000", NULL},
    {"factorial(50)", "30414093201713378043612608166064768844377641568960512000000000000", NULL},
    {"factorial(0)", "1", NULL},
    {"comb(5,2)", "10", NULL},
    {"comb(50,25)", "126410606437752", NULL},
    {"comb(2,5)", "0", NULL},
    {"perm(5,2)", "20", NULL},
    {"perm(5)", "120", NULL},
    {"perm(3,5)", "0", NULL},
    {"gcd(12,18)", "6", NULL},
    {"gcd()", "0", NULL},
    {"gcd(-12,18)", "6", NULL},
    {"gcd(0,0)", "0", NULL},
    {"lcm(4,6)", "12", NULL},
    {"lcm()", "1", NULL},
    {"lcm(0,3)", "0", NULL},
    {"lcm(-4,6)", "12", NULL},
    {"isqrt(17)", "4", NULL},
    {"isqrt(10**40)", "100000000000000000000", NULL},
    {"isqrt(0)", "0", NULL},
    {"sqrt(2)", "1.4142135623730951", NULL},
    {"sqrt(16)", "4.0", NULL},
    {"sin(0)", "0.0", NULL},
    {"sin(1)", "0.8414709848078965", NULL},
    {"cos(pi)", "-1.0", NULL},
    {"tan(0.5)", "0.5463024898437905", NULL},
    {"asin(1)", "1.5707963267948966", NULL},
    {"acos(0)", "1.5707963267948966", NULL},
    {"atan(1)", "0.7853981633974483", NULL},
    {"atan2(1,2)", "0.4636476090008061", NULL},
    {"sinh(1)", "1.1752011936438014", NULL},
    {"cosh(1)", "1.5430806348152437", NULL},
    {"tanh(1)", "0.7615941559557649", NULL},
    {"asinh(1)", "0.881373587019543", NULL},
    {"acosh(2)", "1.3169578969248166", NULL},
    {"atanh(0.5)", "0.5493061443340548", NULL},
    {"exp(1)", "2.718281828459045", NULL},
    {"expm1(1e-10)", "1.00000000005e-10", NULL},
    {"log(10)", "2.302585092994046", NULL},
    {"log(8,2)", "3.0", NULL},
    {"log(100,10)", "2.0", NULL},
    {"log2(8)", "3.0", NULL},
    {"log10(1000)", "3.0", NULL},
    {"log1p(1e-10)", "9.999999999500001e-11", NULL},
    {"log(2**5000)", "3465.7359027997263", NULL},
    {"log2(2**3000)", "3000.0", NULL},
    {"log10(10**1000)", "1000.0", NULL},
    {"pow(2,3)", "8.0", NULL},
    {"pow(2,0.5)", "1.4142135623730951", NULL},
    {"fabs(-3)", "3.0", NULL},
    {"fmod(5.5,2)", "1.5", NULL},
    {"fmod(-5.5,2)", "-1.5", NULL},
    {"floor(2.7)", "2", NULL},
    {"floor(-2.7)", "-3", NULL},
    {"ceil(2.1)", "3", NULL},
    {"ceil(-2.1)", "-2", NULL},
    {"trunc(-2.7)", "-2", NULL},
    {"floor(1e20)", "100000000000000000000", NULL},
    {"floor(5)", "5", NULL},
    {"copysign(1,-0.0)", "-1.0", NULL},
    {"degrees(pi)", "180.0", NULL},
    {"radians(180)", "3.141592653589793", NULL},
    {"hypot(3,4)", "5.0", NULL},
    {"hypot()", "0.0", NULL},
    {"hypot(5)", "5.0", NULL},
    {"erf(1)", "0.8427007929497149", NULL},
    {"erfc(1)", "0.15729920705028513", NULL},
    {"frexp(8)", "(0.5, 4)", NULL},
    {"modf(2.5)", "(0.5, 2.0)", NULL},
    {"ldexp(1,5)", "32.0", NULL},
    {"nextafter(1,2)", "1.0000000000000002", NULL},
    {"ulp(1)", "2.220446049250313e-16", NULL},
    {"remainder(5,3)", "-1.0", NULL},
    {"isclose(1,1)", "True", NULL},
    {"isclose(1,1.1)", "False", NULL},
    {"isnan(nan)", "True", NULL},
    {"isinf(inf)", "True", NULL},
    {"isfinite(1)", "True", NULL},
    {"pi", "3.141592653589793", NULL},
    {"e", "2.718281828459045", NULL},
    {"tau", "6.283185307179586", NULL},
    {"inf", "inf", NULL},
    {"-inf", "-inf", NULL},
    {"nan", "nan", NULL},
    {"inf-inf", "nan", NULL},
    {"1e308*10", "inf", NULL},
    {"-1e308*10", "-inf", NULL},
    {"1e400", "inf", NULL},
    {"abs(-5)", "5", NULL},
    {"abs(-5.5)", "5.5", NULL},
    {"abs(3)", "3", NULL},
    {"round(2.5)", "2", NULL},
    {"round(3.5)", "4", NULL},
    {"round(2.675,2)", "2.67", NULL},
    {"round(1234.5678,2)", "1234.57", NULL},
    {"round(-0.5)", "0", NULL},
    {"round(7,1)", "7", NULL},
    {"min(3,1,2)", "1", NULL},
    {"max(3,1.5,2)", "3", NULL},
    {"1<2", "True", NULL},
    {"1<2<1", "False", NULL},
    {"2>=2", "True", NULL},
    {"1==1.0", "True", NULL},
    {"1!=2", "True", NULL},
    {"nan==nan", "False", NULL},
    {"nan!=nan", "True", NULL},
    {"True", "True", NULL},
    {"True+1", "2", NULL},
    {"-True", "-1", NULL},
    {"sin", "<built-in function sin>", NULL},
    {"(1)", "1", NULL},
    {"((1))", "1", NULL},
    {"1 + 2", "3", NULL},
    {"0.0", "0.0", NULL},
    {"-0.0", "-0.0", NULL},
    {"00", "0", NULL},
    {"0", "0", NULL},
    {"1e0", "1.0", NULL},
    {"3.0*2", "6.0", NULL},
    {"4%2.5", "1.5", NULL},
    {"(-8)**(1/3)", "(1.0000000000000002+1.7320508075688772j)", NULL},
    {"(-1)**0.5", "(6.123233995736766e-17+1j)", NULL},
    {"1.0**inf", "1.0", NULL},
    {"1/0", NULL, "division by zero"},
    {"1//0", NULL, "integer division or modulo by zero"},
    {"1%0", NULL, "integer modulo by zero"},
    {"1.0/0", NULL, "float division by zero"},
    {"1.0//0", NULL, "float floor division by zero"},
    {"1.0%0", NULL, "float modulo"},
    {"0**-1", NULL, "0.0 cannot be raised to a negative power"},
    {"0.0**-1", NULL, "0.0 cannot be raised to a negative power"},
    {"10.0**400", NULL, "(34, 'Numerical result out of range')"},
    {"sqrt(-1)", NULL, "math domain error"},
    {"log(0)", NULL, "math domain error"},
    {"log(-1)", NULL, "math domain error"},
    {"log(2,0)", NULL, "math domain error"},
    {"log(2,1)", NULL, "float division by zero"},
    {"factorial(-1)", NULL, "factorial() not defined for negative values"},
    {"factorial(2.5)", NULL, "'float' object cannot be interpreted as an integer"},
    {"gcd(2.5)", NULL, "'float' object cannot be interpreted as an integer"},
    {"isqrt(-1)", NULL, "isqrt() argument must be nonnegative"},
    {"comb(-1,2)", NULL, "n must be a non-negative integer"},
    {"comb(2,-1)", NULL, "k must be a non-negative integer"},
    {"acos(2)", NULL, "math domain error"},
    {"acosh(0.5)", NULL, "math domain error"},
    {"atanh(1)", NULL, "math domain error"},
    {"exp(1000)", NULL, "math range error"},
    {"cosh(1000)", NULL, "math range error"},
    {"pow(0,-1)", NULL, "math domain error"},
    {"pow(10,400)", NULL, "math range error"},
    {"pow(-8,0.5)", NULL, "math domain error"},
    {"fmod(1,0)", NULL, "math domain error"},
    {"remainder(1,0)", NULL, "math domain error"},
    {"gamma(0)", NULL, "math domain error"},
    {"gamma(200)", NULL, "math range error"},
    {"gamma(5)", "24.0", NULL},
    {"lgamma(-1)", NULL, "math domain error"},
    {"floor(inf)", NULL, "cannot convert float infinity to integer"},
    {"floor(nan)", NULL, "cannot convert float NaN to integer"},
    {"ceil(-inf)", NULL, "cannot convert float infinity to integer"},
    {"sin(inf)", NULL, "math domain error"},
    {"ldexp(1,5000)", NULL, "math range error"},
    {"ldexp(1.5,2.5)", NULL, "Expected an int as second argument to ldexp."},
    {"exp(2**5000)", NULL, "int too large to convert to float"},
    {"2**5000*1.0", NULL, "int too large to convert to float"},
    {"2**1024/1", NULL, "integer division result too large for a float"},
    {"sin(1,2)", NULL, "math.sin() takes exactly one argument (2 given)"},
    {"sin()", NULL, "math.sin() takes exactly one argument (0 given)"},
    {"atan2(1)", NULL, "atan2 expected 2 arguments, got 1"},
    {"atan2(1,2,3)", NULL, "atan2 expected 2 arguments, got 3"},
    {"fsum(1)", NULL, "'int' object is not iterable"},
    {"10**5000", NULL,
     "Exceeds the limit (4300 digits) for integer string conversion; use "
     "sys.set_int_max_str_digits() to increase the limit"},
    {"foo", NULL, "name 'foo' is not defined"},
    {"foo(1)", NULL, "name 'foo' is not defined"},
    {"5(2)", NULL, "'int' object is not callable"},
    {"1 +", NULL, "invalid syntax (<unknown>, line 1)"},
    {"(1", NULL, "'(' was never closed (<unknown>, line 1)"},
    {"1)", NULL, "unmatched ')' (<unknown>, line 1)"},
    {"2 3", NULL, "invalid syntax (<unknown>, line 1)"},
    {"*1", NULL, "invalid syntax (<unknown>, line 1)"},
    {"1..2", NULL, "invalid syntax (<unknown>, line 1)"},
    {"007", NULL,
     "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal "
     "integers (<unknown>, line 1)"},
    {"1__0", NULL, "invalid decimal literal (<unknown>, line 1)"},
    {"1e", NULL, "invalid decimal literal (<unknown>, line 1)"},
    {"0b102", NULL, "invalid digit '2' in binary literal (<unknown>, line 1)"},
    {"0xg", NULL, "invalid hexadecimal literal (<unknown>, line 1)"},
    {"1 2", NULL, "invalid syntax (<unknown>, line 1)"},
    {"sin(", NULL, "'(' was never closed (<unknown>, line 1)"},
    {"1+(2", NULL, "'(' was never closed (<unknown>, line 1)"},
    {"/2", NULL, "invalid syntax (<unknown>, line 1)"},
    {"1/0+", NULL, "invalid syntax (<unknown>, line 1)"},
    {"sin(1))", NULL, "unmatched ')' (<unknown>, line 1)"},
    {"[1]", NULL, "invalid syntax (<unknown>, line 1)"},
    {"'a'", NULL, "invalid syntax (<unknown>, line 1)"},
    {"a b", NULL, "invalid syntax (<unknown>, line 1)"},
};

static void expect(const char *expression, const char *result, const char *error)
{
    auto_buf struct buf out = BUF_INIT(1 << 16);
    struct err e = ERR_INIT;
    int r = calc_eval(str_of(expression), &out, &e);
    const char *got = r < 0 ? err_text(&e) : buf_cstr(&out);

    if ((r < 0) != (error != NULL) || strcmp(got, error ? error : result) != 0)
        fail_msg("%s: %s '%s'", expression, r < 0 ? "error" : "result", got);
}

static void test_as_python(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect(rows[i].expression, rows[i].result, rows[i].error);
}

static void test_own_signs(void **state)
{
    (void)state;
    expect("2^10", "1024", NULL);
    expect("6×7÷2", "21.0", NULL);
    expect("2 ^ -1", "0.5", NULL);
    expect("  1 +\n 2 ", "3", NULL);
    expect(" ", NULL, "invalid syntax (<unknown>, line 0)");
}

/* What Python would calculate for a long time is refused. */
static void test_limits(void **state)
{
    char text[CALC_MAX_TEXT + 2];

    (void)state;
    expect("2**(2**20)", NULL, "integer is too large: more than 32768 bits");
    expect("9**9**9**9", NULL, "integer is too large: more than 32768 bits");
    expect("factorial(10**10)", NULL, "integer is too large: more than 32768 bits");
    expect("comb(10**9, 10**8)", NULL, "integer is too large: more than 32768 bits");
    expect("1**(10**30)", "1", NULL);
    expect("(-1)**(10**30+1)", "-1", NULL);
    expect("0**(10**30)", "0", NULL);
    (void)memset(text, '(', sizeof text);
    text[CALC_MAX_DEPTH + 1] = 0;
    expect(text, NULL, "too many nested parentheses (<unknown>, line 1)");
    (void)memset(text, '1', sizeof text);
    text[CALC_MAX_TEXT + 1] = 0;
    expect(text, NULL, "expression is longer than 4096 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_python),
        cmocka_unit_test(test_own_signs),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
