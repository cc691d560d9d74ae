/* SPDX-License-Identifier: MIT */
/* tidepool doctor: a table of checks, and how their results are shown. */
#include "cli/verbs.h"

#include <sched.h>

#include "base/cleanup.h"
#include "cli/doctor.h"

#define FIX_KERNEL "Use kernel 5.19 or newer; 6.6 or newer is best."
#define FIX_NAMESPACE                                                                              \
    "Use a kernel with CONFIG_NAMESPACES, and do not run in a restricted container."
#define FIX_LIMIT(controller)                                                                      \
    "Make this controller available to sandboxes: " controller ": see 'cgroups' above."
#define FIX_TOOL(pkg) "Install it: apt install " pkg ". Sandboxes see the host's /usr by default."

static const struct doctor_check checks[] = {
    {"kernel", true, doctor_kernel, FIX_KERNEL, NULL, 0},
    {"user namespaces", true, doctor_user_ns,
     "Allow them: sysctl user.max_user_namespaces=65536 kernel.unprivileged_userns_clone=1.", NULL,
     0},
    {"pid namespace", true, doctor_namespace, FIX_NAMESPACE, NULL, CLONE_NEWPID},
    {"mount namespace", true, doctor_namespace, FIX_NAMESPACE, NULL, CLONE_NEWNS},
    {"network namespace", true, doctor_namespace, FIX_NAMESPACE, NULL, CLONE_NEWNET},
    {"ipc namespace", true, doctor_namespace, FIX_NAMESPACE, NULL, CLONE_NEWIPC},
    {"uts namespace", true, doctor_namespace, FIX_NAMESPACE, NULL, CLONE_NEWUTS},
    {"cgroup namespace", true, doctor_namespace, FIX_NAMESPACE, NULL, CLONE_NEWCGROUP},
    {"cgroups", true, doctor_cgroup,
     "Mount cgroup2 at /sys/fs/cgroup with the memory, pids and cpu controllers; cgroup_disable= "
     "on the kernel command line must not name them. Without systemd, start the service in a "
     "cgroup that has them: enable them in cgroup.subtree_control of its parent.",
     NULL, 0},
    {"overlay", true, doctor_overlay,
     "Load it: modprobe overlay, or use a kernel with CONFIG_OVERLAY_FS (6.6 or newer for layers "
     "in memory).",
     NULL, 0},
    {"disk images", true, doctor_images,
     "apt install e2fsprogs; modprobe loop. Without them, disk usage of sandboxes is not limited.",
     NULL, 0},
    {"idmapped mounts", true, doctor_idmap,
     "Run as root on a file system that supports them: ext4, xfs, btrfs, tmpfs.", NULL, 0},
    {"clone3", true, doctor_clone3, FIX_KERNEL, NULL, 0},
    {"pidfd", true, doctor_pidfd, FIX_KERNEL, NULL, 0},
    {"openat2", true, doctor_openat2, FIX_KERNEL, NULL, 0},
    {"seccomp", true, doctor_seccomp, "Use a kernel with CONFIG_SECCOMP_FILTER.", NULL, 0},
    {"bpf sk_lookup", false, doctor_sk_lookup,
     "Run as root on a kernel with CONFIG_BPF_SYSCALL; without it, nftables is used instead.", NULL,
     0},
    {"nftables", false, doctor_nftables,
     "Load it: modprobe nf_tables; it is the fallback for bpf sk_lookup.", NULL, 0},
    {"tun", false, doctor_device, "Load it: modprobe tun; only raw networking requires it.",
     "/dev/net/tun", 0},
    {"open files", true, doctor_files,
     "Raise the hard limit to 65536 or more (systemd: LimitNOFILE=).", NULL, 0},
    {"disk", true, doctor_disk, "Free at least 10 GiB at the state directory, or move it.", NULL,
     0},
    {"inodes", true, doctor_inodes, "Free inodes at the state directory, or move it.", NULL, 0},
    {"memory", true, doctor_memory, "Free at least 1 GiB of memory.", NULL, 0},
    {"sandboxes at once", true, doctor_capacity,
     "Raise the limiting factor named above (ulimit -n, kernel.pid_max, user.max_*_namespaces), "
     "or add memory or disk space.",
     NULL, 0},
    {"inotify instances", false, doctor_inotify,
     "Raise it: sysctl fs.inotify.max_user_instances=8192; file watching fails beyond it.", NULL,
     0},
    {"files of all", false, doctor_all_files,
     "Raise what the machine has, as systemd does: sysctl fs.file-max=9223372036854775807; then "
     "restart the service.",
     NULL, 0},
    {"terminals", false, doctor_terminals,
     "Raise what the machine has: sysctl kernel.pty.max=65536; then restart the service.", NULL, 0},
    {"socket memory", false, doctor_sockets,
     "Raise the three numbers of sysctl net.ipv4.tcp_mem (pages), or lower cells.memory_limit: one "
     "sandbox could hold up the TCP connections of all.",
     NULL, 0},
    {"sandbox", true, doctor_sandbox,
     "Fix what is missing above; otherwise see the log of the service.", NULL, 0},
    {"limit memory", true, doctor_limit, FIX_LIMIT("memory"), "memory", 0},
    {"limit processes", true, doctor_limit, FIX_LIMIT("pids"), "pids", 0},
    {"limit cpu", true, doctor_limit, FIX_LIMIT("cpu"), "cpu", 0},
    {"limit disk", true, doctor_limit,
     "apt install e2fsprogs and enable loop devices: modprobe loop (cells.disk_kind: image).",
     "disk", 0},
    {"git", false, doctor_tool, FIX_TOOL("git"), "git", 0},
    {"bash", false, doctor_tool, FIX_TOOL("bash"), "bash", 0},
    {"python3", false, doctor_tool, FIX_TOOL("python3"), "python3", 0},
    {"pip", false, doctor_tool, FIX_TOOL("python3-pip"), "pip3", 0},
    {"venv", false, doctor_glob, FIX_TOOL("python3-venv"),
     "/usr/lib/python3*/ensurepip/__init__.py", 0},
    {"node", false, doctor_tool, FIX_TOOL("nodejs"), "node", 0},
    {"npm", false, doctor_tool, FIX_TOOL("npm"), "npm", 0},
    {"sudo", false, doctor_tool, FIX_TOOL("sudo"), "sudo", 0},
    {"curl", false, doctor_tool, FIX_TOOL("curl"), "curl", 0},
    {"ca-certificates", false, doctor_glob, FIX_TOOL("ca-certificates"),
     "/etc/ssl/certs/ca-certificates.crt", 0},
    {"cc", false, doctor_tool, FIX_TOOL("gcc libc6-dev"), "cc", 0},
    {"tar", false, doctor_tool, FIX_TOOL("tar"), "tar", 0},
    {"state directory", true, doctor_state,
     "Choose another with --state, or chmod it to 0700 and chown it to the service's user.", NULL,
     0},
    {"port", true, doctor_port, "Choose another with --listen, or stop the other program.", NULL,
     0},
    {"certificate", false, doctor_certificate,
     "Renew it; for development, 'tidepool domain' creates one. A running service reloads it.",
     NULL, 0},
    {"kvm", false, doctor_kvm, "Nothing to do: it is only needed to run virtual machines.", NULL,
     0},
};

static const char *const names[DOCTOR_STATUS_COUNT] = {
    [DOCTOR_OK] = "ok", [DOCTOR_WARN] = "warn", [DOCTOR_MISSING] = "missing"};

static void show_line(struct buf *out, const struct doctor_check *k, const struct doctor_result *r)
{
    (void)buf_printf(out, "%-8s %-18s %s\n", names[r->status], k->name, r->detail);
    if (r->status != DOCTOR_OK)
        (void)buf_printf(out, "%-8s %-18s %s\n", "", "", r->fix ? r->fix : k->fix);
}

static void show_object(struct jw *w, const struct doctor_check *k, const struct doctor_result *r)
{
    jw_object(w);
    jw_key(w, "name");
    jw_cstr(w, k->name);
    jw_key(w, "status");
    jw_cstr(w, names[r->status]);
    jw_key(w, "required");
    jw_bool(w, k->is_required);
    jw_key(w, "detail");
    jw_cstr(w, r->detail);
    jw_key(w, "fix");
    jw_cstr(w, r->status == DOCTOR_OK ? NULL : r->fix ? r->fix : k->fix);
    jw_end(w);
}

static int run_doctor(struct cli_call *call)
{
    bool is_json = cli_is_on(call, "json");
    struct jw w = jw_to(&call->out);
    unsigned count[DOCTOR_STATUS_COUNT] = {0};

    if (is_json) {
        jw_object(&w);
        jw_key(&w, "checks");
        jw_array(&w);
    }
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        struct doctor_result r = {0};
        checks[i].run(&checks[i], &call->config, &r);
        if (r.status == DOCTOR_MISSING && !checks[i].is_required)
            r.status = DOCTOR_WARN;
        count[r.status]++;
        if (is_json)
            show_object(&w, &checks[i], &r);
        else
            show_line(&call->out, &checks[i], &r);
    }
    doctor_sandbox_done();
    if (is_json) {
        jw_end(&w);
        jw_key(&w, "ok");
        jw_bool(&w, count[DOCTOR_MISSING] == 0);
        jw_end(&w);
        (void)buf_add_char(&call->out, '\n');
    } else {
        (void)buf_printf(&call->out, "\n%u ok, %u warnings, %u missing\n", count[DOCTOR_OK],
                         count[DOCTOR_WARN], count[DOCTOR_MISSING]);
    }
    return count[DOCTOR_MISSING] ? CLI_FAILED : CLI_OK;
}

static const struct cli_option options[] = {
    {.name = "json", .help = "Print JSON."},
    {0},
};

static const char *const settings[] = {"listen", "state", "config", NULL};

const struct cli_verb verb_doctor = {
    .name = "doctor",
    .summary = "Check whether this host can run the service",
    .help = "Checks the kernel, namespaces, cgroups, mounts, limits, disk space, tools, the "
            "state directory and the port. Then creates a sandbox, runs commands in it as its "
            "user and as root, and tests that the limits on memory, processes, CPU and disk are "
            "enforced. Each line shows ok, warn or missing, what was found, and how to fix it. "
            "Exits with 1 if something required is missing.\n"
            "\n"
            "The sandboxes are created by the service running on the state directory, or else by "
            "a temporary one; the host itself is not changed. Without root, sandboxes cannot be "
            "created and some features cannot be tested; the affected lines say so.",
    .options = options,
    .settings = settings,
    .run = run_doctor,
};
