/* SPDX-License-Identifier: MIT */
#include "net/netns_dial.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../check.h"
#include "base/cleanup.h"
#include "net/http_client.h"
#include "net/listen.h"

static ino_t where_am_i(void)
{
    struct stat st;

    assert_int_equal(stat("/proc/thread-self/ns/net", &st), 0);
    return st.st_ino;
}

static void names_are_found_in_the_namespace_of_a_socket(void **state)
{
    static const char name[] = "unix:@tidepool-test-beside";
    auto_close int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    ino_t here = where_am_i();

    (void)state;
    assert_int_equal(unshare(CLONE_NEWNET), 0);
    auto_close int listener = http_listen(name, false, NULL);
    auto_close int there = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(setns(home, CLONE_NEWNET), 0);
    assert_true(listener >= 0 && there >= 0);

    struct err e = ERR_INIT;
    assert_int_equal(http_dial(name, false, &e), -ECONNREFUSED);
    auto_close int fd = netns_dial(there, name, &e);
    assert_true(fd >= 0);
    assert_int_equal(where_am_i(), here);
    auto_close int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(accepted >= 0);

    assert_int_equal(netns_dial(there, "unix:@tidepool-test-besides", &e), -ECONNREFUSED);
    assert_int_equal(where_am_i(), here);
    assert_true(netns_dial(home, name, &e) < 0); /* no socket */
    assert_int_equal(where_am_i(), here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_in_the_namespace_of_a_socket),
    };

    if (geteuid() != 0) {
        (void)printf("1..0 # SKIP entering namespaces needs root\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
