# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""One run: the daemon, the guests, their consoles and output, until all have ended."""

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time

import decode
import qemu
import reports
import stuck
from control import Control

SKIP, EX_REPORT, EX_TIMEOUT, EX_LAB = 4, 120, 124, 125


def worst(statuses):
    """A skip is worse than success and better than every failure."""
    failures = [status for status in statuses if status not in (0, SKIP)]
    if failures:
        return max(failures)
    return SKIP if SKIP in statuses else 0


NAME = os.environ.get("LAB_NAME", "lab")        # of the program that a user has called


def say(text):
    print(f"{NAME}: {text}", file=sys.stderr, flush=True)


class Lines:
    """Splits what arrives on a descriptor into lines."""

    def __init__(self, each):
        self.each = each
        self.rest = b""

    def feed(self, data):
        *whole, self.rest = (self.rest + data).split(b"\n")
        for line in whole:
            self.each(line.decode(errors="replace").rstrip("\r"))

    def end(self):
        if self.rest:
            self.each(self.rest.decode(errors="replace"))
            self.rest = b""


class Node:
    def __init__(self, number, core):
        self.number = number
        self.core = core            # the core whose modules it uses now
        self.process = None
        self.monitor = None
        self.sockets = {}
        self.open = set()
        self.ready_after = None
        self.last_line = ""         # last line of its output or, before there is any, of its console
        self.last_words = []        # last lines of its console, once the run is to end
        self.reports = []
        self.report = None          # the file that holds its first report
        self.report_core = None

    @property
    def name(self):
        return f"node{self.number}"


class Session:
    # seconds: a sanitizer looks for leaks at the daemon's end, and the host may be busy
    daemon_patience = 100
    vhcactl_patience = 100

    def __init__(self, options):
        self.options = options
        self.selector = selectors.DefaultSelector()
        self.nodes = {k: Node(k, options.cores[k - 1].split(",")[0])
                      for k in range(1, options.nodes + 1)}
        self.control = Control(options.nodes, self.send, self.vhcactl, self.pause, self.daemon_has,
                               self.plug, self.unplug, lambda: self.terminal.size() if self.terminal else "24 80",
                               self.ready, self.next_core, self.sign_of_life)
        self.started = time.monotonic()
        self.heard = self.started   # the last sign of life of a guest
        self.said = set()           # lines of guests, without the time
        self.daemon = None
        self.daemon_told = False    # whether its end is among the failures
        self.stopping = False
        self.failures = []          # (status, sentence)
        self.terminal = None

    # ---- output of the guests -------------------------------------------------

    def path(self, name):
        return os.path.join(self.options.out, name)

    def on_host(self, words):
        """The path on this host of what guests know as /lab/..."""
        lab = os.path.join(self.options.stage, "lab")
        return [word.replace("/lab/out", self.options.out, 1) if word.startswith("/lab/out/") else
                word.replace("/lab", lab, 1) if word.startswith("/lab/") else word
                for word in words]

    def ready(self, node):
        self.nodes[node].ready_after = round(time.monotonic() - self.started, 2)
        if self.options.pin and self.daemon:
            self.pin_servers(node)

    def next_core(self, node, core):
        self.nodes[node].core = core
        self.said.clear()           # the script says the same there
        self.sign_of_life()

    def sign_of_life(self):
        self.heard = time.monotonic()

    def line_heard(self, node, line):
        """A line is a sign of life unless the node has said it before: who waits in vain may say
        so again and again."""
        line = node.name + " " + reports.without_time(line)
        if line not in self.said:
            self.said.add(line)
            self.sign_of_life()

    def send(self, node, data, name="control"):
        try:
            self.nodes[node].sockets[name].sendall(data)
        except OSError:
            pass                    # the peer has gone, which is noticed elsewhere

    def vhcactl(self, words):
        program = self.options.vhcactl
        if not program or not self.daemon:
            raise OSError("vhcactl: no daemon runs")
        return subprocess.run([program, "--control", "control.sock"] + self.on_host(words),
                              cwd=self.options.run_dir, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=self.vhcactl_patience, check=False)

    def pause(self, ms):
        """The daemon stands still for so long, and so does the lab."""
        if not self.daemon or self.daemon.poll() is not None:
            raise OSError("no daemon runs")
        self.daemon.send_signal(signal.SIGSTOP)
        time.sleep(ms / 1000)
        self.daemon.send_signal(signal.SIGCONT)

    def daemon_has(self):
        """kB of memory of the daemon's own, and how many descriptors."""
        if not self.daemon:
            raise OSError("no daemon runs")
        with open(f"/proc/{self.daemon.pid}/status", encoding="utf-8") as file:
            memory = next(line.split()[1] for line in file if line.startswith("RssAnon:"))
        return f"{memory} {len(os.listdir(f'/proc/{self.daemon.pid}/fd'))}\n"

    def console_line(self, node, line):
        self.line_heard(node, line)
        if node.ready_after is None:
            node.last_line = line
        if self.stopping:
            node.last_words.append(line)
        elif reports.kernel_report(line):
            if not node.reports:
                node.report_core = node.core
                say(f"{node.name}'s kernel has something to report: {reports.without_time(line).strip()}")
            node.reports.append(line)

    def output_line(self, node, line):
        self.line_heard(node, line)
        node.last_line = line
        end = "\r\n" if self.terminal else "\n"
        print(f"n{node.number}| {line}", end=end, flush=True)

    # ---- starting ------------------------------------------------------------

    def watch(self, descriptor, handler):
        self.selector.register(descriptor, selectors.EVENT_READ, handler)

    def processors(self, node):
        """Those of the host that --pin gives to a guest: as many as it has, counted round."""
        cpus = sorted(os.sched_getaffinity(0))
        count = self.options.cpus
        return {cpus[((node - 1) * count + i) % len(cpus)] for i in range(count)}

    def pinned(self, node):
        """A function that a guest's process calls before it executes its program."""
        if not self.options.pin:
            return None
        own = self.processors(node)
        return lambda: os.sched_setaffinity(0, own)

    def pin_servers(self, node):
        """The daemon's threads that serve a guest, which have its adapters' names, stay where the
        guest does: a kick is answered soonest by the processor that it comes from."""
        names = {f"node{node}-{index}" for index in range(self.options.hcas[node - 1])}
        tasks = f"/proc/{self.daemon.pid}/task"
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/comm", encoding="utf-8") as file:
                if file.read().rstrip("\n") in names:
                    os.sched_setaffinity(int(task), self.processors(node))

    def start_daemon(self):
        options = self.options
        command = [options.vhcad]
        for node in self.nodes:
            for index in range(options.hcas[node - 1]):
                command += ["--hca", f"{self.hca_socket(node, index)},name=node{node}-{index},"
                                     f"ports={options.ports}{self.link_of(node, index)}"]
        if options.ethernet:
            command += ["--ethernet", "ether.sock"]
        command += ["--subnet", options.subnet,
                    "--log", self.path("vhcad.log"), "--control", "control.sock",
                    "--irq", options.irq]
        if options.capture:
            command += ["--capture", self.path("capture.pcapng")]
        command += self.on_host(options.device_arg)
        with open(self.path("vhcad.err"), "wb") as errors:
            self.daemon = subprocess.Popen(command, cwd=options.run_dir,
                                           stdin=subprocess.DEVNULL,
                                           stdout=subprocess.PIPE, stderr=errors)
        line = self.daemon.stdout.readline().decode(errors="replace").strip()
        if line != "ready":
            self.daemon.wait(5)
            with open(self.path("vhcad.err"), encoding="utf-8", errors="replace") as file:
                words = file.read().strip().splitlines() or ["it said nothing"]
            raise SystemExit(f"{NAME}: vhcad did not start (status {self.daemon.returncode}): "
                             f"{words[-1]}")
        if options.confined:
            self.look_at_confinement()
        self.watch_exit(self.daemon, self.daemon_ended)

    def link_of(self, node, index):
        """What --hca says of the ports' link layer: an Ethernet port has the address of the
        network adapter that it stands beside."""
        ports = self.options.ports
        links = self.options.links[node - 1].split(",")
        words = ""
        for port in range(ports):
            words += f",link{port + 1}={links[port % len(links)]}"
            if links[port % len(links)] == "eth":
                words += f",mac{port + 1}={qemu.mac(node, index * ports + port)}"
        return words

    def look_at_confinement(self):
        """Has the daemon a filter of system calls and no capability, and is it not root?"""
        with open(f"/proc/{self.daemon.pid}/status", encoding="utf-8") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
        if status["Seccomp"] != "2" or int(status["CapPrm"], 16) or "0" in status["Uid"].split("\t"):
            self.daemon.kill()
            self.daemon.wait()
            raise SystemExit(f"{NAME}: vhcad runs, and has kept its rights")

    def watch_exit(self, process, handler):
        descriptor = os.pidfd_open(process.pid)

        def ended():
            self.selector.unregister(descriptor)
            os.close(descriptor)
            process.wait()
            handler()
        self.watch(descriptor, ended)

    def daemon_ended(self):
        if not self.stopping:
            self.daemon_told = True
            self.failures.append((EX_LAB, f"vhcad ended in mid-run with status "
                                          f"{self.daemon.returncode}: see {self.path('vhcad.log')} "
                                          f"and {self.path('vhcad.err')}"))

    def start_nodes(self):
        options = self.options
        links = {k: {} for k in self.nodes}
        pairs = []
        for peer in range(2, options.nodes + 1):
            ends = socket.socketpair()
            pairs.append(ends)
            links[1][peer], links[peer][1] = ends[0].fileno(), ends[1].fileno()
        for node in self.nodes.values():
            self.start_node(node, links[node.number])
        for ends in pairs:
            for end in ends:
                end.close()

    def hca_socket(self, node, index):
        return f"n{node}h{index}.sock"

    def plug(self, node, index, done):
        self.nodes[node].monitor.plug(index, self.hca_socket(node, index), done)

    def unplug(self, node, index, done):
        self.nodes[node].monitor.unplug(index, done)

    def start_node(self, node, links):
        options = self.options
        names = ["console", "out", "control", "monitor"] + (["shell"] if options.mode == "shell" else [])
        theirs = {}
        for name in names:
            node.sockets[name], theirs[name] = socket.socketpair()
        sockets = [self.hca_socket(node.number, index)
                   for index in range(options.hcas[node.number - 1])] if self.daemon else []
        descriptors = {name: end.fileno() for name, end in theirs.items()}
        command = qemu.guest(options, node.number, descriptors, links, sockets)
        with open(self.path(f"qemu.n{node.number}.log"), "wb") as log:
            log.write((" ".join(command) + "\n").encode())
            log.flush()
            node.process = subprocess.Popen(
                command, cwd=options.run_dir, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=list(descriptors.values()) + list(links.values()),
                start_new_session=True,
                preexec_fn=self.pinned(node.number))
        for end in theirs.values():
            end.close()

        console = open(self.path(f"console.n{node.number}"), "wb", buffering=0)
        lines = Lines(lambda line: self.console_line(node, line))

        def tee(data):
            console.write(data)
            lines.feed(data)
        self.attach(node, "console", tee, lines.end)
        output = Lines(lambda line: self.output_line(node, line))
        self.attach(node, "out", output.feed, output.end)
        node.monitor = qemu.Monitor(lambda data: self.send(node.number, data, "monitor"))
        self.attach(node, "monitor", Lines(node.monitor.line).feed, lambda: None)
        requests = Lines(lambda line: self.guest_request(node, line))
        self.attach(node, "control", requests.feed, requests.end)
        if options.mode == "shell":
            self.attach(node, "shell", lambda data: self.terminal.show(node.number, data),
                        lambda: None)
        self.watch_exit(node.process, lambda: self.node_ended(node))

    def attach(self, node, name, feed, end):
        sock = node.sockets[name]
        node.open.add(name)

        def readable():
            try:
                data = sock.recv(65536)
            except ConnectionError:
                data = b""
            if data:
                feed(data)
                return
            self.selector.unregister(sock)
            node.open.discard(name)
            end()
        self.watch(sock, readable)

    def guest_request(self, node, line):
        self.control.request(node.number, line)
        if node.number in self.control.kill:
            node.process.kill()

    def node_ended(self, node):
        self.control.left(node.number)
        if node.process.returncode and node.number in self.control.status and not self.stopping and \
                node.number not in self.control.kill:
            self.failures.append((EX_LAB, f"QEMU of {node.name} ended with status "
                                          f"{node.process.returncode} when its script was over: see "
                                          f"{self.path(f'qemu.n{node.number}.log')}"))
        if node.number not in self.control.status and not self.stopping:
            self.failures.append((EX_LAB, f"{node.name} ended before its script did (QEMU status "
                                          f"{node.process.returncode}): see "
                                          f"{self.path(f'console.n{node.number}')} and "
                                          f"{self.path(f'qemu.n{node.number}.log')}"))

    # ---- running -------------------------------------------------------------

    def alive(self):
        return [n for n in self.nodes.values()
                if n.process and (n.process.returncode is None or n.open)]

    def interrupted(self, number, _frame):
        self.stopping = True
        raise SystemExit(128 + number)

    def serve(self, deadline):
        """Runs until no node is left (true), or until the deadline (false)."""
        while self.alive():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in self.selector.select(left):
                key.data()
        return True

    def loop(self):
        """Until no node is left, or until they have been silent for too long. How long a run takes
        depends on how busy the host is."""
        while True:
            heard = self.heard
            if self.serve(heard + self.options.timeout):
                return
            if heard == self.heard:
                break
        names = " ".join(n.name for n in self.alive())
        self.failures.append((EX_TIMEOUT, f"{names} still ran, and nothing new was heard for "
                                          f"{self.options.timeout} s"))
        self.stopping = True
        stuck.tell(self, say)

    def stop(self):
        self.stopping = True
        for node in self.nodes.values():
            if node.process and node.process.poll() is None:
                node.process.kill()
                node.process.wait()
        if self.daemon:
            self.stop_daemon()

    def stop_daemon(self):
        """Asks the daemon to end. Any other status than 0 fails the run, also if it ended too late
        for daemon_ended() to notice."""
        if self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGTERM)
            try:
                self.daemon.wait(self.daemon_patience)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()
                self.daemon_told = True
                self.failures.append((EX_LAB, f"vhcad did not end within {self.daemon_patience} s "
                                              f"of SIGTERM: see {self.path('vhcad.log')}"))
        if self.daemon.returncode and not self.daemon_told:
            self.failures.append((EX_LAB, f"vhcad ended with status {self.daemon.returncode}: "
                                          f"see {self.path('vhcad.err')}"))

    def write_lines(self, name, lines):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
        return self.path(name)

    def decode(self):
        """Writes reports and leaks, with their source lines, to files of their own."""
        options = self.options
        for node in self.nodes.values():
            k = node.number
            decoder = decode.Decoder(os.path.join(options.trees, node.report_core or node.core, "src"),
                                     os.path.join(options.cache, "linux-source/data/scripts/faddr2line"))
            if node.reports:
                with open(self.path(f"console.n{k}"), encoding="utf-8", errors="replace") as file:
                    node.report = self.write_lines(f"report.n{k}",
                                                   decode.console_report(file, decoder))
            try:
                with open(self.path(f"kmemleak.n{k}"), encoding="utf-8") as file:
                    found = file.read()
                with open(self.path(f"modules.n{k}"), encoding="utf-8") as file:
                    modules = file.read()
            except FileNotFoundError:
                continue
            self.write_lines(f"kmemleak.n{k}", decode.leaks(found, modules, decoder))

    def collect(self):
        """Look for reports once everything has ended."""
        self.decode()
        for node in self.nodes.values():
            if node.reports:
                self.failures.append((EX_REPORT, f"kernel report on {node.name}: "
                                                 f"{node.reports[0].strip()}: see {node.report} "
                                                 f"and {self.path(f'console.n{node.number}')}"))
        for name in ("vhcad.err", "vhcad.log"):
            try:
                with open(self.path(name), encoding="utf-8", errors="replace") as file:
                    found = [line for line in file if reports.sanitizer_report(line)]
            except FileNotFoundError:
                continue
            if found:
                self.failures.append((EX_REPORT, f"sanitizer report of vhcad: {found[0].strip()}: "
                                                 f"see {self.path(name)}"))

    def statistics(self, status):
        with open(self.path("run.json"), "w", encoding="utf-8") as file:
            json.dump({"status": status, "accel": self.options.accel,
                       "seconds": round(time.monotonic() - self.started, 2),
                       "nodes": {n.name: {"ready_after": n.ready_after,
                                          "status": self.control.status.get(n.number)}
                                 for n in self.nodes.values()},
                       "reports": {n.name: n.reports for n in self.nodes.values() if n.reports},
                       "failures": [text for _, text in self.failures]}, file, indent=1)
            file.write("\n")

    def run(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.interrupted)
        try:
            if self.options.vhcad and any(self.options.hcas):
                self.start_daemon()
            self.start_nodes()
            if self.terminal:
                self.terminal.start(self)
            self.loop()
        finally:
            if self.terminal:
                self.terminal.stop()
            self.stop()
        self.collect()
        for _, text in self.failures:
            say(text)
        status = worst(list(self.control.status.values()) + [s for s, _ in self.failures])
        self.statistics(status)
        return status
