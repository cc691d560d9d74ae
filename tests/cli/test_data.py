# SPDX-License-Identifier: MIT
"""Where the program finds the files that come with it: an installed one in its prefix, a built one
in the checkout around it, and neither ever in the place of the other."""

import contextlib
import os
import shutil
import subprocess

import service
import tap

BUILD = os.path.dirname(service.PROGRAM)
SOURCE = os.environ["TIDEPOOL_SOURCE"]
APP = "calculator"


def run(program, *arguments, **env):
    """Ends by itself: a service that does start is stopped, and the test fails."""
    done = subprocess.run(["timeout", "60", program, *arguments], env=service.clean_env(env),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def put_data(folder):
    """apps and local in FOLDER, small ones."""
    shutil.copytree(os.path.join(SOURCE, "apps", APP), os.path.join(folder, "apps", APP))
    shutil.copytree(os.path.join(SOURCE, "local"), os.path.join(folder, "local"))
    return folder


def put_program(*parts):
    folder = os.path.join(*parts)
    os.makedirs(folder, exist_ok=True)
    return shutil.copy(service.PROGRAM, folder)


def put_checkout(folder):
    """What makes a directory a checkout."""
    put_data(folder)
    os.makedirs(os.path.join(folder, "src", "core"))
    with open(os.path.join(folder, "meson.build"), "w"):
        pass
    return folder


@contextlib.contextmanager
def folder():
    with service.folder() as path:
        yield os.path.realpath(path)


def folder_of_app(program, state, *options, **env):
    code, out, errors = run(program, "app", "show", "--state", state, *options, APP, **env)
    tap.equal((code, errors), (0, ""), "app show")
    return dict(line.split(None, 1) for line in out.split("\n\n")[0].splitlines())["folder"]


def uses(program, data, *options, **env):
    """PROGRAM takes the apps of DATA and starts with what is there."""
    with folder() as tmp:
        tap.equal(folder_of_app(program, tmp, *options, **env), os.path.join(data, "apps", APP))
        start(program, os.path.join(tmp, "state"), *options, **env)


def start(program, state, *options, **env):
    """A start of the service; its log."""
    before, service.PROGRAM = service.PROGRAM, program
    try:
        s = service.Service(state, *options, env=env)
    finally:
        service.PROGRAM = before
    try:
        tap.equal(s.stop(), 0, "exit status")
    finally:
        if s.process.poll() is None:
            s.kill()
    return s.log()


def refused(program, *options, **env):
    """What PROGRAM says when it does not find its files."""
    with folder() as tmp:
        code, _, errors = run(program, "serve", "--state", os.path.join(tmp, "state"), "--listen",
                              "127.0.0.1:0", *options, **env)
    tap.equal(code, 1, "exit status, with " + errors)
    return errors


def test_a_build_folder_uses_its_checkout():
    with folder() as tmp:
        uses(service.PROGRAM, SOURCE)
        checkout = put_checkout(os.path.join(tmp, "moved"))
        uses(put_program(checkout, "build"), checkout)
        uses(put_program(checkout, "build", "asan"), checkout)


def test_a_build_folder_may_be_called_bin():
    with folder() as tmp:
        checkout = put_checkout(os.path.join(tmp, "checkout"))
        program = put_program(checkout, "bin")
        with open(os.path.join(checkout, "bin", "build.ninja"), "w"):
            pass
        uses(program, checkout)


def test_what_meson_installs_is_complete():
    with folder() as tmp:
        done = subprocess.run(["meson", "install", "--no-rebuild", "-C", BUILD, "--destdir", tmp],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        tap.equal(done.returncode, 0, done.stdout)
        prefix = os.path.join(tmp, "usr", "local")
        uses(os.path.join(prefix, "bin", "tidepool"), os.path.join(prefix, "share", "tidepool"))
        for name in ("tidepool-envd", "tidepool-local"):
            p = subprocess.run([os.path.join(prefix, "lib", "tidepool", name), "--version"],
                               stdout=subprocess.PIPE, text=True)
            tap.contains(p.stdout, name + " ")
        for kind in ("apps", "local"):
            tap.equal(sorted(os.listdir(os.path.join(prefix, "share", "tidepool", kind))),
                      sorted(os.listdir(os.path.join(SOURCE, kind))), kind)


def test_a_link_to_the_program_is_followed():
    with folder() as tmp:
        data = put_data(os.path.join(tmp, "opt", "share", "tidepool"))
        program = put_program(tmp, "opt", "bin")
        link = os.path.join(tmp, "elsewhere", "tp")
        os.makedirs(os.path.dirname(link))
        os.symlink(program, link)
        uses(link, data)


def test_an_installed_program_does_not_use_a_checkout():
    with folder() as tmp:
        checkout = put_checkout(os.path.join(tmp, "checkout"))
        errors = refused(put_program(checkout, "build", "root", "usr", "bin"))
        tap.contains(errors, os.path.join(checkout, "build/root/usr/share/tidepool/apps"))
        tap.contains(errors, "--data")


def test_a_built_program_does_not_use_an_installation():
    with folder() as tmp:
        put_data(os.path.join(tmp, "share", "tidepool"))
        errors = refused(put_program(tmp, "build"))
        tap.contains(errors, "'%s'" % os.path.join(tmp, "build"))
        tap.contains(errors, "--data")


def test_data_comes_first():
    with folder() as tmp:
        data = put_data(os.path.join(tmp, "data"))
        lonely = put_program(tmp, "lonely")
        for program in (service.PROGRAM, lonely):
            uses(program, data, "--data", data)
            uses(program, data, TIDEPOOL_DATA=data)
        shutil.rmtree(os.path.join(data, "local"))
        tap.contains(refused(lonely, "--data", data),
                     "data '%s': no directory 'local' in it" % data)
        tap.contains(refused(lonely, "--data", os.path.join(tmp, "nowhere")),
                     "nowhere': no directory 'apps' in it")


def test_the_programs_of_cells_are_not_mixed_either():
    if os.geteuid() != 0:
        raise tap.Skip("sandboxes require root")
    cells = {"TIDEPOOL_CELLS_ENABLED": "true"}
    with folder() as tmp:
        put_data(os.path.join(tmp, "usr", "share", "tidepool"))
        installed = put_program(tmp, "usr", "bin")
        checkout = put_checkout(os.path.join(tmp, "checkout"))
        built = put_program(checkout, "build")
        # What the other kind of program would use.
        for place in (os.path.join(tmp, "usr", "bin"), os.path.join(checkout, "lib", "tidepool")):
            os.makedirs(place, exist_ok=True)
            shutil.copy("/bin/true", os.path.join(place, "tidepool-envd"))
        for program, wanted in ((installed, os.path.join(tmp, "usr", "lib", "tidepool")),
                                (built, os.path.join(checkout, "build"))):
            log = start(program, os.path.join(tmp, "state"), **cells)
            tap.contains(log, "program '%s/tidepool-envd': No such file" % wanted)


tap.main(globals())
