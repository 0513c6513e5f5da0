"""A world: nginx, the habits, the name server and the certificates, in the network namespace of this process."""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import sys
import time

from . import plan, serve
from .errors import BenchmarkError
from .photos import make_photos

CERTIFICATES = pathlib.Path("/etc/ssl/certs")
LOG = "$msec $request_time $host $status $connection $server_protocol $body_bytes_sent $request_uri"


def run(*command):
    """Runs a command. Failures contain its output."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise BenchmarkError(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout + done.stderr


def isolate(folder):
    """Prepares the namespaces of this process: see ``namespace``. Everything in the folder is in memory."""
    run("ip", "link", "set", "lo", "up")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "benchmark", folder)
    files = {
        "/etc/resolv.conf": f"nameserver {serve.NAME_SERVER}\n",
        # Without this file, getaddrinfo could ask a resolver outside the namespace over a Unix socket.
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n",
    }
    for path, text in files.items():
        if os.path.exists(path):
            stand_in = folder / os.path.basename(path)
            stand_in.write_text(text)
            run("mount", "--bind", stand_in, path)
    if os.path.isdir("/run/nscd"):
        run("mount", "-t", "tmpfs", "benchmark", "/run/nscd")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limit = 65536 if hard == resource.RLIM_INFINITY else min(65536, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def make_certificates(folder):
    """Makes an authority that every program in the namespace trusts, and the certificates of the hosts."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
    run(
        "openssl", "req", "-x509", *key, "-subj", "/CN=Benchmark authority",
        # Since Python 3.13, an authority must name its key usage.
        "-addext", "keyUsage=critical,keyCertSign,cRLSign",
        "-keyout", folder / "authority.key", "-out", folder / "authority.pem",
    )
    run(
        "openssl", "req", "-x509", *key, "-subj", "/CN=Unknown issuer",
        "-addext", "subjectAltName=" + ",".join(f"DNS:*.{zone}" for zone in plan.ZONES),
        "-keyout", folder / "unknown.key", "-out", folder / "unknown.pem",
    )
    for name, hosts in (("good", [f"*.{zone}" for zone in plan.ZONES]), ("other", ["www.elsewhere.test"])):
        run(
            "openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
            "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.csr",
        )
        (folder / f"{name}.ext").write_text(
            "subjectAltName=" + ",".join(f"DNS:{host}" for host in hosts) + "\n"
            "basicConstraints=CA:FALSE\nkeyUsage=digitalSignature\nextendedKeyUsage=serverAuth\n"
            "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
        )
        run(
            "openssl", "x509", "-req", "-days", "30", "-in", folder / f"{name}.csr", "-extfile", folder / f"{name}.ext",
            "-CA", folder / "authority.pem", "-CAkey", folder / "authority.key", "-CAcreateserial",
            "-out", folder / f"{name}.pem",
        )
    _trust(folder / "authority.pem", folder / "certs")


def _trust(authority, folder):
    """Adds an authority to those that the programs of this namespace trust.

    Some programs read the file with all certificates, others only the files of the authorities that they need, by the hashes
    in their names. Both are changed. A variable such as SSL_CERT_FILE would make some programs slower than usual.
    """
    if not CERTIFICATES.is_dir():
        raise BenchmarkError(f"{CERTIFICATES} is missing; to install: deploy/dependencies benchmark")
    shutil.copytree(CERTIFICATES, folder, symlinks=True)
    with (folder / "ca-certificates.crt").open("ab") as bundle:
        bundle.write(authority.read_bytes())
    name = run("openssl", "x509", "-noout", "-hash", "-in", authority).strip()
    shutil.copy(authority, folder / f"{name}.0")
    run("mount", "--bind", folder, CERTIFICATES)


def nginx_configuration(folder, shared, common, limit):
    """The text of nginx.conf.

    - Parameter shared: the addresses with HTTP/2.
    - Parameter common: the folder of the photos and certificates.
    """
    version = tuple(map(int, re.search(r"nginx/(\d+)\.(\d+)\.(\d+)", run("nginx", "-v")).groups()))
    on_listen, on_server = (" http2", "") if version < (1, 25, 1) else ("", "http2 on;")
    pages = f"""
      location / {{
        proxy_pass http://habits;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header World-Host $host;
        proxy_set_header World-Scheme $scheme;
        proxy_pass_request_headers off;
        proxy_buffering off;
        proxy_redirect off;
        proxy_next_upstream off;
        proxy_read_timeout 1h;
      }}
      location /photos/ {{ internal; root {common}; }}"""

    def server(listen, certificate=None, more=""):
        keys = f"ssl_certificate {common}/{certificate}.pem; ssl_certificate_key {common}/{certificate}.key;"
        listens = "".join(f"\n      listen {one};" for one in listen)
        return f"    server {{{listens}\n      {keys if certificate else ''} {more}{pages}\n    }}\n"

    return f"""# One worker process, because the machine also runs the program that is measured.
user root;
worker_processes 1;
worker_rlimit_nofile {limit};
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx-errors.log crit;
events {{ worker_connections {limit // 2 - 100}; }}
http {{
    log_format world '{LOG}';
    access_log {folder}/access.log world buffer=64k flush=1s;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    sendfile on;
    keepalive_timeout 20;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache shared:sessions:20m;
    upstream habits {{ server unix:{folder}/habits.socket; keepalive 256; }}
{server(["0.0.0.0:80 backlog=4096 reuseport"])}
{server(["0.0.0.0:443 ssl backlog=4096 reuseport"], "good")}
{server([f"{address}:443 ssl{on_listen}" for address in shared], "good", on_server)}
{server([f"{plan.OTHER_CERTIFICATE}:443 ssl"], "other")}
{server([f"{plan.UNKNOWN_ISSUER}:443 ssl"], "unknown")}
}}
"""


class World:
    """The servers of a plan. Each world of a plan is new: no host remembers requests to another world.

    The folder afterwards contains access.log, names.json and urls.txt.
    """

    def __init__(self, the_plan, folder, common):
        self.plan = the_plan
        self.folder = folder
        self.common = common
        self.list = folder / "urls.txt"
        self._processes = []

    def __enter__(self):
        self.folder.mkdir()
        (self.folder / "photos").symlink_to(self.common / "photos")
        self.list.write_text("".join(f"{entry.url}\n" for entry in self.plan.entries))
        content = {
            "hosts": [dataclasses.asdict(host) for host in self.plan.hosts],
            "entries": [dataclasses.asdict(entry) for entry in self.plan.entries],
        }
        (self.folder / "plan.json").write_text(json.dumps(content))
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        shared = [f"127.64.0.{1 + number}" for number in range(plan.SHARED_ADDRESSES)]
        configuration = self.folder / "nginx.conf"
        configuration.write_text(nginx_configuration(self.folder, shared, self.common, limit))
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def _start(self):
        environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).resolve().parents[1]))
        habits = subprocess.Popen(
            [sys.executable, "-B", "-m", "webworld.serve", self.folder], env=environment, stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL, text=True, start_new_session=True,
        )
        self._processes.append(habits)
        with habits.stdout as output:
            is_ready = output.readline() == "ready\n"
        if not is_ready:
            raise BenchmarkError("the name server and the habits of the world did not start; see above")
        with (self.folder / "nginx-start.log").open("w") as errors:
            nginx = subprocess.Popen(
                ["nginx", "-p", self.folder, "-c", self.folder / "nginx.conf"], stdin=subprocess.DEVNULL, stderr=errors,
                start_new_session=True,
            )
        self._processes.append(nginx)
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", 80), 1):
                return
            if nginx.poll() is not None:
                break
            time.sleep(0.05)
        raise BenchmarkError("nginx did not start: " + (self.folder / "nginx-start.log").read_text().strip())

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends the servers. nginx writes the last lines of its log."""
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes = []


def make_common(folder, darkroom):
    """Makes the photos and certificates that all worlds share. Returns the names of the photos with their sizes."""
    folder.mkdir()
    scratch = folder / "scratch"
    scratch.mkdir()
    sizes = make_photos(darkroom, folder / "photos", scratch)
    shutil.rmtree(scratch)
    make_certificates(folder)
    return sizes
