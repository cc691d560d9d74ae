# SPDX-License-Identifier: MIT
"""Images: imported from archives that this test writes, checked, shared, run and removed."""

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import time

import cells
import service
import tap

BUSYBOX = "/bin/busybox"
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)


class Layer:
    """An archive of files; as it is stored, and what it holds."""

    def __init__(self, pack=None):
        self.out = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.out, mode="w", format=tarfile.PAX_FORMAT)
        self.pack = pack

    def add(self, name, text=b"", kind=tarfile.REGTYPE, **fields):
        info = tarfile.TarInfo(name)
        info.type, info.mode, info.mtime = kind, 0o644, 1700000000
        if kind == tarfile.REGTYPE:
            info.size = len(text)
        for key, value in fields.items():
            setattr(info, key, value)
        self.tar.addfile(info, io.BytesIO(text) if kind == tarfile.REGTYPE else None)
        return self

    def folder(self, name, mode=0o755, **fields):
        return self.add(name, kind=tarfile.DIRTYPE, mode=mode, **fields)

    def bytes(self):
        self.tar.close()
        plain = self.out.getvalue()
        self.diff_id = digest(plain)
        return self.pack(plain) if self.pack else plain


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def zstd(data):
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE,
                          check=True).stdout


def busybox(pack=None):
    """What a shell needs, and nothing of ours."""
    layer = Layer(pack)
    with open(BUSYBOX, "rb") as f:
        layer.folder("bin").add("bin/busybox", f.read(), mode=0o755)
    for name in ("sh", "cat", "ls", "stat", "id", "echo", "sleep", "env", "pwd", "test", "wget"):
        layer.add("bin/" + name, kind=tarfile.SYMTYPE, linkname="busybox")
    layer.folder("etc").add("etc/passwd", b"root:x:0:0::/root:/bin/sh\napp:x:5:5::/:/bin/sh\n")
    return layer.folder("root", 0o700)


def oci(path, layers, config=None, spoil=None, **more):
    """Writes an image layout; SPOIL changes the bytes of the last layer."""
    blobs = os.path.join(path, "blobs", "sha256")
    os.makedirs(blobs)

    def blob(data, kept=None):
        name = digest(data)
        with open(os.path.join(blobs, name.split(":")[1]), "wb") as f:
            f.write(data if kept is None else kept)
        return {"digest": name, "size": len(data)}

    stored = []
    for i, layer in enumerate(layers):
        data = layer.bytes()
        kept = spoil(data) if spoil and i == len(layers) - 1 else None
        stored.append(blob(data, kept))
    image = {"architecture": ARCH, "os": "linux", "config": config or {},
             "rootfs": {"type": "layers", "diff_ids": [x.diff_id for x in layers]}, **more}
    manifest = {"schemaVersion": 2, "config": blob(json.dumps(image).encode()), "layers": stored}
    index = {"schemaVersion": 2, "manifests": [blob(json.dumps(manifest).encode())]}
    with open(os.path.join(path, "index.json"), "w") as f:
        json.dump(index, f)
    with open(os.path.join(path, "oci-layout"), "w") as f:
        json.dump({"imageLayoutVersion": "1.0.0"}, f)
    return path


def packed(path):
    """The same as an archive."""
    with tarfile.open(path + ".tar", "w") as tar:
        tar.add(path, arcname=".")
    return path + ".tar"


def docker(path, layers, tag, config=None):
    """What `docker save` wrote before it was a layout, too."""
    with tarfile.open(path, "w") as tar:
        def put(name, data):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        names = []
        for i, layer in enumerate(layers):
            names.append("%d/layer.tar" % i)
            put(names[-1], layer.bytes())
        image = json.dumps({"architecture": ARCH, "os": "linux", "config": config or {},
                            "rootfs": {"diff_ids": [x.diff_id for x in layers]}}).encode()
        name = hashlib.sha256(image).hexdigest() + ".json"
        put(name, image)
        put("manifest.json", json.dumps([{"Config": name, "RepoTags": [tag],
                                          "Layers": names}]).encode())
    return path


def load(s, source, name=None, status="done"):
    """Imports and waits; the last answer."""
    answer = s.post("/api/v1/image", {"source": source, **({"name": name} if name else {})})
    tap.equal(answer.status, 202, repr(answer))
    last = {}

    def is_over():
        last.update(s.get("/api/v1/image-import/" + answer.json["data"]["id"]).json["data"])
        return last["status"] in ("done", "failed")
    s.until(is_over, 60)
    tap.equal(last["status"], status, repr(last))
    return last


def images(s):
    return sorted(x["name"] for x in s.get("/api/v1/image").json["data"])


def run(s, box, command, **fields):
    done = s.run(box["name"], command, **fields)
    return done["output"] + done["errorOutput"]


def stored(s, what):
    path = os.path.join(s.state, what)
    return sorted(x for x in os.listdir(path) if not x.startswith("."))


def beside(s, name):
    return os.path.join(os.path.dirname(s.state), name)


def test_an_image_without_anything_of_ours():
    with cells.running() as s:
        config = {"Env": ["PATH=/bin", "GREETING=hello"], "User": "app:app", "WorkingDir": "/desk",
                  "Cmd": ["sh"], "ExposedPorts": {"8000/tcp": {}}}
        top = Layer(gzip.compress).folder("desk", mode=0o777).add("desk/file", b"text", uid=5)
        path = oci(beside(s, "one"), [busybox(), top], config)
        tap.equal(load(s, path, "Own/Busybox")["name"], "own/busybox:latest")
        box = s.create(image="own/busybox")
        tap.equal((box["image"], box["template"]), ("own/busybox", "custom"))
        tap.equal(run(s, box, "id -un; pwd; cat file; echo $GREETING"), "app\n/desk\ntexthello\n")
        tap.contains(run(s, box, "ls -d /usr", user="root"), "No such file")
        tap.equal(run(s, box, "cat /etc/hostname"), box["name"] + "\n")
        tap.equal(run(s, box, "echo more >>/desk/file; stat -c '%u %a' /desk/file"), "5 644\n")
        other = s.create(image="own/busybox:latest", envVars={"GREETING": "bye"}, workdir="/")
        tap.equal(run(s, other, "cat /desk/file; echo $GREETING; pwd"), "textbye\n/\n")
        shown = s.get("/api/v1/image/own/busybox:latest").json["data"]
        tap.equal(shown["sandboxes"], 2)
        tap.equal((shown["config"]["user"], shown["config"]["ports"]), ("app", [8000]))
        answer = s.post("/api/v1/sandbox", {"image": "no/such:image"})
        tap.equal(answer.status, 400)
        tap.contains(answer.json["message"], "tidepool image import")


def test_what_upper_layers_delete():
    with cells.running() as s:
        base = busybox().folder("d").add("d/old", b"1").add("d/stays", b"2")
        base.folder("hidden").add("hidden/a", b"a").folder("gone").add("gone/x", b"x")
        top = Layer().add("d/.wh.old").add("hidden/.wh..wh..opq").add("hidden/b", b"b")
        top.add(".wh.gone").add("bin/own", b"#!/bin/sh\n", mode=0o4755)
        top.add("bin/same", kind=tarfile.LNKTYPE, linkname="bin/own")
        top.add("null", kind=tarfile.CHRTYPE, devmajor=1, devminor=3)
        last = Layer().folder("gone").add("gone/new", b"n")
        path = packed(oci(beside(s, "two"), [base, top, last], {"Env": ["PATH=/bin"]}))
        load(s, path, "two")
        box = s.create(image="two")
        tap.equal(run(s, box, "ls /d /hidden /gone"),
                  "/d:\nstays\n\n/gone:\nnew\n\n/hidden:\nb\n")
        tap.equal(run(s, box, "stat -c '%a %h' /bin/own; test -e /null || echo none"),
                  "4755 2\nnone\n")


def test_kinds_of_archives():
    with cells.running() as s:
        config = {"Env": ["PATH=/bin"]}
        got = load(s, docker(beside(s, "saved.tar"), [busybox()], "shop/web:1.2", config))
        tap.equal(got["name"], "shop/web:1.2")
        tap.equal(run(s, s.create(image="shop/web:1.2"), "echo ok"), "ok\n")
        if shutil.which("zstd"):
            load(s, oci(beside(s, "z"), [busybox(zstd)], config), "z")
            tap.equal(run(s, s.create(image="z"), "echo ok"), "ok\n")
        # The same layer, however it is packed, is there once.
        load(s, oci(beside(s, "g"), [busybox(gzip.compress)], config), "g")
        tap.equal(len(stored(s, "layers")), 1)
        for path, text in ((beside(s, "none"), "No such file"), ("/etc", "neither"),
                           ("/etc/passwd", "neither")):
            tap.contains(load(s, path, "x", "failed")["error"], text)
        for body in ({}, {"source": "relative"}, {"source": "/x", "name": "a b"},
                     {"source": "/x", "name": "/x"}, {"source": 1}):
            tap.equal(s.post("/api/v1/image", body).status, 400, repr(body))


def test_what_is_corrupted_is_refused():
    with cells.running() as s:
        def flip(data):
            return data[:-600] + bytes([data[-600] ^ 1]) + data[-599:]
        for i, (spoil, pack) in enumerate(((flip, None), (flip, gzip.compress),
                                           (lambda d: d[:-100], gzip.compress),
                                           (lambda d: d[:1000], None))):
            top = Layer(pack).add("f", os.urandom(3000))
            path = oci(beside(s, "bad%d" % i), [busybox(), top], spoil=spoil)
            got = load(s, path, "bad", "failed")
            tap.contains(got["error"], "layer 2 of 2")
        tap.equal(images(s), [])
        path = oci(beside(s, "lie"), [busybox()])
        [manifest] = json.load(open(path + "/index.json"))["manifests"]
        with open(path + "/blobs/sha256/" + manifest["digest"].split(":")[1], "a") as f:
            f.write(" ")
        tap.contains(load(s, path, "lie", "failed")["error"], "corrupted")
        path = oci(beside(s, "arch"), [busybox()], architecture="vax")
        tap.contains(load(s, path, "arch", "failed")["error"], "linux/vax")
        for name, text in (("../../escape", "leads out"), ("a/../../x", "leads out")):
            path = oci(beside(s, "out" + name.replace("/", "_")), [Layer().add(name, b"x")])
            tap.contains(load(s, path, "out", "failed")["error"], text)
        for depth, status in ((128, "done"), (129, "failed")):
            deep = Layer().add("/".join(["d"] * depth), b"x")
            got = load(s, oci(beside(s, "deep%d" % depth), [deep]), "deep", status)
        tap.contains(got["error"], "nested too deeply")
        s.delete("/api/v1/image/deep")
        s.until(lambda: stored(s, "layers") == [])
        assert not os.path.exists(beside(s, "escape"))


def test_images_can_be_too_large():
    with cells.running(env={"TIDEPOOL_CELLS_IMAGE_SIZE": "1MiB"}) as s:
        path = oci(beside(s, "big"), [Layer(gzip.compress).add("zeros", bytes(2 << 20))])
        tap.contains(load(s, path, "big", "failed")["error"], "larger than")
        path = oci(beside(s, "small"), [Layer(gzip.compress).add("zeros", bytes(1 << 20))])
        load(s, path, "small")


def test_the_main_process_of_an_image():
    with cells.running() as s:
        config = {"Env": ["PATH=/bin"], "Entrypoint": ["/bin/sh", "-c"],
                  "Cmd": ["echo $0 started; sleep 1000"]}
        load(s, oci(beside(s, "main"), [busybox()], config), "main")
        for fields, text in (({}, "/bin/sh started"),
                             ({"args": ["echo other; sleep 1000"]}, "other")):
            box = s.create(image="main", **fields)
            s.until(lambda: text in s.get("/api/v1/logs/sandbox/" + box["name"]).body.decode())


def test_collecting_keeps_what_is_used():
    with cells.running() as s:
        config = {"Env": ["PATH=/bin"]}
        load(s, oci(beside(s, "a"), [busybox(), Layer().add("which", b"a")], config), "a")
        load(s, oci(beside(s, "b"), [busybox(), Layer().add("which", b"b")], config), "b")
        load(s, oci(beside(s, "c"), [Layer().add("which", b"c")], config), "c")
        load(s, oci(beside(s, "d"), [Layer().add("which", b"c")], config), "lib/d:7")
        tap.equal(len(stored(s, "layers")), 4, "layers are shared")
        templates = [{"name": "from-d", "image": "lib/d:7", "description": "x"},
                     {"name": "any", "type": "dynamic", "image": "e:<version>", "description": "y",
                      "pattern": "(?P<name>any)-(?P<version>[0-9]+)"}]
        answer = s.post("/api/v1/config/templates", templates)
        tap.equal(answer.status, 200, repr(answer))
        load(s, oci(beside(s, "e"), [Layer().add("which", b"c")], config), "e:8")
        paused, running = s.create(image="a"), s.create(image="b")
        tap.equal(s.post("/api/v1/sandbox/pause/" + paused["name"]).status, 200)
        got = s.post("/api/v1/image-gc").json["data"]
        tap.equal(got["deleted"], ["c:latest"])
        tap.equal(images(s), ["a:latest", "b:latest", "e:8", "lib/d:7"], "templates name two")
        tap.equal(run(s, s.create(template="from-d", image="a"), "cat /which"), "a")
        tap.equal(s.post("/api/v1/config/templates", templates[:1]).status, 200)
        tap.equal(s.post("/api/v1/image-gc").json["data"]["deleted"], ["e:8"])
        s.delete("/api/v1/image/lib/d:7")
        s.until(lambda: len(stored(s, "layers")) == 3)
        for name in ("a", "b"):
            answer = s.delete("/api/v1/image/" + name)
            tap.contains(answer.json["data"], "still have it")
        tap.equal(images(s), [])
        tap.equal(s.post("/api/v1/image-gc").json["data"]["deleted"], [])
        s.kill()
        s.start()
        time.sleep(0.5)
        tap.equal(s.post("/api/v1/sandbox/resume/" + paused["name"]).status, 200)
        tap.equal(run(s, paused, "cat /which; ls /bin/sh"), "a/bin/sh\n")
        tap.equal(run(s, running, "cat /which"), "b")
        s.remove_all()
        s.until(lambda: stored(s, "layers") == [] and stored(s, "roots") == [])


def test_a_snapshot_of_an_image():
    with cells.running() as s:
        load(s, oci(beside(s, "i"), [busybox()], {"Env": ["PATH=/bin"], "User": "app"}), "i")
        box = s.create(image="i")
        run(s, box, "echo kept >/kept", user="root")
        answer = s.post("/e2b/v1/sandboxes/%s/snapshots" % box["id"], {"name": "of-image"})
        tap.equal(answer.status, 201, repr(answer))
        s.remove(box["name"])
        s.delete("/api/v1/image/i")
        made = s.post("/e2b/v1/v2/sandboxes", {"templateID": "of-image"})
        tap.equal(made.status, 201, repr(made))
        tap.equal(run(s, made.json["metadata"], "cat /kept; id -un; ls -d /usr"),
                  "kept\napp\nls: /usr: No such file or directory\n")


def test_images_of_other_tools():
    """What umoci packs, as it is and as skopeo writes it for docker."""
    for tool in ("umoci", "skopeo"):
        if not shutil.which(tool):
            raise tap.Skip("needs " + tool)
    with cells.running() as s:
        layout, bundle = beside(s, "layout"), beside(s, "bundle")

        def do(*words):
            subprocess.run(words, check=True, capture_output=True)
        do("umoci", "init", "--layout", layout)
        do("umoci", "new", "--image", layout + ":1")
        do("umoci", "unpack", "--image", layout + ":1", bundle)
        with tarfile.open(fileobj=io.BytesIO(busybox().bytes())) as tar:
            tar.extractall(bundle + "/rootfs")
        do("umoci", "repack", "--refresh-bundle", "--image", layout + ":1", bundle)
        with open(bundle + "/rootfs/etc/second", "w") as f:
            f.write("layer")
        os.unlink(bundle + "/rootfs/bin/wget")
        do("umoci", "repack", "--refresh-bundle", "--image", layout + ":1", bundle)
        do("umoci", "config", "--image", layout + ":1", "--config.env", "PATH=/bin",
           "--config.user", "app", "--config.workingdir", "/etc", "--config.entrypoint", "/bin/sh",
           "--config.cmd", "-c", "--config.cmd", "echo $PWD is up; sleep 1000")
        archive = beside(s, "docker.tar")
        do("skopeo", "copy", "oci:%s:1" % layout, "docker-archive:%s:shop/tool:2" % archive)
        for source, name in ((layout, "own:1"), (archive, "docker.io/shop/tool:2")):
            tap.equal(load(s, source, name if source == layout else None)["name"], name)
            box = s.create(image=name)
            tap.equal(run(s, box, "id -un; pwd; cat second; ls /bin/wget 2>/dev/null"),
                      "app\n/etc\nlayer")
            s.until(lambda: "/etc is up" in s.get(
                "/api/v1/logs/sandbox/" + box["name"]).body.decode())
        tap.equal(len(stored(s, "layers")), 2, "the layers are the same")


def test_only_the_operator_imports():
    with cells.running() as s:
        key = s.make_key(account="tenant")["key"]
        load(s, oci(beside(s, "t"), [busybox()], {"Env": ["PATH=/bin"]}), "t")
        tap.equal([x["name"] for x in s.get("/api/v1/image", key=key).json["data"]], ["t:latest"])
        for method, path in (("POST", "image"), ("DELETE", "image/t"), ("POST", "image-gc"),
                             ("GET", "image-import")):
            body = {"source": "/x"} if method == "POST" else None
            tap.equal(s.request(method, "/api/v1/" + path, body, key=key).status, 403)
        box = s.create(key=key, image="t")
        tap.equal(s.run(box["name"], "echo ok", key=key)["output"], "ok\n")


def test_the_command_line():
    with cells.running() as s:
        def cli(*words, status=0):
            done = subprocess.run([service.PROGRAM, *words, "--state", s.state],
                                  capture_output=True, text=True, env=service.clean_env())
            tap.equal(done.returncode, status, done.stderr)
            return done.stdout if status == 0 else done.stderr
        path = oci(beside(s, "cli"), [busybox()], {"Env": ["PATH=/bin"]})
        tap.equal(cli("image", "import", path, "--name", "tool:1"), "tool:1\n")
        tap.contains(cli("image", "ls"), "tool:1")
        tap.equal(json.loads(cli("image", "show", "tool:1"))["layers"], 1)
        tap.contains(cli("create", "--image", "tool:1", "--name", "made"), "made")
        tap.equal(s.run("made", "echo hi")["output"], "hi\n")
        tap.contains(cli("image", "import", "/nothing", status=1), "No such file")
        if not shutil.which("skopeo"):
            tap.contains(cli("image", "import", "docker://x", status=1), "apt-get install skopeo")
        tap.equal(cli("image", "gc"), "")
        tap.equal(cli("image", "rm", "tool:1"), "tool:1\n")
        tap.contains(cli("image", "rm", "tool:1", status=1), "not found")


if not os.path.exists(BUSYBOX):
    print("1..0 # SKIP needs busybox-static")
    raise SystemExit(77)
tap.main(globals())
