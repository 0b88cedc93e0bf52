#!/usr/bin/env python3
"""What one response costs each server in CPU time where servers tend to have a cliff: a single
connection, hundreds, many files, conditional requests, ranges, what is not there.

Each server runs alone on CPU 0 with one worker, the load (wrk) on CPU 1; rounds are interleaved in
random order; the figure is the median over the rounds of CPU microseconds per response. An answer
with another status than the expected one fails the run.

  bench/cliffs.py [--rounds 5] [--seconds 2] [--servers serval,nginx,lighttpd,h2o] [--only NAME,...]

Needs target/release/serval and (Debian) wrk nginx lighttpd h2o; root for cgroup accounting, else
/proc's ticks are used, and --seconds should be larger.
"""
import argparse, os, random, signal, socket, statistics, subprocess, sys, tempfile, time, urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = 20_000

NGINX = """worker_processes 1; daemon off; pid {dir}/pid; error_log {dir}/err; worker_rlimit_nofile 16384;
events {{ accept_mutex off; worker_connections 8192; }}
http {{ types {{ text/html html; }} access_log off; sendfile on; tcp_nopush on; keepalive_timeout 60;
  keepalive_requests 1000000000; open_file_cache max=20000; open_file_cache_valid 30s;
  server {{ listen 127.0.0.1:{port}; root {root}; }} }}"""
LIGHTTPD = """server.document-root = "{root}"
server.bind = "127.0.0.1"
server.port = {port}
server.max-keep-alive-requests = 1000000000
server.max-fds = 16384
server.max-connections = 8192
mimetype.assign = ( ".html" => "text/html" )
"""
H2O = """num-threads: 1
max-connections: 8192
listen: {{host: 127.0.0.1, port: {port}}}
hosts: {{"default": {{paths: {{"/": {{file.dir: {root}}}}}}}}}
"""

def zipf_script():
    """A list of requests drawn beforehand, so that the load generator only walks along it."""
    rng = random.Random(7)
    weights = [1 / (rank + 1) for rank in range(FILES)]
    picks = rng.choices(range(FILES), weights, k=100_000)
    return "local picks = {" + ",".join(map(str, picks)) + "}\n" + """local at = 0
request = function()
  at = at % #picks + 1
  return wrk.format("GET", "/many/" .. picks[at] % 100 .. "/" .. picks[at] .. ".html")
end
"""

def make_site(root):
    rng = random.Random(1)
    (root / "index.html").write_bytes(b"a" * 102)
    (root / "89k.bin").write_bytes(rng.randbytes(89_000))
    for number in range(FILES):
        folder = root / "many" / str(number % 100)
        folder.mkdir(parents=True, exist_ok=True)
        size = min(int(rng.paretovariate(1.1) * 800), 400_000)
        (folder / f"{number}.html").write_bytes(b"x" * size)
    for path in [root, *root.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)

# name: connections, path, fields, status, script
def workloads():
    return {
        "one":   (1, "/index.html", {}, 200, None),
        "500":   (500, "/index.html", {}, 200, None),
        "zipf":  (64, "/many/0/0.html", {}, 200, zipf_script()),
        "304":   (64, "/index.html", {"If-None-Match": "{etag}"}, 304, None),
        "range": (64, "/89k.bin", {"Range": "bytes=1000-1999"}, 206, None),
        "404":   (64, "/not/here.html", {}, 404, None),
    }

def command(name, port, root, folder):
    conf = folder / name
    text = {"nginx": NGINX, "lighttpd": LIGHTTPD, "h2o": H2O}.get(name)
    if text is not None:
        conf.write_text(text.format(port=port, root=root, dir=folder))
    serval = HERE.parent / "target/release/serval"
    return {
        "serval": [serval, "--quiet", "--workers", "1", "--listen", f"127.0.0.1:{port}", root],
        "nginx": ["nginx", "-c", conf], "lighttpd": ["lighttpd", "-D", "-f", conf], "h2o": ["h2o", "-c", conf],
    }[name]

class Meter:
    """CPU time of a process and its children."""
    def __init__(self):
        self.group = Path(f"/sys/fs/cgroup/cpuacct/cliffs-{os.getpid()}-{random.randrange(1 << 30)}")
        try: self.group.mkdir()
        except OSError: self.group = None
    def enter(self):
        os.setsid()
        os.sched_setaffinity(0, {0})
        if self.group: (self.group / "tasks").write_text(str(os.getpid()))
    def pids(self, leader):
        return [int(p) for p in subprocess.run(["pgrep", "-s", str(leader)], capture_output=True, text=True).stdout.split()]
    def seconds(self, leader):
        if self.group: return int((self.group / "cpuacct.usage").read_text()) / 1e9
        fields = [Path(f"/proc/{p}/stat").read_text().rsplit(") ", 1)[1].split() for p in self.pids(leader)]
        return sum(int(f[11]) + int(f[12]) for f in fields) / os.sysconf("SC_CLK_TCK")
    def stop(self, process):
        for pid in self.pids(process.pid):
            try: os.kill(pid, signal.SIGTERM)
            except ProcessLookupError: pass
        try: process.wait(3)
        except subprocess.TimeoutExpired: process.kill(); process.wait()
        if self.group:
            for _ in range(20):
                try: self.group.rmdir(); break
                except OSError: time.sleep(0.05)

def status_of(url, fields):
    request = urllib.request.Request(url, headers=fields)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer: return answer.status, answer.headers.get("ETag")
    except urllib.error.HTTPError as error: return error.code, None

def measure(name, work, root, seconds):
    conns, path, fields, expected, script = work
    with tempfile.TemporaryDirectory(prefix="cliffs-") as folder:
        os.chmod(folder, 0o755)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0)); port = probe.getsockname()[1]
        meter = Meter()
        server = subprocess.Popen(command(name, port, root, Path(folder)), preexec_fn=meter.enter, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            url, etag = f"http://127.0.0.1:{port}", None
            for _ in range(100):
                try: _, etag = status_of(url + "/index.html", {}); break
                except OSError: time.sleep(0.05)
            fields = {k: v.replace("{etag}", etag or "") for k, v in fields.items()}
            status, _ = status_of(url + path, fields)
            if status != expected: sys.exit(f"{name}: {path} answers {status}, not {expected}")
            argv = ["taskset", "-c", "1", "wrk", "-t1", f"-c{conns}", url + path]
            for field in fields.items(): argv += ["-H", ": ".join(field)]
            if script:
                (Path(folder) / "script.lua").write_text(script); argv += ["-s", str(Path(folder) / "script.lua")]
            def load(duration):
                out = subprocess.run([*argv, f"-d{duration}s"], capture_output=True, text=True).stdout
                return int(out.split(" requests in")[0].split()[-1])
            load(1)
            before = meter.seconds(server.pid)
            done = load(seconds)
            return (meter.seconds(server.pid) - before) * 1e6 / done
        finally:
            meter.stop(server)

def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--seconds", type=int, default=2)
    ap.add_argument("--servers", default="serval,nginx,lighttpd,h2o")
    ap.add_argument("--only", default="")
    args = ap.parse_args()
    names, works = args.servers.split(","), workloads()
    with tempfile.TemporaryDirectory(prefix="cliffs-site-") as site:
        root = Path(site)
        make_site(root)
        print(f"{'us per response':<16}" + "".join(f"{n:>10}" for n in names))
        for work in args.only.split(",") if args.only else works:
            got = {n: [] for n in names}
            for _ in range(args.rounds):
                for n in random.sample(names, len(names)): got[n].append(measure(n, works[work], root, args.seconds))
            print(f"{work:<16}" + "".join(f"{statistics.median(got[n]):>10.2f}" for n in names), flush=True)

if __name__ == "__main__":
    main()
