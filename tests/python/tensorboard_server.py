"""The real TensorBoard with its profile plugin, started for a test and read through its HTTP API."""
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VENV = pathlib.Path(os.environ.get("EF_TENSORBOARD") or ROOT / "build" / "tensorboard-venv")


def missing():
    """Why TensorBoard cannot be started; None: it can."""
    done = subprocess.run([str(ROOT / "scripts" / "tensorboard_venv")], capture_output=True, text=True)
    if done.returncode == 75:
        return done.stderr.strip() or "PyPI cannot be reached"
    assert done.returncode == 0, done.stdout + done.stderr
    return None


class Server:
    """TensorBoard over a folder, on a port of its choice."""

    def __init__(self, folder, log):
        self._log = log
        with open(log, "w") as out:
            self._process = subprocess.Popen(
                [str(VENV / "bin" / "python"), "-m", "tensorboard.main", "--logdir", str(folder), "--port", "0", "--host", "127.0.0.1",
                 "--load_fast", "false", "--reload_interval", "1"], stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        self.port = self._wait_for_port()

    def _wait_for_port(self):
        end = time.monotonic() + 90
        while time.monotonic() < end:
            found = re.search(r"http://127\.0\.0\.1:(\d+)", pathlib.Path(self._log).read_text())
            if found:
                return int(found[1])
            assert self._process.poll() is None, pathlib.Path(self._log).read_text()
            time.sleep(0.05)
        raise AssertionError("TensorBoard did not start: " + pathlib.Path(self._log).read_text())

    def raw(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/data/{path}" + ("?" + urllib.parse.urlencode(query) if query else "")
        with urllib.request.urlopen(url, timeout=60) as answer:
            data = answer.read()
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data

    def get(self, path, **query):
        return json.loads(self.raw(path, **query))

    def wait_for(self, path, ready, **query):
        """Asks until the answer is ready: TensorBoard reads its files in the background."""
        end, answer = time.monotonic() + 60, None
        while time.monotonic() < end:
            try:
                answer = self.get(path, **query)
            except (urllib.error.HTTPError, ValueError):
                answer = None
            if answer is not None and ready(answer):
                return answer
            time.sleep(0.1)
        raise AssertionError(f"{path}: {answer}\n" + pathlib.Path(self._log).read_text())

    def close(self):
        os.killpg(self._process.pid, signal.SIGKILL)  # with the readers it started
        self._process.wait()
